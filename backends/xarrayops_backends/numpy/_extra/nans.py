"""Reductions that leave out NaN."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from xarrayops.plugin import Array
from xarrayops.plugin.host import sums

_Axes = int | tuple[int, ...] | None


nan_to_num = np.nan_to_num


def nansum(x: Array, /, *, axis: _Axes = None, dtype: Any = None, keepdims: bool = False) -> Array:
    """np.nansum without the options of memory. Half types are summed in float64 and rounded once."""
    if dtype is None and sums.is_half(x.dtype):
        return np.nansum(x, axis=axis, dtype=np.float64, keepdims=keepdims).astype(x.dtype)
    return np.nansum(x, axis=axis, dtype=dtype, keepdims=keepdims)


def nanmean(x: Array, /, *, axis: _Axes = None, keepdims: bool = False) -> Array:
    """np.nanmean without the options of memory. Half types are summed in float64 and rounded once."""
    if sums.is_half(x.dtype):
        return np.nanmean(x, axis=axis, dtype=np.float64, keepdims=keepdims).astype(x.dtype)
    return np.nanmean(x, axis=axis, keepdims=keepdims)


def nanstd(x: Array, /, *, axis: _Axes = None, correction: float = 0.0, keepdims: bool = False) -> Array:
    """np.nanstd, in which the correction is called ddof before NumPy 2.2."""
    return np.nanstd(x, axis=axis, ddof=correction, keepdims=keepdims)


def nanvar(x: Array, /, *, axis: _Axes = None, correction: float = 0.0, keepdims: bool = False) -> Array:
    """np.nanvar, in which the correction is called ddof before NumPy 2.2."""
    return np.nanvar(x, axis=axis, ddof=correction, keepdims=keepdims)


def _extreme(reduce: Any) -> Any:
    """The reduction by np.fmax or np.fmin, which return the number if one operand is NaN."""

    def function(x: Array, /, *, axis: _Axes = None, keepdims: bool = False) -> Array:
        if x.dtype.kind == "c":
            raise TypeError(f"complex numbers have no order; the dtype of x is {x.dtype}")
        found = reduce(x, axis, keepdims=keepdims)
        is_nan = found != found
        if is_nan if not found.ndim else is_nan.any():
            warnings.warn("All-NaN slice encountered", RuntimeWarning, stacklevel=3)
        return found

    return function


nanmax, nanmin = _extreme(np.fmax.reduce), _extreme(np.fmin.reduce)
