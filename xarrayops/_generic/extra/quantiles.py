"""Medians and quantiles, by a sort along one axis.

The quantile q of n sorted values is at the virtual index h(n, q), which is 0 at the first value. Between two values it
is interpolated. The methods are those of NumPy: Hyndman and Fan, Sample quantiles in statistical packages, The American
Statistician 50 (1996), and four that select one of the two neighbours or take their mean.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from types import ModuleType
from typing import Any

from xarrayops._generic.extra import common
from xarrayops._generic.extra.common import Axes, Rows
from xarrayops.plugin.arrays import Array, Record

ROUNDED: dict[str, Callable[[Any, Any, Any], Any]] = {
    "inverted_cdf": lambda m, n, q: m.ceil(n * q) - 1,
    "closest_observation": lambda m, n, q: _to_even(m, n * q - 1.5),
    "lower": lambda m, n, q: m.floor((n - 1) * q),
    "higher": lambda m, n, q: m.ceil((n - 1) * q),
    "nearest": lambda m, n, q: m.round((n - 1) * q),
}
"""The index of the element that a method selects, by functions of ``m`` (floor, ceil, round)."""
_FITTED = {"hazen": 0.5, "weibull": 0.0, "median_unbiased": 1 / 3, "normal_unbiased": 3 / 8}
"""The plotting positions: Hyndman and Fan's alpha, which equals beta."""
METHODS = (*ROUNDED, *_FITTED, "averaged_inverted_cdf", "interpolated_inverted_cdf", "linear", "midpoint")


def by_sort(xp: ModuleType, x: Array, *indices: Any) -> list[Array]:
    """The elements of each row of x that are at indices in its order, in which NaNs are last.

    An index is an integer, a vector, or an array with the same number of indices for each row.
    """
    ordered = xp.sort(x, axis=-1)
    return [_element(xp, ordered, index) for index in indices]


def _element(xp: ModuleType, ordered: Array, index: Any) -> Array:
    if isinstance(index, int):
        return ordered[..., index]
    if index.ndim == 1:
        return xp.take(ordered, index, axis=-1)
    return xp.take_along_axis(ordered, index, axis=-1)


class Order(Record):
    """How elements are found by their place in the order of a row. The rows may be a block of all elements.

    Attributes
    ----------
    select : callable
        A function like `by_sort`.
    total : callable
        The sum of a number over all blocks.
    """

    select: Callable[..., list[Array]] = by_sort
    total: Callable[[Any], Any] = lambda number: number


_SORTED = Order()


def median(xp: ModuleType, x: Array, /, *, axis: Axes = None, keepdims: bool = False, order: Order = _SORTED) -> Array:
    """The mean of the two middle values, which are the same for an odd number."""
    flat = _rows(xp, x, axis, keepdims=keepdims, is_rounded=False)
    n = order.total(flat.values.shape[-1])
    if not n:
        return _nans(xp, flat)
    low, high, last = order.select(xp, flat.values, (n - 1) // 2, n // 2, n - 1)
    return xp.reshape(_poisoned(xp, middle(xp, low, high), last), flat.shape)


def middle(xp: ModuleType, low: Array, high: Array) -> Array:
    """The mean of two values, without overflow."""
    if xp.isdtype(low.dtype, "complex floating"):
        return xp.where(low == high, low, low * 0.5 + high * 0.5)  # the product of a complex infinity has NaN
    scale = _scale(xp, low * 0.5 + high * 0.5)
    return (low * scale + high * scale) * (0.5 / scale)


def _scale(xp: ModuleType, half: Array) -> Array:
    """A factor of both values: a half where twice as much as ``half`` overflows.

    It is not a constant, because compilers add ``low`` and ``high`` first in ``low * 0.5 + high * 0.5``.
    """
    is_small = xp.abs(half) <= 0.5 * float(xp.finfo(half.dtype).max)
    return common.astype(xp, is_small, half.dtype) * 0.5 + 0.5


def nanmedian(
    xp: ModuleType, x: Array, /, *, axis: Axes = None, keepdims: bool = False, order: Order = _SORTED
) -> Array:
    """The median of the values that are not NaN."""
    flat = _rows(xp, x, axis, keepdims=keepdims, is_rounded=False)
    if not flat.values.shape[-1]:
        return _nans(xp, flat)
    count = order.total(_numbers(xp, flat.values))[..., None]
    low, high = order.select(xp, flat.values, xp.maximum((count - 1) // 2, xp.zeros_like(count)), count // 2)
    return xp.reshape(middle(xp, low, high), flat.shape)


def percentile(xp: ModuleType, x: Array, /, q: Any, **options: Any) -> Array:
    """The quantile of ``q / 100``."""
    return quantile(xp, x, _hundredth(xp, x, q), **options)


def nanpercentile(xp: ModuleType, x: Array, /, q: Any, **options: Any) -> Array:
    """The quantile of ``q / 100``."""
    return nanquantile(xp, x, _hundredth(xp, x, q), **options)


def _hundredth(xp: ModuleType, x: Array, q: Any) -> Any:
    return (common.floating_beside(xp, q, x)[0] if hasattr(q, "dtype") else q) / 100


def quantile(
    xp: ModuleType,
    x: Array,
    /,
    q: Any,
    *,
    axis: Axes = None,
    method: str = "linear",
    keepdims: bool = False,
    order: Order = _SORTED,
) -> Array:
    """The elements at both sides of the virtual index, interpolated. NaNs sort to the end."""
    require_method(method)
    common.require_real(xp, x)
    flat = _rows(xp, x, axis, keepdims=keepdims, is_rounded=method in ROUNDED)
    n, prefix = order.total(flat.values.shape[-1]), getattr(q, "shape", ())
    if not n:
        return _nans(xp, flat, prefix)
    if not hasattr(q, "dtype"):
        require_probability(q)
        low, high, weight = neighbours(math, n, float(q), method)
        below, above, last = order.select(xp, flat.values, int(low), int(high), n - 1)
        return xp.reshape(_poisoned(xp, between(xp, below, above, weight), last), flat.shape)
    low, high, weight = neighbours(xp, n, _probabilities(xp, x, q), method)
    below, above, last = order.select(xp, flat.values, _as_index(xp, low), _as_index(xp, high), n - 1)
    found = _poisoned(xp, between(xp, below, above, weight), last[..., None])
    return xp.reshape(xp.moveaxis(found, -1, 0), (*prefix, *flat.shape))


def nanquantile(
    xp: ModuleType,
    x: Array,
    /,
    q: Any,
    *,
    axis: Axes = None,
    method: str = "linear",
    keepdims: bool = False,
    order: Order = _SORTED,
) -> Array:
    """Like `quantile`, with the number of values that are not NaN in each row instead of the length of the axis."""
    require_method(method)
    common.require_real(xp, x)
    flat = _rows(xp, x, axis, keepdims=keepdims, is_rounded=method in ROUNDED)
    if xp.isdtype(flat.values.dtype, "integral"):
        return quantile(xp, x, q, axis=axis, method=method, keepdims=keepdims, order=order)
    prefix = getattr(q, "shape", ())
    if not flat.values.shape[-1]:
        return _nans(xp, flat, prefix)
    if not hasattr(q, "dtype"):
        require_probability(q)
        wanted = xp.asarray([float(q)], dtype=flat.values.dtype, device=common.device_of(flat.values))
    else:
        wanted = _probabilities(xp, x, q)
    count = common.astype(xp, order.total(_numbers(xp, flat.values)), wanted.dtype)[..., None]
    low, high, weight = neighbours(xp, count, wanted, method)
    below, above = order.select(xp, flat.values, *(_as_index(xp, i) for i in (low, high)))
    found = between(xp, below, above, weight)
    return xp.reshape(xp.moveaxis(found, -1, 0), (*prefix, *flat.shape))


def require_method(method: str) -> None:
    """Raise for an unknown method."""
    if method not in METHODS:
        raise ValueError(f"method={method!r} is not one of {', '.join(sorted(METHODS))}")


def require_probability(q: float) -> None:
    """Raise unless a number is a probability."""
    if not 0 <= q <= 1:
        raise ValueError(f"q is {q!r}, but quantiles are from 0 to 1, and percentiles from 0 to 100")


def neighbours(m: Any, n: Any, q: Any, method: str) -> tuple[Any, Any, Any]:
    """The indices of the elements below and above the virtual index, and the weight of the upper one.

    ``m`` is the module `math` for numbers, or the namespace of the arrays. The weight is None if the method selects an
    element.
    """
    m = _Rounding if m is math else m
    if method in ROUNDED:
        index = _limited(m, ROUNDED[method](m, n, q), n)
        return index, index, None
    if method in _FITTED:
        alpha = _FITTED[method]
        h = n * q + (alpha + q * (1 - 2 * alpha)) - 1
    else:
        h = (n - 1) * q if method in ("linear", "midpoint") else n * q - 1
    low = m.floor(h)
    weight = h - low
    if method == "midpoint":
        weight = 0.5 * m.ceil(weight)
    elif method == "averaged_inverted_cdf":
        weight = 0.5 * (1 + m.ceil(weight))
    return _limited(m, low, n), _limited(m, low + 1, n), weight


class _Rounding:
    """Functions of numbers that return floating-point numbers, as the array functions do."""

    floor = staticmethod(lambda x: float(math.floor(x)))
    ceil = staticmethod(lambda x: float(math.ceil(x)))
    round = staticmethod(lambda x: float(round(x)))
    maximum, minimum = max, min


def _limited(m: Any, index: Any, n: Any) -> Any:
    """The index, clipped to n elements."""
    return m.maximum(m.minimum(index, n - 1), 0 * index)


def _to_even(m: Any, h: Any) -> Any:
    """The upper index, except at odd integers: halves are rounded to the even index, counted from 1."""
    low = m.floor(h)
    is_odd = low - 2 * m.floor(low / 2)
    return low + 1 - is_odd * (1 - m.ceil(h - low))


def _rows(xp: ModuleType, x: Array, axis: Axes, *, keepdims: bool, is_rounded: bool) -> Rows:
    keeps = is_rounded and not xp.isdtype(x.dtype, "bool")
    return common.rows(xp, x if keeps else common.floating(xp, x), axis, keepdims=keepdims)


def _nans(xp: ModuleType, flat: Rows, prefix: tuple[int, ...] = ()) -> Array:
    """The result for empty input."""
    if xp.isdtype(flat.values.dtype, "integral"):
        raise ValueError("an empty integer array has no quantile by this method")
    return xp.full((*prefix, *flat.shape), math.nan, dtype=flat.values.dtype, device=common.device_of(flat.values))


def _poisoned(xp: ModuleType, found: Array, last: Array) -> Array:
    """NaN for rows that contain NaN: it is then their last element."""
    return found if xp.isdtype(last.dtype, "integral") else xp.where(xp.isnan(last), last, found)


def _probabilities(xp: ModuleType, x: Array, q: Array) -> Array:
    return xp.reshape(common.floating_beside(xp, q, x)[0], (-1,))


def _as_index(xp: ModuleType, index: Array) -> Array:
    """Indices as integers; NaN becomes 0."""
    return xp.astype(xp.where(xp.isnan(index), xp.zeros_like(index), index), common.index_dtype(xp, index))


def between(xp: ModuleType, low: Array, high: Array, weight: Any) -> Array:
    """The linear interpolation, from the nearer end: it is exact at both, and does not overflow."""
    if weight is None:
        return low
    scale = _scale(xp, high * 0.5 - low * 0.5)
    low, high = low * scale, high * scale
    step = high - low
    if not hasattr(weight, "dtype"):
        return (low + step * weight if weight < 0.5 else high - step * (1 - weight)) / scale
    return xp.where(weight < 0.5, low + step * weight, high - step * (1 - weight)) / scale


def _numbers(xp: ModuleType, x: Array) -> Array:
    """The number of non-NaN elements in each row. Without any, the first element is a NaN."""
    return xp.count_nonzero(~xp.isnan(x), axis=-1)
