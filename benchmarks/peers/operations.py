"""The time that an operation of a user adds to a direct call of its kernel.

    python benchmarks/peers/operations.py [--rounds 60] [--number 2000] [--out FILE]

The kernel returns its first argument, so that only the call is timed. The contestants are interleaved within each
round. The overhead of a contestant is the minimum of its times minus that of the kernel. On PyTorch an operator of
``torch.library`` is measured next to ours.

The bars are for the machine of the committed results of dispatch.py, on which ``np.add`` of two 2x2 arrays takes
`REFERENCE_NS`. They are multiplied by the time of ``np.add`` in this run divided by that one. Ends with 3 if one is
missed.
"""

from __future__ import annotations

import json
import sys
import timeit
from collections.abc import Callable
from typing import Any

import numpy as np
from measuring import MISSED, common_options, machine

import xarrayops as xo

REFERENCE_NS = 228.0
NUMPY_BAR, TORCH_BAR = (100.0, 90.0), (300.0, 200.0)
"""Nanoseconds of a call, and of each array."""
ALIGNED = 1200.0
"""Nanoseconds of each array whose address must be known."""
REQUIREMENTS: dict[str, dict[str, Any]] = {
    "none": {},
    "dtypes": {"dtypes": ("float32", "float64")},
    "dtypes, layout": {"dtypes": ("float32", "float64"), "layout": "C"},
    "dtypes, layout, alignment": {"dtypes": ("float32", "float64"), "layout": "C", "aligned": 8},
}


def operation(library: str, count: int, requirements: str) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """An operation with one kernel for a library, and that kernel."""
    arrays = ", ".join("xyz"[:count])
    scope: dict[str, Any] = {"xo": xo}
    exec(f"def reference({arrays}, *, eps=1e-6): return x + 0\ndef kernel({arrays}, *, eps): return x", scope)
    made = xo.operation(f"peers::{library}_{count}_{requirements.replace(', ', '_')}")(scope["reference"])
    made.kernel(f"{library}:own", **REQUIREMENTS[requirements])(scope["kernel"])
    return made, scope["kernel"]


def torch_operator(count: int) -> Callable[..., Any]:
    """An operator of ``torch.library`` that returns a new tensor."""
    import torch

    arrays = "xyz"[:count]
    library = torch.library.Library("peers_direct", "FRAGMENT")  # type: ignore[no-untyped-call]
    library.define(f"f{count}({', '.join(f'Tensor {name}' for name in arrays)}, float eps) -> Tensor")  # type: ignore[no-untyped-call]
    exec_scope: dict[str, Any] = {}
    exec(f"def kernel({', '.join(arrays)}, eps): return x.detach()", exec_scope)
    library.impl(f"f{count}", exec_scope["kernel"], "CompositeExplicitAutograd")  # type: ignore[no-untyped-call]
    _KEPT.append(library)
    found: Callable[..., Any] = getattr(torch.ops.peers_direct, f"f{count}").default
    return found


_KEPT: list[Any] = []
"""The library objects; an operator ends with its library."""


def bar(library: str, count: int, requirements: str) -> float:
    """The largest overhead in nanoseconds, on the machine of the bars."""
    call, array = TORCH_BAR if library == "torch" else NUMPY_BAR
    return call + count * (ALIGNED if "alignment" in requirements else array)


def measure(library: str, rounds: int, number: int) -> list[dict[str, Any]]:
    """The overheads in nanoseconds."""
    if library == "torch":
        import torch

        x: Any = torch.ones((2, 2))
    else:
        x = np.ones((2, 2))
    add = timeit.Timer("np.add(a, a)", globals={"np": np, "a": np.ones((2, 2))})
    cases, timers = [], {}
    for count in (1, 2, 3):
        arrays = ", ".join(["x"] * count)
        for requirements in REQUIREMENTS:
            made, kernel = operation(library, count, requirements)
            assert made(*[x] * count, eps=1e-6) is x
            scope = {"x": x, "made": made, "kernel": kernel}
            cases.append((count, requirements))
            timers[count, requirements, "ours"] = timeit.Timer(f"made({arrays}, eps=1e-6)", globals=scope)
            timers[count, requirements, "kernel"] = timeit.Timer(f"kernel({arrays}, eps=1e-6)", globals=scope)
        if library == "torch":
            scope = {"x": x, "made": torch_operator(count)}
            timers[count, "", "operator"] = timeit.Timer(f"made({arrays}, 1e-6)", globals=scope)
    best = dict.fromkeys([*timers, "add"], float("inf"))
    for _ in range(rounds):
        for key, timer in (*timers.items(), ("add", add)):
            best[key] = min(best[key], timer.timeit(number) / number * 1e9)
    scale = best["add"] / REFERENCE_NS
    rows = []
    for count, requirements in cases:
        plain = best[count, requirements, "kernel"]
        row: dict[str, Any] = {
            "library": library,
            "arrays": count,
            "requirements": requirements,
            "overhead_ns": round(best[count, requirements, "ours"] - plain, 1),
            "bar_ns": round(bar(library, count, requirements) * scale, 1),
        }
        if library == "torch":
            row["torch_library_ns"] = round(best[count, "", "operator"] - plain, 1)
        rows.append(row)
    return rows


def main() -> int:
    """Measure, print and write the results."""
    parser = common_options(__doc__, rounds=60, libraries="numpy,torch")
    parser.add_argument("--number", type=int, default=2000, help="the number of calls in one timing")
    options = parser.parse_args()
    rows = [row for library in options.libraries.split(",") for row in measure(library, options.rounds, options.number)]
    for row in rows:
        native = f"; torch.library {row['torch_library_ns']:.0f} ns" if "torch_library_ns" in row else ""
        print(
            f"{row['library']:5} {row['arrays']} arrays, {row['requirements']:26} {row['overhead_ns']:6.0f} ns "
            f"(at most {row['bar_ns']:.0f}){native}"
        )
    if options.out:
        described = machine(("numpy", "torch"))
        options.out.write_text(json.dumps({"machine": described, "rows": rows}, indent=1) + "\n")
    return MISSED if any(row["overhead_ns"] > row["bar_ns"] for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
