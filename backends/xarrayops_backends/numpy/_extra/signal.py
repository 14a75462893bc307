"""Convolution, interpolation, gradients and polynomials."""

from __future__ import annotations

from typing import Any

import numpy as np

from xarrayops.plugin import Array
from xarrayops.plugin.generic import common, signal
from xarrayops.plugin.host import NUMBERS
from xarrayops_backends.numpy._guard import require_all_numbers as _require_numbers

_np: Any = np
"""Typed as Any: the overloads of these functions do not know arrays of any dtype."""
_Axes = int | tuple[int, ...] | None


def convolve(x1: Array, x2: Array, /, mode: str = "full") -> Array:
    """np.convolve also takes arrays without dimensions."""
    signal.require_signals(x1, x2, mode)
    return _np.convolve(x1, x2, mode)


def correlate(x1: Array, x2: Array, /, mode: str = "valid") -> Array:
    """np.correlate also takes arrays without dimensions."""
    signal.require_signals(x1, x2, mode)
    return _np.correlate(x1, x2, mode)


def polyval(p: Array, x: Any, /) -> Array:
    """np.polyval also takes coefficients of more dimensions, and makes an array of a number."""
    _require_numbers("polyval", p, x)
    signal.require_coefficients(p)
    return np.polyval(p, x if hasattr(x, "dtype") else np.full((), x, np.result_type(p, x)))


def interp(
    x: Any, xp: Array, fp: Array, /, *, left: Any = None, right: Any = None, period: float | None = None
) -> Array:
    """np.interp computes in float64, also for float32."""
    found: Array = np.interp(x, xp, fp, left, right, period)
    dtype = np.result_type(x, xp, fp, np.float16) if hasattr(x, "dtype") else np.result_type(xp, fp, np.float16)
    return found.astype(dtype, copy=False) if all(a.dtype.kind in "fc" for a in (xp, fp)) else found


def trapezoid(y: Array, x: Any = None, /, *, dx: float = 1.0, axis: int = -1) -> Array:
    """np.trapezoid also takes its options by position."""
    if y.dtype.kind not in NUMBERS or x is not None:
        _require_numbers("trapezoid", y, x)
    if x is not None:
        signal.require_coordinates(y, x, common.normal_axis(axis, y.ndim))
        x = x.astype(y.dtype) if x.dtype.kind not in "fc" and y.dtype.kind in "fc" else x
    return np.trapezoid(y, x, dx, axis)


def gradient(x: Array, /, *spacing: Any, axis: _Axes = None, edge_order: int = 1) -> Any:
    """np.gradient, without default options, which cost time in its wrapper."""
    if x.dtype.kind not in NUMBERS or spacing:
        _require_numbers("gradient", x, *spacing)
    if axis is None and edge_order == 1:
        return _np.gradient(x, *spacing)
    return _np.gradient(x, *spacing, axis=axis, edge_order=edge_order)
