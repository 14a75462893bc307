"""The dispatch overhead of xarrayops, array-api-compat, autoray and keras.ops over a native call.

    python benchmarks/peers/dispatch.py [--rounds 200] [--number 2000] [--out FILE]

All calls use 2x2 float64 arrays, so that the overhead dominates. The contestants are interleaved within each round, so
that a disturbance affects all of them. The time of a contestant is the minimum over all rounds; its overhead is that
time minus the time of the native call in the same run. Results are compared before timing. Keras takes part if it is
installed, and if its backend is the library. The row of float32 has no bar: there xo.sum on torch also reads its
result, to see whether it has overflowed.

The bars: the overhead of xarrayops is at most an eighth of autoray's on NumPy, and at most half of it on torch, in the
same run; creation functions add at most what those of array-api-compat add. Ends with 3 if one is missed.
"""

from __future__ import annotations

import json
import os
import platform
import sys
import timeit
from typing import Any

import array_api_compat
import array_api_compat.numpy as compat
import autoray
import numpy as np
from measuring import MISSED, common_options

import xarrayops as xo
import xarrayops.numpy as xnp

try:
    import keras
except ImportError:
    keras = None

BARS = {"numpy": 1 / 8, "torch": 1 / 2}
"""The largest allowed overhead, relative to autoray's."""
RESOLUTION = 1.1
"""The share up to which two overheads count as the same."""
Texts = dict[str, str]
CALLS: dict[str, Texts] = {
    **{
        verb: {
            "native": f"{{native}}.{verb}(x, y)",
            "xarrayops": f"xo.{verb}(x, y)",
            "array_namespace": f"array_namespace(x, y).{verb}(x, y)",
            "autoray": f'do("{verb}", x, y)',
            "keras": f"keras.ops.{verb}(x, y)",
        }
        for verb in ("add", "matmul")
    },
    "sum": {
        "native": "{native}.sum(x)",
        "xarrayops": "xo.sum(x)",
        "array_namespace": "array_namespace(x).sum(x)",
        "autoray": 'do("sum", x)',
        "keras": "keras.ops.sum(x)",
    },
    "sum, keywords": {
        "native": "{native}.sum(x, {options})",
        "xarrayops": "xo.sum(x, axis=0, keepdims=True)",
        "array_namespace": "array_namespace(x).sum(x, axis=0, keepdims=True)",
        "autoray": 'do("sum", x, {options})',
        "keras": "keras.ops.sum(x, axis=0, keepdims=True)",
    },
}
"""Each call in the library itself and in the others."""
CREATION: dict[str, Texts] = {
    "zeros": {
        "native": "np.zeros((2, 2))",
        "xarrayops": "xo.zeros((2, 2))",
        "array_namespace": "compat.zeros((2, 2))",
        "autoray": 'do("zeros", (2, 2), like="numpy")',
        "keras": 'keras.ops.zeros((2, 2), dtype="float64")',
    },
    "asarray of a list": {
        "native": "np.asarray([1.0, 2.0])",
        "xarrayops": "xo.asarray([1.0, 2.0])",
        "array_namespace": "compat.asarray([1.0, 2.0])",
        "autoray": 'do("asarray", [1.0, 2.0], like="numpy")',
        "keras": 'keras.ops.array([1.0, 2.0], dtype="float64")',
    },
}
"""Calls that have no array to look at, on NumPy, where array-api-compat's functions need no look-up."""
OTHERS: dict[str, dict[str, Texts]] = {
    "numpy": {"xarrayops.numpy: sum(x, 0)": {"native": "np.sum(x, 0)", "xarrayops": "xnp.sum(x, 0)"}},
    "torch": {
        "sum of float32": {"native": "torch.sum(single)", "xarrayops": "xo.sum(single)"},
        "convert by name": {"native": "torch.from_numpy(a)", "xarrayops": 'xo.convert(a, "torch")'},
        "convert by array": {"native": "torch.from_numpy(a)", "xarrayops": "xo.convert(a, x)"},
    },
}
"""Calls of ours that the others do not have."""
OURS = "xarrayops"
CONTESTANTS = ("native", "xarrayops", "array_namespace", "autoray", "keras")
LIBRARIES = {"numpy": ("np", "axis=0, keepdims=True"), "torch": ("torch", "dim=0, keepdim=True")}


def calls_of(library: str) -> dict[str, Texts]:
    """The calls on arrays of a library, with the contestants that are installed."""
    calls = CALLS | (CREATION if library == "numpy" else {}) | OTHERS[library]
    absent = () if keras is not None and keras.backend.backend() == library else ("keras",)
    return {call: {who: text for who, text in texts.items() if who not in absent} for call, texts in calls.items()}


def measure(library: str, rounds: int, number: int) -> dict[str, dict[str, float]]:
    """Nanoseconds per call, by call and contestant: the minimum over all rounds."""
    native, options = LIBRARIES[library]
    names: dict[str, Any] = {"xo": xo, "xnp": xnp, "np": np, "do": autoray.do, "keras": keras, "compat": compat}
    x, y = np.ones((2, 2)), np.full((2, 2), 2.0)
    names |= {"array_namespace": array_api_compat.array_namespace, "a": x, "x": x, "y": y}
    if library == "torch":
        import torch

        names |= {"torch": torch, "x": torch.from_numpy(x), "y": torch.from_numpy(y), "single": torch.ones((2, 2))}
    statements = {
        call: {who: text.replace("{native}", native).replace("{options}", options) for who, text in texts.items()}
        for call, texts in calls_of(library).items()
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
    return {call: {who: best[call, who] for who in texts} for call, texts in statements.items()}


def rows(library: str, figures: dict[str, dict[str, float]]) -> list[dict[str, Any]]:
    """The overhead of each contestant over the native call, and ours relative to the others'."""
    table = []
    for call, by_contestant in figures.items():
        added = {who: time - by_contestant["native"] for who, time in by_contestant.items() if who != "native"}
        table.append(
            {
                "library": library,
                "call": call,
                "native_ns": round(by_contestant["native"], 1),
                "added_ns": {who: round(value, 1) for who, value in added.items()},
            }
            | {f"share_of_{who}": round(added["xarrayops"] / value, 3) for who, value in added.items() if who != OURS}
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
    if keras is None:
        print("keras is not installed, so keras.ops is left out")
    print(
        f"{'library':8} {'call':26} {'native':>8}" + "".join(f"{who:>16}" for who in CONTESTANTS[1:]) + "  (ns added)"
    )
    for row in table:
        figures = (row["added_ns"].get(who) for who in CONTESTANTS[1:])
        shown = "".join(f"{'-' if figure is None else round(figure):>16}" for figure in figures)
        print(f"{row['library']:8} {row['call']:26} {row['native_ns']:8.0f}{shown}")
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
    return MISSED if any(map(misses, table)) else 0


def misses(row: dict[str, Any]) -> bool:
    """Whether a call misses its bar."""
    if row["call"] in CREATION:
        return bool(row["share_of_array_namespace"] > RESOLUTION)
    return bool(row.get("share_of_autoray", 0) > BARS[row["library"]])


def _config_args() -> str | None:
    import sysconfig

    return sysconfig.get_config_var("CONFIG_ARGS")


if __name__ == "__main__":
    sys.exit(main())
