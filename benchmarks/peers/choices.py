"""What measured choice gains: the measured choice and every exact candidate, each interleaved with the default.

    python benchmarks/peers/choices.py [--seconds 240] [--rounds 9] [--libraries numpy,torch,jax] [--only sort]
                                       [--out FILE]

`python -m xarrayops.tune` first measures calls in a cache of its own. Then each row is timed in this process, in a
block of `xo.measured`, and by each other candidate whose values are those of the default to the last bit. Each of them
is interleaved with the default alone: large arrays and waiting threads of one change the time of the next.

The log gain of a row is that of its best candidate over the default, where it is more than the resolution of the run
(the times of the default, measured twice, at the 90 % quantile over the rows). One half of the rounds picks the best
candidate and the other half times it, and the reverse: the greatest of several noisy times alone would be too good. The
share that is recovered is the sum of the log gains of the measured choices over that of the best ones.

The bars: at least 85 % on sizes that were tuned, 70 % on sizes between them, no row below 0.95 of the default beyond
the resolution, and at most 400 ns for the look-up of a choice. Ends with 3 if one is missed.
"""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
import tempfile
import timeit
import warnings
from collections.abc import Iterator
from contextlib import nullcontext
from typing import Any

import numpy as np
from measuring import MISSED, common_options, machine
from numpy import median, quantile

TUNED, BETWEEN = (128, 256, 512, 1024, 2048), (180, 700, 1500)
VERBS = ["sort", "argmax", "sqrt", "abs", "add", "multiply", "divide", "maximum", "less", "max", "take"]
SHARE, SHARE_BETWEEN, LEAST, LOOKUP_NS = 0.85, 0.70, 0.95, 400.0
READING_S = 3e-3


def rows(libraries: list[str], sides: tuple[int, ...], rounds: int, only: str) -> Iterator[dict[str, Any]]:
    """A row for each call of the list of `tune` with arrays of these sides."""
    import xarrayops as xo
    from xarrayops._ops.choices.calls import shown
    from xarrayops.bench.measure.timing import finished, timed
    from xarrayops.tune.calls import default_calls
    from xarrayops.tune.candidates import Candidates

    def public(found: Candidates) -> Any:
        return getattr(xo, found.verb)(*found.args, **found.kwargs)

    def seconds(name: str, call: Any, number: int) -> float:
        """The seconds of a call, without those in which the block opens and finds its choice."""
        with xo.measured() if name == "measured" else nullcontext():
            call()
            return timed(call, (), number)[0]

    for description in default_calls(libraries, [verb for verb in VERBS if only in verb], sides):
        found = Candidates(description)
        want = list(finished(found.function(*found.args, **found.kwargs)))
        calls: dict[str, Any] = {"default": lambda found=found: public(found)}
        for name, function in found.others.items():
            try:
                got = list(finished(function(*found.args, **found.kwargs)))
            except Exception:  # libraries raise various errors; such a candidate does not serve
                continue
            if found.is_exact(name, want, got):
                calls[name] = lambda function=function, found=found: function(*found.args, **found.kwargs)
        default = calls["default"]
        number = max(1, math.ceil(READING_S / timed(default, ())[0]))
        ratios = {"default": [1.0] * rounds}
        for name, call in (calls | {"default again": default, "measured": default}).items():
            if name != "default":
                both = [(seconds("default", default, number), seconds(name, call, number)) for _ in range(rounds + 1)]
                ratios[name] = [of_default / of_other for of_default, of_other in both[1:]]  # the first finds a choice
        best_gain, best = best_of({name: ratios[name] for name in calls})
        with xo.measured():
            chosen = xo.explain(found.verb, *found.args, **found.kwargs).chosen
        kept = {name: round(float(median(each)), 3) for name, each in ratios.items() if name != "default"}
        yield {
            "case": shown(description),
            "side": description["args"][0]["shape"][0],
            "chosen": chosen,
            "best": best,
            "best over": round(best_gain, 3),
        } | {"default over": kept}


def best_of(ratios: dict[str, list[float]]) -> tuple[float, str]:
    """The gain of the best candidate, picked in one half of the rounds and timed in the other, and its name."""
    logs = []
    for half in (0, 1):
        best = max(ratios, key=lambda name: float(median(ratios[name][half::2])))
        logs.append(math.log(float(median(ratios[best][1 - half :: 2]))))
    return math.exp(float(np.mean(logs))), max(ratios, key=lambda name: float(median(ratios[name])))


def summary(found: list[dict[str, Any]]) -> dict[str, Any]:
    """The shares that are recovered, and the rows that are slower than the default."""
    again = [abs(math.log(row["default over"]["default again"])) for row in found]
    resolution = max(math.log(1.05), float(quantile(again, 0.9)))
    shares: dict[str, Any] = {"resolution": round(math.exp(resolution) - 1, 3)}
    for name, sides in (("tuned sizes", TUNED), ("sizes between", BETWEEN)):
        some = [row for row in found if row["side"] in sides]
        best = [max(0.0, math.log(row["best over"])) for row in some]
        got = [math.log(row["default over"]["measured"]) for row in some]
        pairs = [(a, b) for a, b in zip(best, got, strict=True) if a > resolution]
        shares[name] = {
            "rows": len(some),
            "with a gain": len(pairs),
            "best": round(math.exp(sum(best) / max(1, len(some))), 3),
            "measured": round(math.exp(sum(got) / max(1, len(some))), 3),
            "recovered": round(sum(min(a, b) for a, b in pairs) / max(1e-9, sum(a for a, _ in pairs)), 3),
        }
    least = math.log(LEAST) - resolution
    shares["slower"] = [row["case"] for row in found if math.log(row["default over"]["measured"]) < least]
    return shares


def lookup_ns() -> float:
    """The nanoseconds in which a choice is looked up, for an array of NumPy."""
    import xarrayops as xo
    from xarrayops._core.backends import find
    from xarrayops._ops.engines.chosen import chooser

    x, numpy = np.zeros((128, 128)), find.named("numpy")
    found = chooser("sort", numpy, xo.sort, lambda engine: xo.sort)
    assert found is not None
    choose = found.function_for
    with xo.measured():
        taken = timeit.repeat(lambda: choose((x,), {}), number=20_000, repeat=15)
    return float(min(taken) / 20_000 * 1e9)


def main() -> int:
    """Tune, measure, print and write the results. Returns `MISSED` if a bar is missed."""
    parser = common_options(__doc__, rounds=9, libraries="numpy,torch,jax", only=True)
    parser.add_argument("--seconds", default="240", help="the time for `python -m xarrayops.tune`")
    options = parser.parse_args()
    if options.rounds < 2:
        parser.error("--rounds must be at least 2: one half of the rounds picks the best candidate")
    libraries = options.libraries.split(",")
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    with tempfile.TemporaryDirectory() as cache:
        os.environ["XARRAYOPS_CACHE"] = cache
        verbs = ",".join(verb for verb in VERBS if options.only in verb)
        tune = [sys.executable, "-m", "xarrayops.tune", "--seconds", options.seconds, "--verbs", verbs]
        subprocess.run([*tune, "--backends", options.libraries], check=True)
        found = []
        for row in rows(libraries, (*TUNED, *BETWEEN), options.rounds, options.only):
            found.append(row)
            print(f"{row['case']:60} {row['chosen']:16} {row['default over']}", flush=True)
        shares, nanoseconds = summary(found), lookup_ns()
    shares["lookup_ns"] = round(nanoseconds, 1)
    print(json.dumps(shares, indent=1))
    if options.out:
        options.out.write_text(json.dumps({"machine": machine(libraries), **shares, "rows": found}, indent=1) + "\n")
    is_met = shares["tuned sizes"]["recovered"] >= SHARE and shares["sizes between"]["recovered"] >= SHARE_BETWEEN
    return 0 if is_met and not shares["slower"] and nanoseconds <= LOOKUP_NS else MISSED


if __name__ == "__main__":
    sys.exit(main())
