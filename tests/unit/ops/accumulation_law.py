"""The law of accumulation: the bound of the error of a call, and all calls that exceed it."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

import xarrayops as xo
from tests.unit.ops.accumulation import CALLS, Call
from tests.unit.ops.extreme_arrays import EPS, GREATEST, LEAST, arrays
from tests.unit.ops.finite_results import FINITE

OVERFLOWING = ("bfloat16", "float32")
"""The dtypes whose largest numbers leave no room for a sum in float32."""


def fault(call: Call, wide: Any, want: Any, got: Any, *, is_bounded: bool) -> str | None:
    """What of a result violates the law, or None."""
    got = xo.convert(xo.compute(got), "numpy")
    name = str(got.dtype)
    got = np.asarray(got, dtype=np.float64)
    is_bounded = is_bounded and call.terms is not None
    with np.errstate(all="ignore"):
        terms = np.broadcast_to(np.asarray(call.terms(wide, want), np.float64) if is_bounded else 0.0, want.shape)
    if got.shape != want.shape:
        return f"has the shape {got.shape}, not {want.shape}"
    bound = _bound(name, wide, want, terms) if is_bounded and name in EPS else 0.0
    limit = GREATEST.get(name, math.inf) * (1 - EPS.get(name, 0))
    should = np.isfinite(want) & (np.abs(want) + bound <= limit)
    if not np.all(np.isfinite(got[should])):
        at = np.argmax(should & ~np.isfinite(got))
        return f"is {got.flat[at]}, not {want.flat[at]:.6g}"
    if not is_bounded:
        return None
    if name not in EPS:
        limits = np.iinfo(name)
        is_held = (want >= limits.min) & (want <= limits.max)
        return None if np.all((np.abs(got - want) <= 0.5) | ~is_held) else "counts wrongly"
    error = np.abs(got - want)
    wrong = should & (error > bound)
    if not wrong.any():
        return None
    at = np.argmax(wrong)
    return f"is {got.flat[at]:.9g}, not {want.flat[at]:.9g}: {error.flat[at] / bound.flat[at]:.3g} times the bound"


def _bound(name: str, wide: Any, want: Any, terms: Any) -> Any:
    """The greatest error that the law allows."""
    steps = math.log2(max(2, wide.shape[0]))
    if EPS[name] > EPS["float32"]:
        return 4 * (EPS[name] * np.abs(want) + LEAST[name]) + 4 * EPS["float32"] * steps * terms
    return 4 * EPS[name] * steps * terms + LEAST[name]


def served(call: Call, library: str, x: Any) -> bool:
    """Whether a call takes an array of this shape."""
    return (x.ndim == 1 or call.rows) and call.least <= x.shape[0] <= call.most and library not in call.not_on


def faults(
    library: str, dtype: str, is_chosen: Callable[[int], bool] = lambda number: True, device: str | None = None
) -> list[str]:
    """The faults of all chosen calls of one library, by default on its default device, one line for each.

    With a device, numbers near the largest are left out: float32 overflows there on GPUs (docs/contract.md).
    """
    found = []
    number = 0
    for name, host in arrays(dtype):
        if device and dtype in OVERFLOWING and name.endswith("near the largest"):
            continue
        wide = host.astype(np.float64)
        x = xo.asarray(host, backend=library, device=device)
        for table, is_bounded in ((CALLS, True), (FINITE, False)):
            for function, calls in table.items():
                for place, call in enumerate(calls):
                    if not served(call, library, host):
                        continue
                    number += 1
                    if not is_chosen(number):
                        continue
                    try:
                        with np.errstate(all="ignore"):
                            want = np.asarray(call.want(wide), dtype=np.float64)
                    except ValueError:  # NumPy refuses the call in float64, too
                        continue
                    try:
                        problem = fault(call, wide, want, call.run(x), is_bounded=is_bounded)
                    except Exception as error:
                        problem = f"raises {type(error).__name__}: {str(error).splitlines()[0][:150]}"
                    if problem:
                        found.append(f"{library} {dtype} {name}: xo.{function} [{place}] {problem}")
    return found
