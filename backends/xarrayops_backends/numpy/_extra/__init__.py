"""NumPy's own functions beyond the standard, where they mean what `xarrayops` promises for every library."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from xarrayops.plugin import Array
from xarrayops.plugin.generic import common, counting, padding, shaping, signal, statistics
from xarrayops.plugin.host import NUMBERS, sums
from xarrayops_backends.numpy._extra.quantiles import (
    median as median,
    nanmedian as nanmedian,
    nanpercentile as nanpercentile,
    nanquantile as nanquantile,
    percentile as percentile,
    quantile as quantile,
)
from xarrayops_backends.numpy._extra.windows import (
    bartlett as bartlett,
    blackman as blackman,
    geomspace as geomspace,
    hamming as hamming,
    hanning as hanning,
    kaiser as kaiser,
    logspace as logspace,
)
from xarrayops_backends.numpy._guard import require_all_numbers as _require_numbers

_np: Any = np
"""Typed as Any: the overloads of these functions do not know arrays of any dtype."""
_Axes = int | tuple[int, ...] | None
_OPTIONS = {
    **dict.fromkeys(("edge", "empty", "wrap"), ()),
    **dict.fromkeys(("maximum", "mean", "median", "minimum"), ("stat_length",)),
    **dict.fromkeys(("reflect", "symmetric"), ("reflect_type",)),
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
    if mode == "constant":
        return _surrounded(
            x,
            padding.pad_widths(x, pad_width, mode, reflect_type),
            padding.pairs("constant_values", constant_values, x.ndim),
        )
    if mode not in _OPTIONS or reflect_type not in ("even", "odd") or isinstance(pad_width, dict):
        pad_width = padding.pad_widths(x, pad_width, mode, reflect_type)
    given = {
        "constant_values": constant_values,
        "end_values": end_values,
        "stat_length": stat_length,
        "reflect_type": reflect_type,
    }
    return _np.pad(x, pad_width, mode, **{name: given[name] for name in _OPTIONS[mode]})


def _surrounded(x: Array, widths: list[tuple[int, int]], values: list[tuple[Any, Any]]) -> Array:
    """x in the middle of a new array, and constants at both ends of each axis."""
    shape = tuple([before + n + after for n, (before, after) in zip(x.shape, widths, strict=True)])
    out = np.empty(shape, x.dtype, "F" if x.flags.fnc else "C")
    inner = tuple([slice(before, before + n) for n, (before, _) in zip(x.shape, widths, strict=True)])
    out[inner] = x
    for axis, ((before, after), (first, last)) in enumerate(zip(widths, values, strict=True)):
        start = (slice(None),) * axis
        out[(*start, slice(before))] = first
        out[(*start, slice(shape[axis] - after, None))] = last
    return out


argpartition = np.argpartition
cbrt = np.cbrt
digitize = np.digitize
intersect1d = np.intersect1d
isclose = np.isclose
kron = np.kron
lexsort = np.lexsort
nan_to_num = np.nan_to_num
outer = np.outer
partition = np.partition
setdiff1d = np.setdiff1d
setxor1d = np.setxor1d
sliding_window_view = np.lib.stride_tricks.sliding_window_view
union1d = np.union1d


def bincount(x: Array, /, weights: Any = None, *, minlength: int = 0, length: int | None = None) -> Array:
    """np.bincount has no fixed length, sums in float64, and refuses uint64. It is tried first: checks cost time."""
    if length is not None:
        counts = _checked_bincount(x, weights, minlength, length)
    else:
        try:
            counts = np.bincount(x, weights, minlength)
        except (TypeError, ValueError):
            counts = _checked_bincount(x, weights, minlength, None)
    is_narrow = weights is not None and weights.dtype.kind == "f" and weights.dtype != counts.dtype
    return counts.astype(weights.dtype) if is_narrow else counts


def _checked_bincount(x: Array, weights: Any, minlength: int, length: int | None) -> Array:
    _require_numbers("bincount", x, weights)
    counting.require_counts(np, x, weights, minlength, length)
    if x.dtype.kind == "u":
        x = x.astype(np.int64)
    if length is not None:
        if x.size and x.max() >= length:
            kept = x < length
            x, weights = x[kept], weights if weights is None else weights[kept]
        minlength = length
    return np.bincount(x, weights, minlength)


def convolve(x1: Array, x2: Array, /, mode: str = "full") -> Array:
    """np.convolve takes arrays without dimensions, too."""
    signal.require_signals(x1, x2, mode)
    return _np.convolve(x1, x2, mode)


def correlate(x1: Array, x2: Array, /, mode: str = "valid") -> Array:
    """np.correlate takes arrays without dimensions, too."""
    signal.require_signals(x1, x2, mode)
    return _np.correlate(x1, x2, mode)


def polyval(p: Array, x: Any, /) -> Array:
    """np.polyval takes coefficients of more dimensions, too, and makes an array of a number."""
    _require_numbers("polyval", p, x)
    signal.require_coefficients(p)
    return np.polyval(p, x if hasattr(x, "dtype") else np.full((), x, np.result_type(p, x)))


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


def atleast_nd(x: Array, /, ndim: int) -> Array:
    """A view with more axes."""
    return x if x.ndim >= ndim else x.reshape((*(1,) * (ndim - x.ndim), *x.shape))


def allclose(x1: Any, x2: Any, /, *, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> Array:
    """np.allclose returns a bool."""
    return np.bool_(np.allclose(x1, x2, rtol, atol, equal_nan))


def array_equal(x1: Array, x2: Array, /, *, equal_nan: bool = False) -> Array:
    """np.array_equal returns a bool."""
    if x1.dtype.kind not in NUMBERS or x2.dtype.kind not in NUMBERS:
        _require_numbers("array_equal", x1, x2)
    if equal_nan:
        return np.bool_(np.array_equal(x1, x2, equal_nan=True))
    return np.bool_(False) if x1.shape != x2.shape else (x1 == x2).all()


def compress(condition: Array, x: Array, /, *, axis: int | None = None) -> Array:
    """The method, without the wrapper of np.compress."""
    return x.compress(condition, axis)


def diag(x: Array, /, k: int = 0) -> Array:
    """The method for matrices, without the wrapper of np.diag."""
    return x.diagonal(k) if x.ndim == 2 else np.diag(x, k)


def fill_diagonal(x: Array, value: Any, /, *, wrap: bool = False) -> Array:
    """np.fill_diagonal writes its argument; a number is written to a slice."""
    if x.dtype.kind not in NUMBERS:
        _require_numbers("fill_diagonal", x)
    filled = x.copy()
    if getattr(value, "ndim", 0):
        np.fill_diagonal(filled, value, wrap)
    else:
        start, stop, step = shaping.diagonal_slice(x.shape, wrap)
        filled.reshape(-1)[start:stop:step] = value
    return filled


def insert(x: Array, index: Any, values: Any, /, *, axis: int | None = None) -> Array:
    """np.insert takes the axis by position, too."""
    _require_numbers("insert", x, values)
    return np.insert(x, index, values, axis)


def delete(x: Array, index: Any, /, *, axis: int | None = None) -> Array:
    """np.delete raises IndexError for a fraction. Around one element of a vector, the pieces are joined."""
    if type(index) is int and x.ndim == 1 and 0 <= index < x.shape[0]:
        return np.concatenate((x[:index], x[index + 1 :]))
    if isinstance(index, float):
        raise TypeError(f"the index must be of integers, but it is {index!r}")
    return np.delete(x, index, axis)


def average(x: Array, /, *, axis: _Axes = None, weights: Any = None, keepdims: bool = False) -> Array:
    """np.average raises ZeroDivisionError where the weights sum to 0."""
    if x.dtype.kind not in NUMBERS or weights is not None:
        _require_numbers("average", x, weights)
    if weights is None:
        return sums.mean(x, axis, keepdims)
    if weights.shape != x.shape:
        weights = statistics.along(np, weights, x, axis)
    floating = [a for a in (x, weights) if a.dtype.kind in "fc"]
    dtype = np.result_type(*floating) if floating else np.dtype(np.float64)
    # The sum of half types can overflow them although the average does not.
    wide = np.dtype(np.float32) if sums.is_half(dtype) else dtype
    total = np.multiply(x, weights, dtype=wide).sum(axis, keepdims=keepdims)
    with np.errstate(divide="ignore", invalid="ignore"):
        return (total / weights.sum(axis, wide, keepdims=keepdims)).astype(dtype, copy=False)


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
    if x.dtype.kind not in NUMBERS or y is not None:
        _require_numbers("cov", x, y)
    if fweights is not None or aweights is not None:
        _require_numbers("cov", fweights, aweights)
        count = x.shape[-1 if rowvar or x.ndim < 2 else 0] if x.ndim else 1
        statistics.require_observations("fweights", fweights, count)
        statistics.require_observations("aweights", aweights, count)
    dtype = _of_variables(x, y)
    found: Array = np.cov(x, y, rowvar, ddof=correction, fweights=fweights, aweights=aweights, dtype=dtype)
    return found.astype(dtype, copy=False)


def corrcoef(x: Array, y: Any = None, /, *, rowvar: bool = True) -> Array:
    """np.corrcoef computes in float64, unless it is given a dtype."""
    found: Array = np.corrcoef(x, y, rowvar, dtype=_of_variables(x, y))
    return found


def _of_variables(x: Array, y: Any) -> Any:
    """The dtype of a covariance: the dtype of the variables, where integers count as float64."""
    return np.result_type(*(a if a.dtype.kind in "fc" else np.float64 for a in (x, y) if a is not None))


def histogram(
    x: Array,
    /,
    bins: Any = 10,
    *,
    range: tuple[float, float] | None = None,
    density: bool = False,
    weights: Any = None,
) -> tuple[Array, Array]:
    """np.histogram takes complex numbers, too, and has densities in double precision, also of float32."""
    if x.dtype.kind == "c":
        raise TypeError(f"complex numbers have no order; the dtype of x is {x.dtype}")
    if weights is not None and weights.dtype.kind in "biu":
        weights = weights.astype(np.float64)
    found, edges = np.histogram(x, bins, range, density, weights)
    if not density:
        return found, edges
    dtype = weights.dtype if weights is not None else x.dtype if x.dtype.kind == "f" else np.float64
    return found.astype(dtype, copy=False), edges


def interp(
    x: Any, xp: Array, fp: Array, /, *, left: Any = None, right: Any = None, period: float | None = None
) -> Array:
    """np.interp computes in float64, also for float32."""
    found: Array = np.interp(x, xp, fp, left, right, period)
    dtype = np.result_type(x, xp, fp, np.float16) if hasattr(x, "dtype") else np.result_type(xp, fp, np.float16)
    return found.astype(dtype, copy=False) if all(a.dtype.kind in "fc" for a in (xp, fp)) else found


def trapezoid(y: Array, x: Any = None, /, *, dx: float = 1.0, axis: int = -1) -> Array:
    """np.trapezoid takes its options by position, too."""
    if y.dtype.kind not in NUMBERS or x is not None:
        _require_numbers("trapezoid", y, x)
    if x is not None:
        signal.require_coordinates(y, x, common.normal_axis(axis, y.ndim))
        x = x.astype(y.dtype) if x.dtype.kind not in "fc" and y.dtype.kind in "fc" else x
    return np.trapezoid(y, x, dx, axis)


def ptp(x: Array, /, *, axis: _Axes = None, keepdims: bool = False) -> Array:
    """Two reductions, without the wrapper of np.ptp."""
    return _np.maximum.reduce(x, axis, keepdims=keepdims) - _np.minimum.reduce(x, axis, keepdims=keepdims)


def _extreme(reduce: Any) -> Any:
    """The reduction by np.fmax or np.fmin, which choose the other one of a number and NaN."""

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


def gradient(x: Array, /, *spacing: Any, axis: _Axes = None, edge_order: int = 1) -> Any:
    """np.gradient; options that are not given cost time in its wrapper."""
    if x.dtype.kind not in NUMBERS or spacing:
        _require_numbers("gradient", x, *spacing)
    if axis is None and edge_order == 1:
        return _np.gradient(x, *spacing)
    return _np.gradient(x, *spacing, axis=axis, edge_order=edge_order)
