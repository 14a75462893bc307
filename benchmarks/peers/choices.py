"""What measured choice gains: the measured choice and every exact candidate, each interleaved with the default.

    python benchmarks/peers/choices.py [--seconds 240] [--rounds 5] [--libraries numpy,torch,jax] [--only sort]
                                       [--out FILE]

`python -m xarrayops.tune` first measures calls in a cache of its own. Then each row is timed in three new processes, in
a block of `xo.measured`, and by each other candidate whose values are those of the default to the last bit. Each of
them is interleaved with the default alone: large arrays and waiting threads of one change the time of the next.

Two of the processes time the calls alone. In the third one, a program, each call follows a matrix product by the
library of the arrays, whose time counts, and the heap keeps the memory of freed arrays. A candidate that is slower
there does not count: measured choice has to refuse it.

The log gain of a row is that of its best candidate over the default, where it is more than the resolution of the run
(the times of the default, measured twice, at the 90 % quantile over the rows). Each of the two processes picks the best
candidate for the other one, which times it: the greatest of several noisy times alone would be too good, and the times
of one process share its memory layout. The share that is recovered is the sum of the log gains of the measured choices
over that of the best ones.

The bars: at least 85 % on sizes that were tuned, 70 % on sizes between them, no row below 0.95 of the default beyond
the resolution, alone and in the program, and at most 400 ns for the look-up of a choice. Ends with 3 if one is missed.
"""

from __future__ import annotations

import json
import math
import multiprocessing
import os
import subprocess
import sys
import tempfile
import timeit
import warnings
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import nullcontext
from typing import Any
from unittest import mock

import numpy as np
from measuring import MISSED, common_options, machine
from numpy import median, quantile

TUNED, BETWEEN = (128, 256, 512, 1024, 2048), (180, 700, 1500)
VERBS = ["sort", "argmax", "sqrt", "abs", "add", "multiply", "divide", "maximum", "less", "max", "take"]
SHARE, SHARE_BETWEEN, LEAST, LOOKUP_NS = 0.85, 0.70, 0.95, 400.0
READING_S = 3e-3
SIDE = 256
"""The rows and columns of the products between the calls of the program."""
Ratios = dict[str, float]
"""The median ratio of the default's time over that of each candidate, of the measured choice, and of the default."""


def rows(libraries: list[str], rounds: int, only: str, *, is_program: bool) -> Iterator[dict[str, Any]]:
    """A row for each call of the list of `tune`, measured in this process."""
    import xarrayops as xo
    from xarrayops._ops.choices.calls import shown
    from xarrayops.bench.measure.timing import finished, timed
    from xarrayops.tune.calls import default_calls
    from xarrayops.tune.candidates import Candidates

    def public(found: Candidates) -> Any:
        return getattr(xo, found.verb)(*found.args, **found.kwargs)

    def in_program(call: Any, library: str) -> Any:
        x = xo.convert(np.ones((SIDE, SIDE), np.float32), library)
        return lambda: (finished(xo.matmul(x, x)), call())[1]

    def seconds(name: str, call: Any, number: int) -> float:
        """The seconds of a call, without those in which the block opens and finds its choice."""
        with xo.measured() if name == "measured" else nullcontext():
            call()
            return timed(call, (), number)[0]

    for description in default_calls(libraries, [verb for verb in VERBS if only in verb], (*TUNED, *BETWEEN)):
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
        if is_program:
            calls = {name: in_program(call, description["library"]) for name, call in calls.items()}
        default = calls["default"]
        number = max(1, math.ceil(READING_S / timed(default, ())[0]))
        ratios = {"default": 1.0}
        for name, call in (calls | {"default again": default, "measured": default}).items():
            if name != "default":
                both = [(seconds("default", default, number), seconds(name, call, number)) for _ in range(rounds + 1)]
                counted = both[1:]  # the first one finds a choice
                ratios[name] = round(float(median([of_default / of_other for of_default, of_other in counted])), 3)
        with xo.measured():
            chosen = xo.explain(found.verb, *found.args, **found.kwargs).chosen
        row = {"case": shown(description), "side": description["args"][0]["shape"][0], "chosen": chosen}
        yield row | {"default over": ratios}


def measured_rows(libraries: list[str], rounds: int, only: str, is_program: bool) -> list[dict[str, Any]]:
    """The rows, measured in this process and printed."""
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    found = []
    for row in rows(libraries, rounds, only, is_program=is_program):
        found.append(row)
        print(f"{row['case']:60} {row['chosen']:16} {row['default over']}", flush=True)
    return found


def in_new_process(environment: dict[str, str], *arguments: Any) -> list[dict[str, Any]]:
    """The rows, measured in a new process with additional environment variables."""
    spawn = multiprocessing.get_context("spawn")
    with mock.patch.dict(os.environ, environment), ProcessPoolExecutor(1, mp_context=spawn) as pool:
        return pool.submit(measured_rows, *arguments).result()


def joined(first: dict[str, Any], program: dict[str, Any], second: dict[str, Any]) -> dict[str, Any]:
    """One row of the rows of the three processes, with the best candidate and its gain."""
    twice, program_ratios = (first["default over"], second["default over"]), program["default over"]
    best_gain, best = best_of(*twice, {name for name in program_ratios if program_ratios[name] >= LEAST})
    gains = {name: [ratios[name] for ratios in twice] for name in twice[0] if name in twice[1] and name != "default"}
    return {**first, "best": best, "best over": best_gain, "default over": gains, "in the program": program_ratios}


def best_of(first: Ratios, second: Ratios, names: Iterable[str]) -> tuple[float, str]:
    """The gain of the best of some candidates, picked in one process and timed in the other, and its name."""
    names = [name for name in names if name in first and name in second and name not in ("default again", "measured")]
    picked = [(max(names, key=one.__getitem__), other) for one, other in ((first, second), (second, first))]
    gain = math.sqrt(math.prod(other[name] for name, other in picked))
    return round(gain, 3), max(names, key=lambda name: first[name] * second[name])


def alone(row: dict[str, Any], name: str) -> float:
    """The log gain of a call alone, over both processes."""
    return math.log(math.prod(row["default over"][name])) / 2


def in_program(row: dict[str, Any], name: str) -> float:
    """The log gain of a call in the program."""
    return math.log(row["in the program"][name])


def summary(found: list[dict[str, Any]]) -> dict[str, Any]:
    """The shares that are recovered, and the rows that are slower than the default."""
    resolutions = {gain: resolution_of(found, gain) for gain in (alone, in_program)}
    resolution = resolutions[alone]
    shares: dict[str, Any] = {
        "resolution": round(math.expm1(resolution), 3),
        "resolution in the program": round(math.expm1(resolutions[in_program]), 3),
    }
    for name, sides in (("tuned sizes", TUNED), ("sizes between", BETWEEN)):
        some = [row for row in found if row["side"] in sides]
        best = [max(0.0, math.log(row["best over"])) for row in some]
        got = [alone(row, "measured") for row in some]
        pairs = [(a, b) for a, b in zip(best, got, strict=True) if a > resolution]
        shares[name] = {
            "rows": len(some),
            "with a gain": len(pairs),
            "best": round(math.exp(sum(best) / max(1, len(some))), 3),
            "measured": round(math.exp(sum(got) / max(1, len(some))), 3),
            "recovered": round(sum(min(a, b) for a, b in pairs) / max(1e-9, sum(a for a, _ in pairs)), 3),
        }
    least = {gain: math.log(LEAST) - each for gain, each in resolutions.items()}
    shares["slower"] = [row["case"] for row in found if any(gain(row, "measured") < least[gain] for gain in least)]
    return shares


def resolution_of(found: list[dict[str, Any]], gain: Any) -> float:
    """The log of a ratio that does not differ from 1: of ten ratios of the default to itself, nine are nearer to 1."""
    return max(math.log(1.05), float(quantile([abs(gain(row, "default again")) for row in found], 0.9)))


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
    parser = common_options(__doc__, rounds=5, libraries="numpy,torch,jax", only=True)
    parser.add_argument("--seconds", default="240", help="the time for `python -m xarrayops.tune`")
    options = parser.parse_args()
    libraries = options.libraries.split(",")
    from xarrayops.tune.run import KEPT_MEMORY

    with tempfile.TemporaryDirectory() as cache:
        os.environ["XARRAYOPS_CACHE"] = cache
        verbs = ",".join(verb for verb in VERBS if options.only in verb)
        tune = [sys.executable, "-m", "xarrayops.tune", "--seconds", options.seconds, "--verbs", verbs]
        subprocess.run([*tune, "--backends", options.libraries], check=True)
        given = libraries, options.rounds, options.only
        first = in_new_process({}, *given, False)
        program = in_new_process(KEPT_MEMORY, *given, True)
        second = in_new_process({}, *given, False)
        found = list(map(joined, first, program, second))
        shares, nanoseconds = summary(found), lookup_ns()
    shares["lookup_ns"] = round(nanoseconds, 1)
    print(json.dumps(shares, indent=1))
    if options.out:
        options.out.write_text(json.dumps({"machine": machine(libraries), **shares, "rows": found}, indent=1) + "\n")
    is_met = shares["tuned sizes"]["recovered"] >= SHARE and shares["sizes between"]["recovered"] >= SHARE_BETWEEN
    return 0 if is_met and not shares["slower"] and nanoseconds <= LOOKUP_NS else MISSED


if __name__ == "__main__":
    sys.exit(main())
