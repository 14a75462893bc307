"""Weighted means, covariances, histograms."""

from __future__ import annotations

import math
from types import ModuleType
from typing import Any

from xarrayops._generic.extra import common
from xarrayops._generic.extra.common import Axes
from xarrayops.plugin.arrays import Array


def average(xp: ModuleType, x: Array, /, *, axis: Axes = None, weights: Any = None, keepdims: bool = False) -> Array:
    """The sum of the products, divided by the sum of the weights."""
    axis = common.checked_axes(axis, x.ndim)
    if weights is None:
        return xp.mean(common.floating(xp, x), axis=axis, keepdims=keepdims)
    if tuple(weights.shape) != tuple(x.shape):
        weights = along(xp, weights, x, axis)
    x, weights = common.floating_beside(xp, x, weights)
    total = xp.sum(xp.multiply(x, weights), axis=axis, keepdims=keepdims)
    divisor = xp.sum(weights, axis=axis, keepdims=keepdims)
    return total / (finite_or_nan(xp, divisor) if xp.finfo(divisor.dtype).bits <= 32 else divisor)


def finite_or_nan(xp: ModuleType, total: Array) -> Array:
    """A divisor, with NaN for infinity: a finite number divided by a sum that overflowed would be 0."""
    return total + (total - total)


def along(xp: ModuleType, weights: Array, x: Array, axis: Axes) -> Array:
    """Weights for some axes, broadcastable to x."""
    axes = () if axis is None else common.normal_axes(axis, x.ndim)
    if not axes or tuple(weights.shape) != tuple(x.shape[each] for each in axes):
        shapes = f"{tuple(weights.shape)}, x {tuple(x.shape)}, and axis={axis}"
        raise ValueError(f"weights must have the shape of x or of the axes: they have {shapes}")
    weights = xp.permute_dims(weights, tuple(sorted(range(len(axes)), key=axes.__getitem__)))
    extents = tuple(extent if each in axes else 1 for each, extent in enumerate(x.shape))
    return xp.broadcast_to(xp.reshape(weights, extents), tuple(x.shape))


def cov(
    xp: ModuleType,
    x: Array,
    y: Any = None,
    /,
    *,
    rowvar: bool = True,
    correction: float = 1,
    fweights: Any = None,
    aweights: Any = None,
) -> Array:
    """The product of the centred variables with their conjugates."""
    data = _variables(xp, x, rowvar=rowvar or x.ndim < 2)
    if y is not None:
        other = _variables(xp, y, rowvar=rowvar or y.ndim < 2 or y.shape[0] == 1)  # as NumPy
        if other.shape[1] != data.shape[1]:
            raise ValueError(f"x has {data.shape[1]} observations, but y has {other.shape[1]}")
        data = xp.concat([data, other], axis=0)
    count = data.shape[1]
    for name, weights in (("fweights", fweights), ("aweights", aweights)):
        require_observations(name, weights, count)
    real = xp.real(data) if xp.isdtype(data.dtype, "complex floating") else data
    given = [xp.astype(w, real.dtype) for w in (fweights, aweights) if w is not None]
    if not given:
        centred = data - xp.mean(data, axis=1, keepdims=True)
        product = _products(xp, centred, centred)
        return _without_single(xp, product / (count - correction) if count > correction else product * math.nan)
    weights = given[0] if len(given) == 1 else given[0] * given[1]
    total = xp.sum(weights)
    mean = xp.sum(data * weights, axis=1, keepdims=True) / total
    rest = total - correction * (xp.sum(weights * given[-1]) / total if aweights is not None else 1)
    centred = data - mean
    return _without_single(xp, _products(xp, centred * weights, centred) / rest)


def _products(xp: ModuleType, x: Array, y: Array) -> Array:
    """The products of the variables with conjugates. Some libraries add those of two vectors one after the other."""
    if x.shape[0] == 1 and xp.finfo(x.dtype).bits <= 32:
        return xp.sum(x * xp.conj(y), axis=1, keepdims=True)
    return xp.matmul(x, xp.conj(xp.matrix_transpose(y)))


def require_observations(name: str, weights: Any, count: int) -> None:
    """Raise unless there is one weight for each observation."""
    if weights is not None and tuple(weights.shape) != (count,):
        raise ValueError(f"{name} must have the shape ({count},), but they have {tuple(weights.shape)}")


def _variables(xp: ModuleType, x: Array, *, rowvar: bool) -> Array:
    """The variables in rows."""
    if x.ndim > 2:
        raise ValueError(f"variables are a vector or the rows of a matrix, but the shape is {tuple(x.shape)}")
    x = xp.reshape(common.floating(xp, x), (1, -1)) if x.ndim < 2 else common.floating(xp, x)
    return x if rowvar else xp.matrix_transpose(x)


def _without_single(xp: ModuleType, matrix: Array) -> Array:
    return xp.reshape(matrix, ()) if matrix.shape == (1, 1) else matrix


def corrcoef(xp: ModuleType, x: Array, y: Any = None, /, *, rowvar: bool = True) -> Array:
    """The covariances, scaled so that the diagonal is 1."""
    found = cov(xp, x, y, rowvar=rowvar)
    if not found.ndim:
        return found / found
    diagonal = xp.linalg.diagonal(found)
    is_complex = xp.isdtype(found.dtype, "complex floating")
    deviation = xp.sqrt(xp.real(diagonal) if is_complex else diagonal)
    scaled = found / deviation[:, None] / deviation[None, :]
    if not is_complex:
        return xp.clip(scaled, -1.0, 1.0)
    return xp.clip(xp.real(scaled), -1.0, 1.0) + xp.clip(xp.imag(scaled), -1.0, 1.0) * 1j


def ptp(xp: ModuleType, x: Array, /, *, axis: Axes = None, keepdims: bool = False) -> Array:
    """The maximum minus the minimum."""
    axis = common.checked_axes(axis, x.ndim)
    return xp.subtract(xp.max(x, axis=axis, keepdims=keepdims), xp.min(x, axis=axis, keepdims=keepdims))


def digitize(xp: ModuleType, x: Array, bins: Array, /, *, right: bool = False) -> Array:
    """Search the bins, reversed if they decrease."""
    common.require_vector("bins", bins)
    common.require_real(xp, x, bins)
    side, count = "left" if right else "right", bins.shape[0]
    if count < 2:
        return xp.searchsorted(bins, x, side=side)
    falls = bins[0] > bins[-1]
    place = xp.searchsorted(xp.where(falls, xp.flip(bins), bins), x, side=side)
    return xp.where(falls, count - place, place)


def histogram(
    xp: ModuleType,
    x: Array,
    /,
    bins: Any = 10,
    *,
    range: tuple[float, float] | None = None,
    density: bool = False,
    weights: Any = None,
) -> tuple[Array, Array]:
    """Search the edges for the bin of each element, then count. An extra bin for elements outside is dropped."""
    common.require_real(xp, x)
    x = xp.reshape(x, (-1,))
    if weights is not None:
        if math.prod(weights.shape) != x.shape[0]:
            raise ValueError(f"weights must have the shape of x, but they have {tuple(weights.shape)}")
        weights = xp.reshape(weights, (-1,))
    edges = bin_edges(xp, x, bins, range)
    count = edges.shape[0] - 1
    is_one = x.dtype == edges.dtype
    data, limits = (each if is_one else common.doubled(xp, common.widest(xp, each)) for each in (x, edges))
    place = xp.searchsorted(limits[1:-1], data, side="right")
    is_inside = xp.greater_equal(data, limits[0]) & xp.less_equal(data, limits[-1])
    found = xp.bincount(xp.where(is_inside, place, xp.full_like(place, count)), weights, length=count)
    return (densities(xp, x, found, edges, weights) if density else found), edges


def densities(xp: ModuleType, x: Array, found: Array, edges: Array, weights: Any) -> Array:
    """The counts, or sums of weights, divided by the widths of the bins and the total."""
    dtype = common.floating(xp, x[:0]).dtype if weights is None else found.dtype
    found = common.widest(xp, found)
    return common.astype(xp, found / common.astype(xp, xp.diff(edges), found.dtype) / xp.sum(found), dtype)


def bin_edges(xp: ModuleType, x: Array, bins: Any, limits: tuple[float, float] | None, parts: Any = None) -> Array:
    """The given edges, or those of a number of equal bins. ``parts`` is that number, if it must be an array."""
    if getattr(bins, "ndim", 0):
        if bins.ndim != 1 or bins.shape[0] < 1:
            raise ValueError(f"bins must be a number or a vector of edges, but its shape is {tuple(bins.shape)}")
        return bins
    if not hasattr(bins, "__index__"):
        raise TypeError(f"bins must be an integer or a vector of edges, but it is {bins!r}")
    count = int(bins)
    if count < 1:
        raise ValueError(f"bins={count} is not positive")
    dtype = common.floating(xp, x[:0]).dtype
    limits = (0.0, 1.0) if limits is None and not x.shape[0] else limits
    if limits is not None:
        low, high = (float(limit) for limit in limits)
        if not (math.isfinite(high - low) and low <= high):
            raise ValueError(f"range={limits} is not finite and increasing")
        low, high = (low - 0.5, high + 0.5) if low == high else (low, high)
        return xp.linspace(low, high, count + 1, dtype=dtype, device=common.device_of(x))
    # The steps of NumPy: a value at an edge is in the same bin.
    steps = xp.arange(count + 1, dtype=dtype, device=common.device_of(x))
    first, last = (common.astype(xp, reduce(x), dtype) for reduce in (xp.min, xp.max))
    half = xp.where(first == last, xp.full_like(first, 0.5), xp.zeros_like(first))
    first, last = first - half, last + half
    inner = common.between(xp, first, last, steps, count if parts is None else parts)
    return xp.where(steps == count, last, inner)
