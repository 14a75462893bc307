# Long: a function for each name, by topic; see xarrayops/_generic/extra.
"""NumPy's own functions beyond the standard, where they follow the contract of `xarrayops`."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from xarrayops.plugin import Array, generic
from xarrayops.plugin.host import NUMBERS, sums
from xarrayops_backends.numpy._guard import require_all_numbers, require_numbers
from xarrayops_backends.numpy._standard import linalg_matrix_norm, linalg_vector_norm

_np: Any = np
"""Typed as Any: the overloads of some functions do not know arrays of any dtype."""
_Axes = int | tuple[int, ...] | None
argpartition, lexsort, partition = np.argpartition, np.lexsort, np.partition
cbrt, isclose, nan_to_num = np.cbrt, np.isclose, np.nan_to_num
intersect1d, setdiff1d, setxor1d, union1d = np.intersect1d, np.setdiff1d, np.setxor1d, np.union1d
kron, outer = np.kron, np.outer


def sliding_window_view(x: Array, /, window_shape: Any, axis: Any = None, *, step: Any = 1) -> Array:
    """A slice of np.lib.stride_tricks.sliding_window_view, which copies nothing."""
    windows = np.lib.stride_tricks.sliding_window_view(x, window_shape, axis)
    if type(step) is int and step == 1:
        return windows
    slices = [slice(None)] * x.ndim
    for a, _, distance in generic.shaping.windows(x, window_shape, axis, step):
        slices[a] = slice(None, None, distance)
    return windows[tuple(slices)]


# Comparisons, whose results are NumPy's booleans.


def allclose(x1: Any, x2: Any, /, *, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> Array:
    """np.allclose returns a bool."""
    return np.bool_(np.allclose(x1, x2, rtol, atol, equal_nan))


def array_equal(x1: Array, x2: Array, /, *, equal_nan: bool = False) -> Array:
    """np.array_equal returns a bool."""
    if x1.dtype.kind not in NUMBERS or x2.dtype.kind not in NUMBERS:
        require_all_numbers("array_equal", x1, x2)
    if equal_nan:
        return np.bool_(np.array_equal(x1, x2, equal_nan=True))
    return np.bool_(False) if x1.shape != x2.shape else (x1 == x2).all()


# Counts.


def bincount(x: Array, /, weights: Any = None, *, minlength: int = 0, length: int | None = None) -> Array:
    """np.bincount lacks a fixed length, sums in float64, and refuses uint64. It comes first: checks cost time."""
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
    require_all_numbers("bincount", x, weights)
    generic.counting.require_counts(np, x, weights, minlength, length)
    if x.dtype.kind == "u":
        x = x.astype(np.int64)
    if length is not None:
        if x.size and x.max() >= length:
            kept = x < length
            x, weights = x[kept], weights if weights is None else weights[kept]
        minlength = length
    return np.bincount(x, weights, minlength)


# Linear algebra.


def linalg_norm(x: Array, /, *, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Array:
    """The root of the sum of squares as in np.linalg.norm, without its checks and its copy of the conjugate."""
    if ord is None and x.dtype.kind == "f":
        if axis is None and not keepdims:
            return sums.root_of_squares(x)
        if type(axis) is int:
            return np.sqrt(sums.sum_along(x * x, axis, keepdims))
    require_all_numbers("linalg.norm", x)
    axes = generic.common.normal_axes(axis, x.ndim)
    if x.dtype.char not in "fF" or len(axes) not in (1, 2) or (len(axes) == 1 and isinstance(ord, str)):
        return np.linalg.norm(x, ord, generic.common.checked_axes(axis, x.ndim), keepdims)
    if len(axes) == 1:
        return linalg_vector_norm(x, axis=axes, keepdims=keepdims, ord=2 if ord is None else ord)
    found = linalg_matrix_norm(np.moveaxis(x, axes, (-2, -1)), ord="fro" if ord is None else ord)
    return np.expand_dims(found, axes) if keepdims else found


def linalg_cond(x: Array, /, *, p: Any = None) -> Array:
    """np.linalg.cond is infinite for singular matrices, but raises for p="nuc", singular values of their inverse."""
    require_all_numbers("linalg.cond", x)
    if isinstance(p, str) and p == "nuc" and x.size:
        return _nuclear_cond(x)
    return np.linalg.cond(x, p)


def _nuclear_cond(x: Array) -> Array:
    """The sum of the singular values times the sum of their inverses."""
    size = np.linalg.slogdet(x)[1]
    is_regular = np.isfinite(size)
    values = np.linalg.svd(np.where(is_regular[..., None, None], x, 0), compute_uv=False)
    with np.errstate(all="ignore"):
        found = values.sum(-1) * (1 / values).sum(-1)
    irregular = np.where(np.isnan(x).any((-2, -1)), np.nan, np.inf)
    return np.where(is_regular, found, irregular.astype(found.dtype))


def linalg_lstsq(x1: Array, x2: Array, /, *, rtol: float | None = None) -> tuple[Array, Array, Array, Array]:
    """np.linalg.lstsq lacks sums of squares for some ranks and shapes. It is tried first, because checks cost time."""
    try:
        solution, residuals, rank, values = np.linalg.lstsq(x1, x2, rtol)
    except (TypeError, ValueError):
        require_all_numbers("linalg.lstsq", x1, x2)
        generic.linalg.require_equations(x1, x2)
        raise
    if not residuals.size:
        errors = np.abs(x2 - x1 @ solution)
        residuals = np.atleast_1d((errors * errors).sum(0))
    return solution, residuals, np.int64(rank), values


# Reductions that leave out NaN.


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


# The greatest or the least elements.


def topk(x: Array, /, k: int, *, axis: int = -1, largest: bool = True) -> tuple[Array, Array]:
    """np.argpartition, and a sort of the k elements; NaN, the greatest, is last in the order of both."""
    if x.dtype.kind not in NUMBERS:
        require_numbers("topk", x)
    axis = generic.order.require_count(x, k, axis)
    n, start = x.shape[axis], (slice(None),) * axis
    if 0 < k < n:
        parted = np.argpartition(x, n - k if largest else k - 1, axis)
        chosen = parted[(*start, slice(n - k, None) if largest else slice(k))]
        order = np.take_along_axis(chosen, np.argsort(np.take_along_axis(x, chosen, axis), axis), axis)
    else:
        order = np.argsort(x, axis)[(*start, slice(k))]
    order = np.ascontiguousarray(order[(*start, slice(None, None, -1))]) if largest else order
    return np.take_along_axis(x, order, axis), order


# Padding, with a faster path for constants.


_OPTIONS = {
    **dict.fromkeys(("edge", "empty", "wrap"), ()),
    **dict.fromkeys(("maximum", "mean", "median", "minimum"), ("stat_length",)),
    **dict.fromkeys(("reflect", "symmetric"), ("reflect_type",)),
    "linear_ramp": ("end_values",),
}
"""The options of each mode of `pad`; NumPy refuses all others."""


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
            generic.padding.pad_widths(x, pad_width, mode, reflect_type),
            generic.padding.pairs("constant_values", constant_values, x.ndim),
        )
    if mode not in _OPTIONS or reflect_type not in ("even", "odd") or isinstance(pad_width, dict):
        pad_width = generic.padding.pad_widths(x, pad_width, mode, reflect_type)
    given = {
        "constant_values": constant_values,
        "end_values": end_values,
        "stat_length": stat_length,
        "reflect_type": reflect_type,
    }
    options = {name: given[name] for name in _OPTIONS[mode]}
    if (mode in ("mean", "median", "linear_ramp") or reflect_type == "odd") and x.dtype.char not in sums.EXACT:
        wide = np.complex128 if x.dtype.kind == "c" else np.float64  # sums and differences of neighbours
        return _np.pad(x.astype(wide), pad_width, mode, **options).astype(x.dtype)
    return _np.pad(x, pad_width, mode, **options)


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


# Medians and quantiles: complex numbers have a median only, and the quantile of no elements is NaN.


def median(x: Array, /, *, axis: _Axes = None, keepdims: bool = False) -> Array:
    """np.median without the options of memory."""
    return np.median(x, axis=axis, keepdims=keepdims)


def nanmedian(x: Array, /, *, axis: _Axes = None, keepdims: bool = False) -> Array:
    """np.nanmedian without the options of memory."""
    return np.nanmedian(x, axis=axis, keepdims=keepdims)


def _quantile(function: Any) -> Any:
    """A quantile of NumPy, which raises for no elements, and takes the dtype of the result from q."""

    def quantile(x: Array, /, q: Any, *, axis: _Axes = None, method: str = "linear", keepdims: bool = False) -> Array:
        if x.dtype.kind in "bc":
            if x.dtype.kind == "c":
                raise generic.common.unordered(x.dtype)
            x = x.astype(np.float64)  # np.quantile cannot subtract booleans
        options: dict[str, Any] = {"axis": axis, "method": method, "keepdims": keepdims}
        if type(q) is int:
            q = float(q)
        elif hasattr(q, "dtype") and q.dtype.kind not in "fc" and method not in generic.quantiles.ROUNDED:
            x = x if x.dtype.kind == "f" else x.astype(np.float64)
            return quantile(x, q.astype(np.float64), **options).astype(x.dtype, copy=False)
        if x.size:
            return function(x, q, **options)
        filled = np.median(x, axis=axis, keepdims=keepdims)
        return np.full((*np.shape(q), *filled.shape), filled)

    quantile.__name__ = quantile.__qualname__ = function.__name__
    quantile.__doc__ = _quantile.__doc__
    return quantile


percentile, nanpercentile = _quantile(np.percentile), _quantile(np.nanpercentile)
quantile, nanquantile = _quantile(np.quantile), _quantile(np.nanquantile)


# Diagonals, windows, insertion and deletion.


def atleast_nd(x: Array, /, ndim: int) -> Array:
    """A view with more axes."""
    return x if x.ndim >= ndim else x.reshape((*(1,) * (ndim - x.ndim), *x.shape))


def split(x: Array, indices_or_sections: Any, /, *, axis: int = 0) -> tuple[Array, ...]:
    """Slices, without the wrappers of np.split."""
    return generic.shaping.split(np, x, indices_or_sections, axis=axis)


def compress(condition: Array, x: Array, /, *, axis: int | None = None) -> Array:
    """The method, without the wrapper of np.compress."""
    return x.compress(condition, axis)


def diag(x: Array, /, k: int = 0) -> Array:
    """The method for matrices, without the wrapper of np.diag."""
    return x.diagonal(k) if x.ndim == 2 else np.diag(x, k)


def fill_diagonal(x: Array, value: Any, /, *, wrap: bool = False) -> Array:
    """np.fill_diagonal writes its argument; a number is written to a slice."""
    if x.dtype.kind not in NUMBERS:
        require_all_numbers("fill_diagonal", x)
    filled = x.copy()
    if getattr(value, "ndim", 0):
        np.fill_diagonal(filled, value, wrap)
    else:
        start, stop, step = generic.shaping.diagonal_slice(x.shape, wrap)
        filled.reshape(-1)[start:stop:step] = value
    return filled


def insert(x: Array, index: Any, values: Any, /, *, axis: int | None = None) -> Array:
    """np.insert also takes the axis by position."""
    require_all_numbers("insert", x, values)
    return np.insert(x, index, values, axis)


def delete(x: Array, index: Any, /, *, axis: int | None = None) -> Array:
    """np.delete raises IndexError for a fraction. Around one element of a vector, the pieces are joined."""
    if type(index) is int and x.ndim == 1 and 0 <= index < x.shape[0]:
        return np.concatenate((x[:index], x[index + 1 :]))
    if isinstance(index, float):
        raise TypeError(f"the index must be of integers, but it is {index!r}")
    return np.delete(x, index, axis)


# Convolution, interpolation, gradients and polynomials.


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
    dtype = np.result_type(x, xp, fp, np.float16) if hasattr(x, "dtype") else np.result_type(xp, fp, np.float16)
    return found.astype(dtype, copy=False) if all(a.dtype.kind in "fc" for a in (xp, fp)) else found


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


# Statistics.


def average(x: Array, /, *, axis: _Axes = None, weights: Any = None, keepdims: bool = False) -> Array:
    """np.average raises ZeroDivisionError where the weights sum to 0."""
    if x.dtype.kind not in NUMBERS or weights is not None:
        require_all_numbers("average", x, weights)
    if weights is None:
        return sums.mean(x, axis=axis, keepdims=keepdims)
    if weights.shape != x.shape:
        weights = generic.statistics.along(np, weights, x, axis)
    floating = [a for a in (x, weights) if a.dtype.kind in "fc"]
    dtype = np.result_type(*floating) if floating else np.dtype(np.float64)
    total = sums.sum(np.multiply(x, weights, dtype=dtype), axis, None, keepdims)
    with np.errstate(divide="ignore", invalid="ignore"):
        divisor = sums.sum(weights, axis, dtype, keepdims)
        return total / (generic.statistics.finite_or_nan(_np, divisor) if sums.has_overflowed(divisor) else divisor)


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
        require_all_numbers("cov", x, y)
    if fweights is not None or aweights is not None:
        require_all_numbers("cov", fweights, aweights)
        count = x.shape[-1 if rowvar or x.ndim < 2 else 0] if x.ndim else 1
        generic.statistics.require_observations("fweights", fweights, count)
        generic.statistics.require_observations("aweights", aweights, count)
    dtype = _of_variables(x, y)
    found: Array = np.cov(x, y, rowvar, ddof=correction, fweights=fweights, aweights=aweights, dtype=dtype)
    return found.astype(dtype, copy=False)


def corrcoef(x: Array, y: Any = None, /, *, rowvar: bool = True) -> Array:
    """np.corrcoef computes in float64, unless it is given a dtype."""
    return np.corrcoef(x, y, rowvar, dtype=_of_variables(x, y))


def _of_variables(x: Array, y: Any) -> Any:
    """The dtype of a covariance: the dtype of the variables, where integers count as float64."""
    return np.result_type(*(a if a.dtype.kind in "fc" else np.float64 for a in (x, y) if a is not None))


def histogram(
    x: Array, /, bins: Any = 10, *, density: bool = False, weights: Any = None, **options: Any
) -> tuple[Array, Array]:
    """np.histogram also takes complex numbers, and computes densities in double precision for float32."""
    if x.dtype.kind == "c":
        raise generic.common.unordered(x.dtype)
    if weights is not None and weights.dtype.kind in "biu":
        weights = weights.astype(np.float64)
    try:
        found, edges = np.histogram(x, bins, density=density, weights=weights, **options)
    except (ValueError, IndexError):  # the range of float32 may overflow; other errors are raised again
        if x.dtype.char != "f":
            raise
        found, edges = np.histogram(x.astype(np.float64), bins, density=density, weights=weights, **options)
        edges = edges.astype(x.dtype)
    if not density:
        return found, edges
    dtype = weights.dtype if weights is not None else x.dtype if x.dtype.kind == "f" else np.float64
    return found.astype(dtype, copy=False), edges


def digitize(x: Array, bins: Array, /, *, right: bool = False) -> Array:
    """np.digitize, whose error for complex numbers names a cast."""
    try:
        return np.digitize(x, bins, right)
    except (TypeError, ValueError):
        generic.common.require_vector("bins", bins)
        generic.common.require_real(np, x, bins)
        raise


def ptp(x: Array, /, *, axis: _Axes = None, keepdims: bool = False) -> Array:
    """Two reductions, without the wrapper of np.ptp."""
    return _np.maximum.reduce(x, axis, keepdims=keepdims) - _np.minimum.reduce(x, axis, keepdims=keepdims)


# Windows and scales: fractions as the number of values and ends of opposite signs raise.


def _window(function: Any) -> Any:
    """A window of NumPy, which also accepts fractions as the number of values."""

    def made(n: int, /, *parameters: float, periodic: bool = False, dtype: Any = None, device: Any = None) -> Array:
        values = function(generic.common.whole("n", n) + bool(periodic and n > 1), *parameters)[: max(n, 0)]
        return values.astype(np.float64 if dtype is None else dtype, copy=False)

    return made


bartlett, blackman, hamming, hanning, kaiser = map(
    _window, (np.bartlett, np.blackman, np.hamming, np.hanning, np.kaiser)
)


def logspace(start: float, stop: float, /, num: int = 50, *, device: Any = None, **options: Any) -> Array:
    """np.logspace also takes arrays."""
    return np.logspace(start, stop, num, **options)


def geomspace(start: float, stop: float, /, num: int = 50, *, device: Any = None, **options: Any) -> Array:
    """np.geomspace also takes numbers of opposite signs, with a complex result."""
    if num:
        generic.windows.require_ratio(start, stop)
    return np.geomspace(start, stop, num, **options)
