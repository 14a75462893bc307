"""The microseconds that ``xo.at`` adds to the library's own assignment.

    python benchmarks/peers/at.py [--rounds 60] [--number 1000] [--libraries numpy,torch] [--out FILE]

Arrays have 8x8 elements, so that the overhead dominates. The contestants are interleaved within each round, so that a
disturbance affects both. The time of a contestant is the minimum over all rounds; what ours adds is the difference of
these times in one run. Results are compared before timing. The updates that copy are compared with a copy of x followed
by the assignment.

The bars, for basic indices: at most 2.5 µs on NumPy and 5 µs on torch. Ends with 3 if one is missed.
"""

from __future__ import annotations

import json
import sys
import timeit
from typing import Any

import numpy as np
from measuring import MISSED, common_options, machine

import xarrayops as xo

BARS_US = {"numpy": 2.5, "torch": 5.0}
"""The most that a call with a basic index may add."""
CASES = {
    "set a number": ("x[1:-1] = 2.0", "xo.at(x)[1:-1].set(2.0, copy=None)"),
    "set an array": ("x[1:-1] = v", "xo.at(x)[1:-1].set(v, copy=None)"),
    "set a row": ("x[1, 1:-1] = 2.0", "xo.at(x)[1, 1:-1].set(2.0, copy=None)"),
    "set an element": ("x[1, 2] = 2.0", "xo.at(x)[1, 2].set(2.0, copy=None)"),
    "add a number": ("x[1:-1] += 2.0", "xo.at(x)[1:-1].add(2.0, copy=None)"),
    "add an array": ("x[1:-1] += v", "xo.at(x)[1:-1].add(v, copy=None)"),
    "copy, set an array": ("y = x.{copy}(); y[1:-1] = v", "y = xo.at(x)[1:-1].set(v)"),
}
"""Native statements and ours, which leave the same values in x and y."""


def names_of(library: str) -> dict[str, Any]:
    """The names that the statements use."""
    if library == "torch":
        import torch

        return {"xo": xo, "x": torch.zeros((8, 8)), "v": torch.ones((6, 8))}
    return {"xo": xo, "x": np.zeros((8, 8)), "v": np.ones((6, 8))}


def statements(library: str) -> dict[str, tuple[str, str]]:
    """The cases, in the library's own words."""
    copy = {"numpy": "copy", "torch": "clone"}[library]
    return {case: (native.format(copy=copy), ours) for case, (native, ours) in CASES.items()}


def check(library: str) -> None:
    """Compare the values that the statements leave."""
    for case, pair in statements(library).items():
        left = []
        for statement in pair:
            names = names_of(library)
            exec(statement, names)
            left.append([np.asarray(names[name]).tolist() for name in ("x", "y") if name in names])
        if left[0] != left[1]:
            raise SystemExit(f"{library}, {case}: the contestants disagree: {left}")


def measure(library: str, rounds: int, number: int) -> list[dict[str, Any]]:
    """A row for each case: microseconds of both contestants, the difference and the ratio."""
    check(library)
    names = names_of(library)
    timers = {case: [timeit.Timer(s, globals=names) for s in pair] for case, pair in statements(library).items()}
    best = {case: [float("inf")] * 2 for case in timers}
    for _ in range(rounds):
        for case, pair in timers.items():
            seconds = [timer.timeit(number) / number for timer in pair]
            best[case] = [min(known, new * 1e6) for known, new in zip(best[case], seconds, strict=True)]
    return [
        {
            "library": library,
            "case": case,
            "native_us": round(native, 3),
            "ours_us": round(ours, 3),
            "added_us": round(ours - native, 3),
            "ratio": round(ours / native, 2),
        }
        for case, (native, ours) in best.items()
    ]


def main() -> int:
    """Measure, print and write the results. Returns `MISSED` if a bar is missed."""
    parser = common_options(__doc__, rounds=60, libraries="numpy,torch")
    parser.add_argument("--number", type=int, default=1000)
    options = parser.parse_args()
    libraries = options.libraries.split(",")
    rows = [row for library in libraries for row in measure(library, options.rounds, options.number)]
    for row in rows:
        print(
            f"{row['library']:6} {row['case']:20} native {row['native_us']:6.2f} us, ours {row['ours_us']:6.2f} us: "
            f"adds {row['added_us']:5.2f} us, ratio {row['ratio']:.1f}"
        )
    if options.out:
        options.out.write_text(json.dumps({"machine": machine(libraries), "rows": rows}, indent=1) + "\n")
    return MISSED if any(row["added_us"] > BARS_US[row["library"]] for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
