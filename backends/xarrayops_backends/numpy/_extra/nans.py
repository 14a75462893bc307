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
    """The sum, with 0 for NaN."""
    if x.dtype.char in sums.EXACT:
        return np.nansum(x, axis=axis, dtype=dtype, keepdims=keepdims)
    return sums.sum(_filled(x, np.isnan(x)), axis, dtype, keepdims)


def _filled(x: Array, is_nan: Array) -> Array:
    """A copy of x with 0 for NaN, which takes less time than np.where."""
    filled = np.array(x)
    np.copyto(filled, 0, where=is_nan)
    return filled


def _is_exact(x: Array, axis: _Axes) -> bool:
    """Whether NumPy's own sums are within the bound."""
    return x.dtype.char in sums.EXACT or (x.dtype.char in "fF" and sums.count(x, axis) <= sums.BLOCK)


def nanmean(x: Array, /, *, axis: _Axes = None, keepdims: bool = False) -> Array:
    """np.nanmean, with a small error in narrow dtypes."""
    if _is_exact(x, axis):
        return np.nanmean(x, axis=axis, keepdims=keepdims)
    is_nan = np.isnan(x)
    count = _numbers(is_nan, axis, keepdims)
    if not np.all(count):
        warnings.warn("Mean of empty slice", RuntimeWarning, stacklevel=3)
    return _mean(x, is_nan, count, axis, keepdims)


def _numbers(is_nan: Array, axis: _Axes, keepdims: bool) -> Any:
    """The number of elements that are not NaN in each reduction."""
    return sums.count(is_nan, axis) - np.count_nonzero(is_nan, axis, keepdims=keepdims)


def _mean(x: Array, is_nan: Array, count: Any, axis: _Axes, keepdims: bool) -> Array:
    # The sum of half types can overflow them although the mean does not: it is divided before it is rounded.
    work = x.dtype if x.dtype.char in "fF" else np.float64
    with np.errstate(invalid="ignore"):
        return (sums.sum(_filled(x, is_nan), axis, work, keepdims) / count).astype(x.dtype)


def nanvar(x: Array, /, *, axis: _Axes = None, correction: float = 0.0, keepdims: bool = False) -> Array:
    """np.nanvar, in which the correction is called ddof before NumPy 2.2, with a small error in narrow dtypes."""
    if _is_exact(x, axis):
        return np.nanvar(x, axis=axis, ddof=correction, keepdims=keepdims)
    return _nanvar(x, axis, correction, keepdims)


def nanstd(x: Array, /, *, axis: _Axes = None, correction: float = 0.0, keepdims: bool = False) -> Array:
    """np.nanstd, in which the correction is called ddof before NumPy 2.2, with a small error in narrow dtypes."""
    if _is_exact(x, axis):
        return np.nanstd(x, axis=axis, ddof=correction, keepdims=keepdims)
    return np.sqrt(_nanvar(x, axis, correction, keepdims))


def _nanvar(x: Array, axis: _Axes, correction: float, keepdims: bool) -> Array:
    """The variance in two passes."""
    is_nan = np.isnan(x)
    freedom = _numbers(is_nan, axis, keepdims) - correction
    if np.any(freedom <= 0):
        warnings.warn("Degrees of freedom <= 0 for slice.", RuntimeWarning, stacklevel=3)
    mean = _mean(x, is_nan, _numbers(is_nan, axis, True), axis, True)
    centred = _filled(x - mean, is_nan)
    squares = centred * centred if x.dtype.kind == "f" else (centred * centred.conj()).real
    total = sums.sum(squares, axis, None, keepdims)
    return (total / np.where(freedom > 0, freedom, np.nan)).astype(total.dtype)


def _extreme(reduce: Any) -> Any:
    """The reduction by np.fmax or np.fmin, which return the number if one operand is NaN."""

    def function(x: Array, /, *, axis: _Axes = None, keepdims: bool = False) -> Array:
        found = reduce(x, axis, keepdims=keepdims)
        is_nan = found != found
        if is_nan if not found.ndim else is_nan.any():
            warnings.warn("All-NaN slice encountered", RuntimeWarning, stacklevel=3)
        return found

    return function


nanmax, nanmin = _extreme(np.fmax.reduce), _extreme(np.fmin.reduce)
