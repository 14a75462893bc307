"""NumPy's own functions beyond the standard, where they mean what `xarrayops` promises for every library."""

from __future__ import annotations

from typing import Any

import numpy as np

from xarrayops.plugin import Array
from xarrayops.plugin.extended import pad_widths, require_counts

_np: Any = np
"""Typed as Any: the overloads of these functions do not know arrays of any dtype."""
_Axes = int | tuple[int, ...] | None
_OPTIONS = {
    **dict.fromkeys(("edge", "empty", "wrap"), ()),
    **dict.fromkeys(("maximum", "mean", "median", "minimum"), ("stat_length",)),
    **dict.fromkeys(("reflect", "symmetric"), ("reflect_type",)),
    "constant": ("constant_values",),
    "linear_ramp": ("end_values",),
}
"""The options of each mode of `pad`; NumPy refuses others."""


def pad(
    x: Array,
    /,
    pad_width: Any,
    mode: str = "constant",
    *,
    constant_values: Any = 0,
    end_values: Any = 0,
    stat_length: Any = None,
    reflect_type: str = "even",
) -> Array:
    """np.pad refuses the options of other modes, and takes a dict of widths since 2.2 only."""
    if mode == "constant" and type(pad_width) is not dict:
        return _np.pad(x, pad_width, mode, constant_values=constant_values)
    if mode not in _OPTIONS or reflect_type not in ("even", "odd") or isinstance(pad_width, dict):
        pad_width = pad_widths(x, pad_width, mode, reflect_type)
    given = {
        "constant_values": constant_values,
        "end_values": end_values,
        "stat_length": stat_length,
        "reflect_type": reflect_type,
    }
    return _np.pad(x, pad_width, mode, **{name: given[name] for name in _OPTIONS[mode]})


argpartition = np.argpartition
cbrt = np.cbrt
compress = np.compress
convolve = np.convolve
correlate = np.correlate
diag = np.diag
digitize = np.digitize
gradient = np.gradient
intersect1d = np.intersect1d
isclose = np.isclose
kron = np.kron
lexsort = np.lexsort
linalg_norm = np.linalg.norm
nan_to_num = np.nan_to_num
nanmax = np.nanmax
nanmin = np.nanmin
outer = np.outer
partition = np.partition
polyval = np.polyval
ptp = np.ptp
setdiff1d = np.setdiff1d
setxor1d = np.setxor1d
sliding_window_view = np.lib.stride_tricks.sliding_window_view
union1d = np.union1d


def bincount(x: Array, /, weights: Any = None, *, minlength: int = 0, length: int | None = None) -> Array:
    """np.bincount has no fixed length, sums in float64, and refuses uint64."""
    if x.ndim != 1 or x.dtype.kind not in "iub" or weights is not None or minlength < 0 or length is not None:
        require_counts(np, x, weights, minlength, length)
    if x.dtype.kind == "u":
        x = x.astype(np.int64)
    if length is not None:
        if x.size and x.max() >= length:
            kept = x < length
            x, weights = x[kept], weights if weights is None else weights[kept]
        minlength = length
    counts = np.bincount(x, weights, minlength)
    is_narrow = weights is not None and weights.dtype.kind == "f" and weights.dtype != counts.dtype
    return counts.astype(weights.dtype) if is_narrow else counts


def _reduced(x: Array, *, is_median: bool = False) -> Array:
    """x for a median or a quantile: no complex numbers, and numbers for booleans, which np.quantile cannot subtract."""
    if x.dtype.kind == "c":
        raise TypeError(f"complex numbers have no quantiles; the dtype of x is {x.dtype}")
    return x.astype(np.float64) if x.dtype.kind == "b" and not is_median else x


def median(x: Array, /, *, axis: _Axes = None, keepdims: bool = False) -> Array:
    """np.median orders complex numbers, too."""
    return np.median(_reduced(x, is_median=True), axis=axis, keepdims=keepdims)


def nanmedian(x: Array, /, *, axis: _Axes = None, keepdims: bool = False) -> Array:
    """np.nanmedian orders complex numbers, too."""
    return np.nanmedian(_reduced(x, is_median=True), axis=axis, keepdims=keepdims)


def _quantile(function: Any, x: Array, q: Any, axis: _Axes, method: str, keepdims: bool) -> Array:
    """NumPy has no quantile of no elements."""
    x = _reduced(x)
    if x.size:
        return function(x, q, axis=axis, method=method, keepdims=keepdims)
    filled = np.median(x, axis=axis, keepdims=keepdims)
    return np.full((*np.shape(q), *filled.shape), filled)


def percentile(x: Array, /, q: Any, *, axis: _Axes = None, method: str = "linear", keepdims: bool = False) -> Array:
    """See `_quantile`."""
    return _quantile(np.percentile, x, q, axis, method, keepdims)


def nanpercentile(x: Array, /, q: Any, *, axis: _Axes = None, method: str = "linear", keepdims: bool = False) -> Array:
    """See `_quantile`."""
    return _quantile(np.nanpercentile, x, q, axis, method, keepdims)


def quantile(x: Array, /, q: Any, *, axis: _Axes = None, method: str = "linear", keepdims: bool = False) -> Array:
    """See `_quantile`."""
    return _quantile(np.quantile, x, q, axis, method, keepdims)


def nanquantile(x: Array, /, q: Any, *, axis: _Axes = None, method: str = "linear", keepdims: bool = False) -> Array:
    """See `_quantile`."""
    return _quantile(np.nanquantile, x, q, axis, method, keepdims)


def nansum(x: Array, /, *, axis: _Axes = None, dtype: Any = None, keepdims: bool = False) -> Array:
    """np.nansum without the options of memory."""
    return np.nansum(x, axis=axis, dtype=dtype, keepdims=keepdims)


def nanmean(x: Array, /, *, axis: _Axes = None, keepdims: bool = False) -> Array:
    """np.nanmean without the options of memory."""
    return np.nanmean(x, axis=axis, keepdims=keepdims)


def nanstd(x: Array, /, *, axis: _Axes = None, correction: float = 0.0, keepdims: bool = False) -> Array:
    """np.nanstd, in which the correction is called ddof before NumPy 2.2."""
    return np.nanstd(x, axis=axis, ddof=correction, keepdims=keepdims)


def nanvar(x: Array, /, *, axis: _Axes = None, correction: float = 0.0, keepdims: bool = False) -> Array:
    """np.nanvar, in which the correction is called ddof before NumPy 2.2."""
    return np.nanvar(x, axis=axis, ddof=correction, keepdims=keepdims)


def atleast_nd(x: Array, /, ndim: int) -> Array:
    """A view with more axes."""
    return x if x.ndim >= ndim else x.reshape((*(1,) * (ndim - x.ndim), *x.shape))


def allclose(x1: Any, x2: Any, /, *, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> Array:
    """np.allclose returns a bool."""
    return np.bool_(np.allclose(x1, x2, rtol, atol, equal_nan))


def array_equal(x1: Array, x2: Array, /, *, equal_nan: bool = False) -> Array:
    """np.array_equal returns a bool."""
    return np.bool_(np.array_equal(x1, x2, equal_nan=equal_nan))


def fill_diagonal(x: Array, value: Any, /, *, wrap: bool = False) -> Array:
    """np.fill_diagonal writes its argument."""
    filled = x.copy()
    np.fill_diagonal(filled, value, wrap)
    return filled


def insert(x: Array, index: Any, values: Any, /, *, axis: int | None = None) -> Array:
    """np.insert takes the axis by position, too."""
    return np.insert(x, index, values, axis=axis)


def delete(x: Array, index: Any, /, *, axis: int | None = None) -> Array:
    """np.delete raises IndexError for a fraction."""
    if isinstance(index, float):
        raise TypeError(f"the index must be of integers, but it is {index!r}")
    return np.delete(x, index, axis=axis)


def average(x: Array, /, *, axis: _Axes = None, weights: Any = None, keepdims: bool = False) -> Array:
    """np.average raises ZeroDivisionError where the weights sum to 0."""
    if axis is None and weights is not None and weights.shape != x.shape:
        raise ValueError(f"weights must have the shape {x.shape} of x without axis=, but they have {weights.shape}")
    with np.errstate(divide="ignore", invalid="ignore"):
        if weights is None or (weights.shape == x.shape and not weights.sum(axis=axis).all()):
            weights = np.ones((), np.float64) if weights is None else weights
            total = np.multiply(x, weights).sum(axis=axis, keepdims=keepdims)
            return total / np.broadcast_to(weights, x.shape).sum(axis=axis, keepdims=keepdims)
        return _np.average(x, axis=axis, weights=weights, keepdims=keepdims)


def cov(
    x: Array,
    y: Any = None,
    /,
    *,
    rowvar: bool = True,
    correction: float = 1,
    fweights: Any = None,
    aweights: Any = None,
) -> Array:
    """np.cov calls the correction ddof, and computes in float64."""
    dtype = np.result_type(x, np.float64) if x.dtype.kind not in "fc" else x.dtype
    found: Array = np.cov(x, y, rowvar, ddof=correction, fweights=fweights, aweights=aweights, dtype=dtype)
    return found


def corrcoef(x: Array, y: Any = None, /, *, rowvar: bool = True) -> Array:
    """np.corrcoef computes in float64, unless it is given a dtype."""
    dtype = np.float64 if x.dtype.kind not in "fc" else np.result_type(x) if y is None else np.result_type(x, y)
    found: Array = np.corrcoef(x, y, rowvar, dtype=dtype)
    return found


def histogram(
    x: Array,
    /,
    bins: Any = 10,
    *,
    range: tuple[float, float] | None = None,
    density: bool = False,
    weights: Any = None,
) -> tuple[Array, Array]:
    """np.histogram takes names of estimators, too, and returns edges of the weights' dtype."""
    return np.histogram(x, bins, range, density, weights)


def interp(
    x: Any, xp: Array, fp: Array, /, *, left: Any = None, right: Any = None, period: float | None = None
) -> Array:
    """np.interp computes in float64, also for float32."""
    found: Array = np.interp(x, xp, fp, left, right, period)
    dtype = np.result_type(x, xp, fp, np.float16) if hasattr(x, "dtype") else np.result_type(xp, fp, np.float16)
    return found.astype(dtype) if all(a.dtype.kind in "fc" for a in (xp, fp)) else found


def trapezoid(y: Array, x: Any = None, /, *, dx: float = 1.0, axis: int = -1) -> Array:
    """np.trapezoid takes its options by position, too."""
    return np.trapezoid(y, x, dx, axis)
