"""Functions whose NumPy kernels or chunks do not follow the standard: elementwise functions, transforms, reductions.

Dask requires that every axis of a Fourier transform is one chunk, so the axes are rechunked first. Many of its
reductions lose data if a chunk has length 0, and are correct otherwise.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, wraps
from typing import Any

import numpy as np

from xarrayops.plugin import Array
from xarrayops.plugin.host import sums
from xarrayops_backends.dask import _blocks
from xarrayops_backends.dask._blocks import compat, da
from xarrayops_backends.dask._standard.manipulation import reshape
from xarrayops_backends.numpy import _standard as _numpy


def clip(x: Array, /, min: Any = None, max: Any = None) -> Array:
    """Clip each chunk with the NumPy backend's clip, so that both backends treat bounds in the same way."""
    if min is None and max is None:
        return x.copy()
    given = [bound for bound in (min, max) if bound is not None]
    kernel = partial(_clipped, has_min=min is not None)
    return da.core.elemwise(kernel, x, *given, dtype=x.dtype)


def _clipped(x: Any, *bounds: Any, has_min: bool) -> Any:
    return _numpy.clip(x, *bounds) if has_min else _numpy.clip(x, None, *bounds)


def floor_divide(x1: Any, x2: Any, /) -> Array:
    """Divide each chunk with the NumPy backend's floor_divide, which has the standard's values for infinities."""
    return da.core.elemwise(_numpy.floor_divide, x1, x2)


def expm1(x: Array, /) -> Array:
    """NumPy's complex expm1 gives NaN for infinities."""
    return da.map_blocks(_complex_expm1, x, dtype=x.dtype, meta=x._meta) if x.dtype.kind == "c" else da.expm1(x)


def _complex_expm1(x: Any) -> Any:
    """Real and imaginary parts computed separately, with the special values of C99 G.6.3.1.

    exp(-inf) is 0 at any angle, and the real part for +inf is infinite if the angle is not finite.
    """
    a, b = x.real, x.imag
    with np.errstate(invalid="ignore", over="ignore"):
        grown = np.expm1(a)
        # Adding 0 makes a negative zero positive, as the standard requires.
        real = np.where(b == 0, grown + 0.0, grown * np.cos(b) - 2 * np.sin(b / 2) ** 2)
        imag = np.where(b == 0, b, np.exp(a) * np.sin(b))
    endless = ~np.isfinite(b)
    real = np.where(endless & np.isinf(a), np.where(a < 0, -1, np.inf), real)
    imag = np.where(endless & (a == -np.inf), 0, imag)
    result = np.empty_like(x)
    result.real, result.imag = real, imag
    return result


def _one_axis(name: str) -> Callable[..., Array]:
    transform = getattr(compat.fft, name)

    def fft(x: Array, /, *, n: int | None = None, axis: int = -1, norm: str = "backward") -> Array:
        return transform(x.rechunk({axis: -1}), n=n, axis=axis, norm=norm)

    return fft


def _many_axes(name: str) -> Callable[..., Array]:
    transform = getattr(compat.fft, name)

    def fftn(x: Array, /, *, s: Any = None, axes: Any = None, norm: str = "backward") -> Array:
        if axes is None:
            axes = range(x.ndim) if s is None else range(-len(s), 0)
        axes = tuple(axes)
        return transform(x.rechunk(dict.fromkeys(axes, -1)), s=s, axes=axes, norm=norm)

    return fftn


fft_fft, fft_ifft, fft_rfft, fft_irfft, fft_hfft, fft_ihfft = map(
    _one_axis, ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")
)
fft_fftn, fft_ifftn, fft_rfftn, fft_irfftn = map(_many_axes, ("fftn", "ifftn", "rfftn", "irfftn"))


def _without_empty_chunks(function: Callable[..., Array]) -> Callable[..., Array]:
    @wraps(function)
    def wrapped(x: Array, /, **options: Any) -> Array:
        return function(_blocks.without_empty_chunks(x), **options)

    return wrapped


cumulative_prod, flip = map(_without_empty_chunks, (compat.cumulative_prod, compat.flip))


def _narrow(x: Array, dtype: Any = None) -> Any:
    """The dtype of the result where NumPy's sums lose accuracy, and the one to compute in; None elsewhere."""
    dtype = x.dtype if dtype is None else np.dtype(dtype)
    return None if dtype.char in sums.EXACT else (dtype, np.dtype("c16" if dtype.kind == "c" else "f8"))


def sum(x: Array, /, *, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> Array:
    """Dask's sum, with a small error in narrow dtypes."""
    narrow = _narrow(x, dtype)
    if narrow is None or _is_no_axis(axis):
        return compat.sum(x, axis=axis, dtype=dtype, keepdims=keepdims)
    x = x if x.dtype == narrow[0] else x.astype(narrow[1])
    return _total(x, axis, keepdims, narrow[1]).astype(narrow[0])


def _is_no_axis(axis: Any) -> bool:
    """Whether axis is (). NumPy's integers compare elementwise with a tuple."""
    return isinstance(axis, tuple) and not axis


def _total(x: Array, axis: Any, keepdims: bool, wide: Any) -> Array:
    """The sum in double precision, so that it overflows in no chunk."""
    chunk = partial(_sum_of_chunk, wide=wide)
    return da.reduction(x, chunk, da.core.chunk.sum, axis=axis, keepdims=keepdims, dtype=wide)


def _sum_of_chunk(x: Any, axis: Any, keepdims: bool, wide: Any) -> Any:
    if not isinstance(x, np.ndarray) or sums.is_half(x.dtype):
        return x.sum(axis=axis, keepdims=keepdims, dtype=wide)
    total = sums.sum(x, axis, None, keepdims)
    return total.astype(wide) if np.isfinite(total).all() else x.sum(axis=axis, keepdims=keepdims, dtype=wide)


def mean(x: Array, /, *, axis: Any = None, keepdims: bool = False) -> Array:
    """Dask's mean, with a small error in narrow dtypes."""
    count, narrow = sums.count(x, axis), _narrow(x)
    if narrow is not None and not _is_no_axis(axis) and count >= 1:  # not of an unknown length
        return (_total(x, axis, keepdims, narrow[1]) / count).astype(x.dtype)
    return _moment(compat.mean, x, x.dtype, axis=axis, keepdims=keepdims)


def var(x: Array, /, *, axis: Any = None, correction: float = 0.0, keepdims: bool = False) -> Array:
    """Dask's var, with a small error in narrow dtypes."""
    return _moment(compat.var, x, x._meta.real.dtype, axis=axis, correction=correction, keepdims=keepdims)


def std(x: Array, /, *, axis: Any = None, correction: float = 0.0, keepdims: bool = False) -> Array:
    """Dask's std, with a small error in narrow dtypes."""
    return _moment(compat.std, x, x._meta.real.dtype, axis=axis, correction=correction, keepdims=keepdims)


def _moment(function: Callable[..., Array], x: Array, dtype: Any, **options: Any) -> Array:
    """The function of compat, computed in double precision for narrow dtypes."""
    x = _blocks.without_empty_chunks(x)
    narrow = _narrow(x)
    return function(x, **options) if narrow is None else function(x.astype(narrow[1]), **options).astype(dtype)


def cumulative_sum(x: Array, /, *, axis: int | None = None, dtype: Any = None, include_initial: bool = False) -> Array:
    """Dask's cumulative sum, with a small error in narrow dtypes."""
    x = _blocks.without_empty_chunks(x)
    options = {"axis": axis, "include_initial": include_initial}
    narrow = _narrow(x, dtype)
    if narrow is None:
        return compat.cumulative_sum(x, dtype=dtype, **options)
    return compat.cumulative_sum(x, dtype=narrow[1], **options).astype(narrow[0])


def argmax(x: Array, /, *, axis: int | None = None, keepdims: bool = False) -> Array:
    """Flatten first: over all axes, Dask returns the first maximum in the order of the chunks, not in C order."""
    return _arg(compat.argmax, x, axis, keepdims)


def argmin(x: Array, /, *, axis: int | None = None, keepdims: bool = False) -> Array:
    """Like argmax."""
    return _arg(compat.argmin, x, axis, keepdims)


def _arg(function: Callable[..., Array], x: Array, axis: int | None, keepdims: bool) -> Array:
    x = _blocks.without_empty_chunks(x)
    if axis is not None or x.ndim < 2 or x.npartitions == 1:
        return function(x, axis=axis, keepdims=keepdims)
    position = function(reshape(x, (-1,)), axis=0)
    return position[(None,) * x.ndim] if keepdims else position


def max(x: Array, /, *, axis: Any = None, keepdims: bool = False) -> Array:
    """Dask's max fails or returns a wrong shape if an axis that is not reduced is empty."""
    return _extremum(da.max, x, axis, keepdims)


def min(x: Array, /, *, axis: Any = None, keepdims: bool = False) -> Array:
    """Like max."""
    return _extremum(da.min, x, axis, keepdims)


def _extremum(function: Callable[..., Array], x: Array, axis: Any, keepdims: bool) -> Array:
    if x.size:
        return function(_blocks.without_empty_chunks(x), axis=axis, keepdims=keepdims)
    nothing = da.sum(x, axis=axis, keepdims=keepdims, dtype=x.dtype)
    if nothing.size:
        raise ValueError(f"an empty array of shape {x.shape} has no maximum or minimum along axis {axis}")
    return nothing
