"""The nanoseconds that a call in a block of measured choice takes more than outside, if the default serves it.

    python benchmarks/peers/choices_cost.py [--rounds 101] [--out FILE]

The arrays are NumPy's, and of 128 rows and columns. Five blocks are timed in alternation with no block: without any
choice, with one for another function, with one for this function and arrays of torch, with one for this function at
2048 rows and columns, and with one for this function at the same size and another dtype. The bars: at most 60 ns for
the first three, at most 250 ns for the fourth. Ends with 3 if one is missed.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import timeit
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from measuring import MISSED, common_options, machine

SIDE, LARGE, NUMBER = 128, 2048, 400
BARS_NS = {
    "no choice": 60.0,
    "another function": 60.0,
    "another library": 60.0,
    "larger arrays": 250.0,
    "another dtype": None,
}
OPTIONS: dict[str, dict[str, Any]] = {"sqrt": {}, "abs": {}, "argmax": {"axis": 1}, "max": {"axis": 0}}
PAIRS = ("add", "less", "maximum")


def choice(verb: str, side: int, dtype: str, library: str = "numpy", other: str = "torch") -> str:
    """The line of a file of `xarrayops.choices` for a call."""
    array = {"shape": [side, side], "dtype": dtype, "layout": "C"}
    arrays = [array] * (2 if verb in PAIRS else 1)
    call = {"verb": verb, "library": library, "args": arrays, "kwargs": OPTIONS.get(verb, {})}
    names = {"default": f"{library}:{verb}", "candidate": f"{other}:{verb}", "date": "", "exact": True}
    return json.dumps({"description": call, "gain": 2.0, "rounds": 30, **names})


def calls() -> Iterator[tuple[str, Callable[[], Any]]]:
    """The calls that are timed."""
    import xarrayops as xo

    x = np.random.default_rng(0).random((SIDE, SIDE))
    for verb, options in OPTIONS.items():
        function = getattr(xo, verb)
        yield verb, lambda function=function, options=options: function(x, **options)
    for verb in PAIRS:
        function = getattr(xo, verb)
        yield verb, lambda function=function: function(x, x)


def rows(rounds: int, folder: Path) -> Iterator[dict[str, Any]]:
    """A row for each function: the time outside, and what each block adds to it."""
    import xarrayops as xo

    for verb, call in calls():
        lines = {
            "another function": choice("tanh", SIDE, "float64"),
            "another library": choice(verb, SIDE, "float64", "torch", "numpy"),
            "larger arrays": choice(verb, LARGE, "float64"),
            "another dtype": choice(verb, SIDE, "float32"),
        }
        for name, line in lines.items():
            (folder / name).write_text(f"{line}\n")
        blocks = {"no choice": xo.measured(), **{name: xo.choices(folder / name) for name in lines}}
        timer = timeit.Timer(call)
        outside: list[float] = []
        added: dict[str, list[float]] = {name: [] for name in blocks}
        names = [*blocks]
        for group in (names[:3], names[3:]):  # a function that looked up a choice once remains able to
            for name in group * (rounds + 1):
                before = timer.timeit(NUMBER)
                with blocks[name]:
                    inside = timer.timeit(NUMBER)
                outside.append(before / NUMBER)
                added[name].append((inside - before) / NUMBER)
        yield {
            "function": verb,
            "outside_us": round(median(outside) * 1e6, 2),
            "added_ns": {name: round(median(each[1:]) * 1e9) for name, each in added.items()},
        }


def main() -> int:
    """Measure, print and write the results. Returns `MISSED` if a bar is missed."""
    options = common_options(__doc__, rounds=101).parse_args()
    with tempfile.TemporaryDirectory() as folder:
        os.environ["XARRAYOPS_CACHE"] = folder
        found = []
        for row in rows(options.rounds, Path(folder)):
            found.append(row)
            print(f"{row['function']:8} {row['outside_us']:6} us", row["added_ns"], flush=True)
    medians = {name: median(row["added_ns"][name] for row in found) for name in BARS_NS}
    print("median", medians)
    if options.out:
        results = {"machine": machine(["numpy"]), "median added_ns": medians, "rows": found}
        options.out.write_text(json.dumps(results, indent=1) + "\n")
    return 0 if all(bar is None or medians[name] <= bar for name, bar in BARS_NS.items()) else MISSED


if __name__ == "__main__":
    sys.exit(main())
