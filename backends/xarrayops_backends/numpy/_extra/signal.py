"""Convolution, interpolation, gradients and polynomials."""

from __future__ import annotations

from typing import Any

import numpy as np

from xarrayops.plugin import Array, generic
from xarrayops.plugin.host import NUMBERS, sums
from xarrayops_backends.numpy._guard import require_all_numbers

_np: Any = np
"""Typed as Any: the overloads of some functions do not know arrays of any dtype."""
_Axes = int | tuple[int, ...] | None


def convolve(x1: Array, x2: Array, /, mode: str = "full") -> Array:
    """np.convolve also takes arrays without dimensions."""
    generic.signal.require_signals(x1, x2, mode)
    return _np.convolve(x1, x2, mode)


def correlate(x1: Array, x2: Array, /, mode: str = "valid") -> Array:
    """np.correlate also takes arrays without dimensions."""
    generic.signal.require_signals(x1, x2, mode)
    return _np.correlate(x1, x2, mode)


def polyval(p: Array, x: Any, /) -> Array:
    """np.polyval also takes coefficients of more dimensions, and makes an array of a number."""
    require_all_numbers("polyval", p, x)
    generic.signal.require_coefficients(p)
    return np.polyval(p, x if hasattr(x, "dtype") else np.full((), x, np.result_type(p, x)))


def interp(
    x: Any, xp: Array, fp: Array, /, *, left: Any = None, right: Any = None, period: float | None = None
) -> Array:
    """np.interp computes in float64, also for float32."""
    are_doubles = fp.dtype.char == xp.dtype.char == getattr(getattr(x, "dtype", None), "char", "d") == "d"
    if not are_doubles:
        require_all_numbers("interp", x, xp, fp)
    try:
        found: Array = np.interp(x, xp, fp, left, right, period)
    except (TypeError, ValueError):
        generic.common.require_vector("xp", xp)
        generic.common.require_vector("fp", fp)
        generic.common.require_real(np, *(a for a in (x, xp) if hasattr(a, "dtype")))
        raise
    if are_doubles:
        return found
    if any(a.dtype.kind in "biu" for a in (xp, fp)):
        return found
    dtypes = [a.dtype for a in (x, xp, fp) if hasattr(a, "dtype")]
    narrow = [dtype for dtype in dtypes if dtype.kind == "V"]
    if narrow:  # NumPy promotes bfloat16 with few dtypes
        others = [dtype for dtype in dtypes if dtype.kind in "fc"]
        dtypes = [*others, np.dtype(np.float32)] if others else narrow[:1]
    return found.astype(np.result_type(*dtypes), copy=False)


def trapezoid(y: Array, x: Any = None, /, *, dx: float = 1.0, axis: int = -1) -> Array:
    """np.trapezoid for float64 and wider dtypes: of others it adds neighbours in their dtype, one after the other."""
    if y.dtype.kind not in NUMBERS or x is not None:
        require_all_numbers("trapezoid", y, x)
    axis = generic.common.normal_axis(axis, y.ndim)
    if x is not None:
        generic.signal.require_coordinates(y, x, axis)
        x = x if x.dtype.kind in "fc" else x.astype(y.dtype if y.dtype.kind in "fc" else np.float64)
    y = y if y.dtype.kind in "fc" else y.astype(np.float64)
    if y.dtype.char in sums.EXACT or (x is None and (y.ndim == 1 or y.shape[axis] <= sums.BLOCK)):
        return np.trapezoid(y, x, dx, axis)
    lower, upper = (generic.common.part(y, axis, start, stop) for start, stop in ((0, -1), (1, None)))
    if x is None:
        ends = y.take(0, axis) / 2 + y.take(-1, axis) / 2
        return (sums.sum(generic.common.part(y, axis, 1, -1), axis) + ends) * y.dtype.type(dx)
    step = np.diff(x, axis=0 if x.ndim == 1 else axis)
    if x.ndim == 1:
        step = step.reshape(-1, *(1,) * (y.ndim - axis - 1))
    return sums.sum(step * (lower + upper), axis) / 2


def gradient(x: Array, /, *spacing: Any, axis: _Axes = None, edge_order: int = 1) -> Any:
    """np.gradient, without default options, which cost time in its wrapper."""
    if x.dtype.kind not in NUMBERS or spacing:
        require_all_numbers("gradient", x, *spacing)
    vectors = [each for each in spacing if np.ndim(each)]
    if x.dtype.char == "f" and vectors and all(each.dtype.char == "f" for each in vectors):
        # The products of two distances overflow in NumPy.
        return generic.signal.gradient(_np, x, *spacing, axis=axis, edge_order=edge_order)
    if axis is None and edge_order == 1:
        return _np.gradient(x, *spacing)
    return _np.gradient(x, *spacing, axis=axis, edge_order=edge_order)
