"""The dispatch overhead of xarrayops, array-api-compat and autoray over a native call.

    python benchmarks/peers/dispatch.py [--rounds 200] [--number 2000] [--out FILE]

All calls use 2x2 float64 arrays, so that the overhead dominates. The contestants are interleaved within each round, so
that a disturbance affects all of them. The time of a contestant is the minimum over all rounds; its overhead is that
time minus the time of the native call in the same run. Results are compared before timing.

The bars: the overhead of xarrayops is at most an eighth of autoray's on NumPy, and at most half of it on torch, in the
same run. Ends with 3 if one is missed.
"""

from __future__ import annotations

import json
import os
import platform
import sys
import timeit
from typing import Any

import array_api_compat
import autoray
import numpy as np
from measuring import MISSED, common_options

import xarrayops as xo

BARS = {"numpy": 1 / 8, "torch": 1 / 2}
"""The largest allowed overhead, relative to autoray's."""
CALLS = {
    "add": ("{native}.add(x, y)", "xo.add(x, y)", "array_namespace(x, y).add(x, y)", 'do("add", x, y)'),
    "matmul": ("{native}.matmul(x, y)", "xo.matmul(x, y)", "array_namespace(x, y).matmul(x, y)", 'do("matmul", x, y)'),
    "sum": ("{native}.sum(x)", "xo.sum(x)", "array_namespace(x).sum(x)", 'do("sum", x)'),
    "sum, keywords": (
        "{native}.sum(x, {options})",
        "xo.sum(x, axis=0, keepdims=True)",
        "array_namespace(x).sum(x, axis=0, keepdims=True)",
        'do("sum", x, {options})',
    ),
}
"""Each call in the library itself, in xarrayops, in array-api-compat and in autoray."""
CONTESTANTS = ("native", "xarrayops", "array_namespace", "autoray")
LIBRARIES = {"numpy": ("np", "axis=0, keepdims=True"), "torch": ("torch", "dim=0, keepdim=True")}


def measure(library: str, rounds: int, number: int) -> dict[str, dict[str, float]]:
    """Nanoseconds per call, by call and contestant: the minimum over all rounds."""
    native, options = LIBRARIES[library]
    names: dict[str, Any] = {"xo": xo, "np": np, "array_namespace": array_api_compat.array_namespace, "do": autoray.do}
    if library == "torch":
        import torch

        names |= {"torch": torch, "x": torch.ones((2, 2)), "y": torch.full((2, 2), 2.0)}
    else:
        names |= {"x": np.ones((2, 2)), "y": np.full((2, 2), 2.0)}
    statements = {
        call: {who: text.format(native=native, options=options) for who, text in zip(CONTESTANTS, texts, strict=True)}
        for call, texts in CALLS.items()
    }
    for call, by_contestant in statements.items():
        results = [np.asarray(eval(text, names)) for text in by_contestant.values()]
        if not all(np.array_equal(results[0], other) for other in results[1:]):
            raise SystemExit(f"{library} {call}: the contestants disagree: {results}")
    timers = {(c, who): timeit.Timer(text, globals=names) for c, t in statements.items() for who, text in t.items()}
    best = dict.fromkeys(timers, float("inf"))
    for _ in range(rounds):
        for key, timer in timers.items():
            best[key] = min(best[key], timer.timeit(number) / number * 1e9)
    return {call: {who: best[call, who] for who in CONTESTANTS} for call in CALLS}


def rows(library: str, figures: dict[str, dict[str, float]]) -> list[dict[str, Any]]:
    """The overhead of each contestant over the native call, and ours relative to the others'."""
    table = []
    for call, by_contestant in figures.items():
        added = {who: by_contestant[who] - by_contestant["native"] for who in CONTESTANTS[1:]}
        table.append(
            {
                "library": library,
                "call": call,
                "native_ns": round(by_contestant["native"], 1),
                "added_ns": {who: round(value, 1) for who, value in added.items()},
                "share_of_array_namespace": round(added["xarrayops"] / added["array_namespace"], 3),
                "share_of_autoray": round(added["xarrayops"] / added["autoray"], 3),
            }
        )
    return table


def main() -> int:
    """Measure, print and write the results. Returns `MISSED` if a bar is missed."""
    parser = common_options(__doc__, rounds=200, libraries="numpy,torch")
    parser.add_argument("--number", type=int, default=2000)
    options = parser.parse_args()
    table = []
    for library in options.libraries.split(","):
        table += rows(library, measure(library, options.rounds, options.number))
    print(
        f"{'library':8} {'call':14} {'native':>8} {'adds: ours':>11} {'namespace':>10} {'autoray':>8}   share of each"
    )
    for row in table:
        added = row["added_ns"]
        print(
            f"{row['library']:8} {row['call']:14} {row['native_ns']:8.0f} {added['xarrayops']:11.0f} "
            f"{added['array_namespace']:10.0f} {added['autoray']:8.0f}   "
            f"{row['share_of_array_namespace']:.2f} {row['share_of_autoray']:.2f}"
        )
    if options.out:
        machine = {
            "python": platform.python_version(),
            "compiler_flags": "optimised" if "--enable-optimizations" in (_config_args() or "") else "plain build",
            "machine": platform.machine(),
            "cores": os.cpu_count(),
            "numpy": np.__version__,
            "array_api_compat": array_api_compat.__version__,
            "autoray": autoray.__version__,
        }
        options.out.write_text(json.dumps({"machine": machine, "rows": table}, indent=1) + "\n")
    return MISSED if any(row["share_of_autoray"] > BARS[row["library"]] for row in table) else 0


def _config_args() -> str | None:
    import sysconfig

    return sysconfig.get_config_var("CONFIG_ARGS")


if __name__ == "__main__":
    sys.exit(main())
