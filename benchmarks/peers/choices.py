"""What measured choice gains: the measured choice and every exact candidate, each interleaved with the default.

    python benchmarks/peers/choices.py [--seconds 480] [--rounds 3] [--libraries numpy,torch,jax] [--only sort]
                                       [--out FILE]

`python -m xarrayops.tune` first measures calls in a cache of its own. Then each row is timed in three new processes, in
a block of `xo.measured`, and in a block of `xo.choices` for each other candidate whose values are those of the default
to the last bit: a file with one line pins it, as a person would who knows which one is the best. Each of them is
interleaved with the default only: large arrays and waiting threads of one change the time of the next.

Two of the processes time each call by itself. In the third one, a program, each call follows a matrix product by the
library of the arrays, whose time counts, and the heap keeps the memory of freed arrays. A candidate that takes less
than 0.95 of the default there, beyond the resolution, does not count: measured choice has to refuse it.

The log gain of a row is that of its best candidate over the default, where it is more than the resolution of the run:
the times of the default, measured twice, at the 90 % quantile over the rows of a library (those of JAX vary most). Each
of the two processes picks the best candidate for the other one, which times it: the greatest of several noisy times
would be too good, and the times of one process share its memory layout. The share that is recovered is the sum of the
log gains of the measured choices over that of the best ones.

Only rows with another kernel of the same values are measured: the default serves the others. A row is slower than the
default if both processes, or the program for a row that another kernel serves, show less than 0.95 beyond the
resolution.

The bars: at least 85 % on sizes that were tuned, 70 % on sizes between them, no slower row, and at most 400 ns for the
look-up of a choice, the least of readings after each process. Ends with 3 if one is missed.
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
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import nullcontext
from itertools import chain
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
from measuring import MISSED, common_options, machine
from numpy import median, quantile

TUNED, BETWEEN = (128, 256, 512, 1024, 2048), (180, 700, 1500)
VERBS = ["sort", "argmax", "sqrt", "abs", "add", "multiply", "divide", "maximum", "less", "max", "take"]
SHARE, SHARE_BETWEEN, LEAST, LOOKUP_NS = 0.85, 0.70, 0.95, 400.0
READING_S = 3e-3
Ratios = dict[str, float]
"""The median ratio of the default's time over that of each candidate, of the measured choice, and of the default."""


def pinned(description: Any, default: str, candidate: str) -> Any:
    """A block in which a candidate serves a call."""
    import xarrayops as xo
    from xarrayops._ops.choices.verdicts import Choice

    choice = Choice(description, default, candidate, gain=1.0, rounds=0, date="", exact=True)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "choice.jsonl")
        file.write_text(json.dumps(choice._asdict()) + "\n")
        return xo.choices(file)


def rows(libraries: list[str], rounds: int, only: str, *, is_program: bool) -> Iterator[dict[str, Any]]:
    """A row for each call of the list of `tune`, measured in this process."""
    import xarrayops as xo
    from xarrayops._ops.choices.calls import shown
    from xarrayops.bench.measure.timing import calls_per_reading, finished, timed
    from xarrayops.tune.calls import default_calls
    from xarrayops.tune.candidates import Candidates
    from xarrayops.tune.worker import product_by

    def seconds(block: Any, call: Any, number: int) -> float:
        """The seconds of a call, without those in which the block opens and finds its choice."""
        with block:
            call()
            return timed(call, (), number)[0]

    for description in default_calls(libraries, [verb for verb in VERBS if only in verb], (*TUNED, *BETWEEN)):
        found = Candidates(description)
        want = list(finished(found.function(*found.args, **found.kwargs)))
        blocks: dict[str, Any] = {}
        for name, function in found.others.items():
            try:
                got = list(finished(function(*found.args, **found.kwargs)))
            except Exception:  # libraries raise various errors; such a candidate does not serve
                continue
            if found.is_exact(name, want, got):
                blocks[name] = pinned(description, found.default, name)
        before = product_by(description["library"]) if is_program else (lambda: None)
        call = lambda found=found, before=before: (before(), getattr(xo, found.verb)(*found.args, **found.kwargs))[1]
        ratios = {"default": 1.0, "default again": 1.0, "measured": 1.0}
        if blocks:
            finished(call())  # the first call may compile
            number = calls_per_reading(call, (), READING_S)
            for name, block in (blocks | {"default again": nullcontext(), "measured": xo.measured()}).items():
                both = [(seconds(nullcontext(), call, number), seconds(block, call, number)) for _ in range(rounds + 1)]
                counted = both[1:]  # the first one finds a choice
                ratios[name] = round(float(median([of_default / of_other for of_default, of_other in counted])), 3)
        with xo.measured():
            chosen = xo.explain(found.verb, *found.args, **found.kwargs).chosen
        row = {"case": shown(description), "side": description["args"][0]["shape"][0]}
        yield row | {"default": found.default, "chosen": chosen, "default over": ratios}


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


def joined(first: list[dict[str, Any]], program: list[dict[str, Any]], second: list[dict[str, Any]]) -> Any:
    """One list of the rows of the three processes, each with its best candidate and the gain."""
    resolution = resolution_of(program)
    found = []
    for one, between, other in zip(first, program, second, strict=True):
        twice, ratios = (one["default over"], other["default over"]), between["default over"]
        least = LEAST / math.exp(resolution[library_of(one)])
        names = sorted(ratios.keys() & twice[0].keys() & twice[1].keys())
        able = [name for name in names if name not in ("default again", "measured")]
        best_gain, best = best_of(*twice, [name for name in able if ratios[name] >= least])
        row = {**one, "best": best, "best over": best_gain, "refused": [name for name in able if ratios[name] < least]}
        row["default over"] = {name: [each[name] for each in twice] for name in names if name != "default"}
        found.append(row | {"in the program": ratios})
    return found


def best_of(first: Ratios, second: Ratios, names: list[str]) -> tuple[float, str]:
    """The gain of the best of some candidates, picked in one process and timed in the other, and its name."""
    picked = [(max(names, key=one.__getitem__), other) for one, other in ((first, second), (second, first))]
    gain = math.sqrt(math.prod(other[name] for name, other in picked))
    return round(gain, 3), max(names, key=lambda name: first[name] * second[name])


def library_of(row: dict[str, Any]) -> str:
    """The library of the arrays of a row."""
    return str(row["default"].partition(":")[0])


def resolution_of(*processes: list[dict[str, Any]]) -> dict[str, float]:
    """The log of a ratio that does not differ from 1: of ten ratios of the default to itself, nine are nearer to 1."""
    found: dict[str, list[float]] = {}
    for row in chain(*processes):
        ratios = row["default over"]
        found.setdefault(library_of(row), []).extend([abs(math.log(ratios["default again"]))] * (len(ratios) > 3))
    return {library: max(math.log(1.05), float(quantile(logs or [0.0], 0.9))) for library, logs in found.items()}


def summary(first: list[dict[str, Any]], program: list[dict[str, Any]], second: list[dict[str, Any]]) -> dict[str, Any]:
    """The shares that are recovered, the rows that are slower than the default, and all rows."""
    found, resolution, in_program = joined(first, program, second), resolution_of(first, second), resolution_of(program)
    shares: dict[str, Any] = {
        "resolution": {name: round(math.expm1(log), 3) for name, log in resolution.items()},
        "resolution in the program": {name: round(math.expm1(log), 3) for name, log in in_program.items()},
        "rows with a refused kernel": sum(bool(row["refused"]) for row in found),
    }
    for name, sides in (("tuned sizes", TUNED), ("sizes between", BETWEEN)):
        some = [row for row in found if row["side"] in sides]
        best = [max(0.0, math.log(row["best over"])) for row in some]
        got = [math.log(math.prod(row["default over"]["measured"])) / 2 for row in some]
        pairs = [(a, b) for row, a, b in zip(some, best, got, strict=True) if a > resolution[library_of(row)]]
        shares[name] = {
            "rows": len(some),
            "with a gain": len(pairs),
            "best": round(math.exp(sum(best) / max(1, len(some))), 3),
            "measured": round(math.exp(sum(got) / max(1, len(some))), 3),
            "recovered": round(sum(min(a, b) for a, b in pairs) / max(1e-9, sum(a for a, _ in pairs)), 3),
        }
    shares["slower"] = [row["case"] for row in found if is_slower(row, resolution, in_program)]
    return shares | {"rows": found}


def is_slower(row: dict[str, Any], resolution: dict[str, float], in_program: dict[str, float]) -> bool:
    """Whether the measured choice is slower than the default, by itself or in the program."""
    library, is_default = library_of(row), row["chosen"] == row["default"]
    in_both = max(row["default over"]["measured"]) < LEAST / math.exp(resolution[library])
    between = row["in the program"]["measured"] < LEAST / math.exp(in_program[library])
    return in_both or (not is_default and bool(between))


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
    return round(min(taken) / 20_000 * 1e9, 1)


def main() -> int:
    """Tune, measure, print and write the results. Returns `MISSED` if a bar is missed."""
    parser = common_options(__doc__, rounds=3, libraries="numpy,torch,jax", only=True)
    parser.add_argument("--seconds", default="480", help="the time for `python -m xarrayops.tune`")
    options = parser.parse_args()
    if options.rounds < 1:
        parser.error("--rounds must be at least 1")
    libraries = options.libraries.split(",")
    from xarrayops.tune.run import KEPT_MEMORY

    with tempfile.TemporaryDirectory() as cache:
        os.environ["XARRAYOPS_CACHE"] = cache
        verbs = ",".join(verb for verb in VERBS if options.only in verb)
        tune = [sys.executable, "-m", "xarrayops.tune", "--seconds", options.seconds, "--verbs", verbs]
        subprocess.run([*tune, "--backends", options.libraries], check=True)
        given = libraries, options.rounds, options.only
        processes, nanoseconds = [], []
        for environment, is_program in (({}, False), (KEPT_MEMORY, True), ({}, False)):
            processes.append(in_new_process(environment, *given, is_program))
            if "sort" in verbs.split(","):
                nanoseconds.append(lookup_ns())
        shares = summary(*processes)
    found = shares.pop("rows")
    shares["lookup_ns"] = min(nanoseconds, default=None)
    print(json.dumps(shares, indent=1))
    if options.out:
        options.out.write_text(json.dumps({"machine": machine(libraries), **shares, "rows": found}, indent=1) + "\n")
    is_met = shares["tuned sizes"]["recovered"] >= SHARE and shares["sizes between"]["recovered"] >= SHARE_BETWEEN
    return 0 if is_met and not shares["slower"] and min(nanoseconds, default=0.0) <= LOOKUP_NS else MISSED


if __name__ == "__main__":
    sys.exit(main())
