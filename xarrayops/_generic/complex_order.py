"""Complex numbers in NumPy's order: by real part, then by imaginary part, and numbers with NaN last.

Of the numbers with NaN, those whose imaginary part is NaN come first, then those whose real part is, then those with
two. As in NumPy, a number with NaN is neither less nor greater than another one, and a maximum or a minimum of elements
with NaN is the first of these.

The functions have the names and signatures of the standard. They serve complex arrays of libraries that refuse to order
them, or that order them in another way. Each uses functions of the standard on real arrays.
"""

from __future__ import annotations

import math
from types import ModuleType
from typing import Any

from xarrayops._generic.extra import common
from xarrayops._generic.extra.common import Axes
from xarrayops.plugin.arrays import Array


def argsort(
    xp: ModuleType, x: Array, /, *, axis: int | None = -1, descending: bool = False, stable: bool = True
) -> Array:
    """Stable sorts by the imaginary part, by the real part, and by the parts that are NaN."""
    x, axis = common.one_axis(xp, x, axis)
    # XLA orders -0 before +0, which are equal.
    real, imag = (xp.where(part == 0, xp.zeros_like(part), part) for part in (xp.real(x), xp.imag(x)))
    order = xp.argsort(imag, axis=axis, descending=descending, stable=True)
    for key in (real, xp.astype(xp.isnan(imag), xp.uint8) + 2 * xp.astype(xp.isnan(real), xp.uint8)):
        key = xp.take_along_axis(key, order, axis=axis)
        chosen = xp.argsort(key, axis=axis, descending=descending, stable=True)
        order = xp.take_along_axis(order, chosen, axis=axis)
    return order


def sort(xp: ModuleType, x: Array, /, *, axis: int | None = -1, descending: bool = False, stable: bool = True) -> Array:
    """The elements in the order of `argsort`."""
    x, axis = common.one_axis(xp, x, axis)
    return xp.take_along_axis(x, argsort(xp, x, axis=axis, descending=descending), axis=axis)


def searchsorted(xp: ModuleType, x1: Array, x2: Any, /, *, side: str = "left", sorter: Array | None = None) -> Array:
    """Sort both arrays together. The position of a value is the number of elements of x1 before it."""
    if x1.ndim != 1:
        raise ValueError(f"the sorted array must be a vector, but its shape is {tuple(x1.shape)}")
    x1, x2 = _pair(xp, x1, x2)
    x1 = x1 if sorter is None else xp.take(x1, sorter, axis=0)
    values = xp.reshape(x2, (-1,))
    n, m = x1.shape[0], values.shape[0]
    parts = (values, x1) if side == "left" else (x1, values)  # the sort is stable
    order = argsort(xp, xp.concat(parts))
    is_value = order < m if side == "left" else order >= n
    before = xp.cumulative_sum(xp.astype(~is_value, order.dtype), dtype=order.dtype)
    places = xp.argsort(order, stable=True)
    places = places[:m] if side == "left" else places[n:]
    return xp.reshape(xp.take(before, places, axis=0), x2.shape)


def isin(xp: ModuleType, x1: Any, x2: Any, /, *, invert: bool = False) -> Array:
    """Search each element among the sorted others."""
    x1, x2 = _pair(xp, x1, x2)
    others = sort(xp, x2, axis=None)
    if not others.shape[0]:
        return xp.full(x1.shape, invert, dtype=xp.bool, device=common.device_of(x1))
    place = searchsorted(xp, others, x1)
    place = xp.minimum(place, xp.full_like(place, others.shape[0] - 1))
    found = xp.equal(xp.reshape(xp.take(others, xp.reshape(place, (-1,)), axis=0), x1.shape), x1)
    return xp.logical_not(found) if invert else found


def argmax(xp: ModuleType, x: Array, /, *, axis: int | None = None, keepdims: bool = False) -> Array:
    """The first element with NaN, or else with the greatest imaginary part among those with the greatest real part."""
    return _position(xp, x, axis, keepdims, is_greatest=True)


def argmin(xp: ModuleType, x: Array, /, *, axis: int | None = None, keepdims: bool = False) -> Array:
    """As `argmax`."""
    return _position(xp, x, axis, keepdims, is_greatest=False)


def max(xp: ModuleType, x: Array, /, *, axis: Axes = None, keepdims: bool = False) -> Array:
    """The element at the position of `argmax`."""
    return _extremum(xp, x, axis, keepdims, is_greatest=True)


def min(xp: ModuleType, x: Array, /, *, axis: Axes = None, keepdims: bool = False) -> Array:
    """The element at the position of `argmin`."""
    return _extremum(xp, x, axis, keepdims, is_greatest=False)


def _extremum(xp: ModuleType, x: Array, axis: Axes, keepdims: bool, *, is_greatest: bool) -> Array:
    flat = common.rows(xp, x, axis, keepdims=keepdims)
    position = _position(xp, flat.values, -1, True, is_greatest=is_greatest)
    return xp.reshape(xp.take_along_axis(flat.values, position, axis=-1), flat.shape)


def _position(xp: ModuleType, x: Array, axis: int | None, keepdims: bool, *, is_greatest: bool) -> Array:
    if axis is None:  # torch.amax on XLA reduces no axis then
        found = _position(xp, xp.reshape(x, (-1,)), 0, False, is_greatest=is_greatest)
        return xp.reshape(found, (1,) * x.ndim) if keepdims else found
    extremum, limit = (xp.max, -math.inf) if is_greatest else (xp.min, math.inf)
    is_nan = _is_nan(xp, x)
    is_wanted = ~is_nan
    for part in (xp.real(x), xp.imag(x)):
        numbers = xp.where(is_wanted, part, xp.full_like(part, limit))
        is_wanted = is_wanted & (numbers == extremum(numbers, axis=axis, keepdims=True))
    is_wanted = xp.where(xp.any(is_nan, axis=axis, keepdims=True), is_nan, is_wanted)
    return xp.argmax(xp.astype(is_wanted, xp.uint8), axis=axis, keepdims=keepdims)


def less(xp: ModuleType, x1: Any, x2: Any, /) -> Array:
    """Compare the imaginary parts where the real parts are equal."""
    return _compared(xp, xp.less, x1, x2)


def less_equal(xp: ModuleType, x1: Any, x2: Any, /) -> Array:
    """As `less`."""
    return _compared(xp, xp.less_equal, x1, x2)


def greater(xp: ModuleType, x1: Any, x2: Any, /) -> Array:
    """As `less`."""
    return _compared(xp, xp.greater, x1, x2)


def greater_equal(xp: ModuleType, x1: Any, x2: Any, /) -> Array:
    """As `less`."""
    return _compared(xp, xp.greater_equal, x1, x2)


def _compared(xp: ModuleType, comparison: Any, x1: Any, x2: Any) -> Array:
    x1, x2 = _pair(xp, x1, x2)
    (real1, imag1), (real2, imag2) = ((xp.real(x), xp.imag(x)) for x in (x1, x2))
    found = xp.where(real1 == real2, comparison(imag1, imag2), comparison(real1, real2))
    return found & ~_is_nan(xp, x1) & ~_is_nan(xp, x2)


def maximum(xp: ModuleType, x1: Any, x2: Any, /) -> Array:
    """The first operand if it has NaN or is not less."""
    x1, x2 = _pair(xp, x1, x2)
    return xp.where(greater_equal(xp, x1, x2) | _is_nan(xp, x1), x1, x2)


def minimum(xp: ModuleType, x1: Any, x2: Any, /) -> Array:
    """The first operand if it has NaN or is not greater."""
    x1, x2 = _pair(xp, x1, x2)
    return xp.where(less_equal(xp, x1, x2) | _is_nan(xp, x1), x1, x2)


def clip(xp: ModuleType, x: Array, /, min: Any = None, max: Any = None) -> Array:
    """The maximum with the lower bound, then the minimum with the upper one, in the dtype of x."""
    bounds = [(bound, choose) for bound, choose in ((min, maximum), (max, minimum)) if bound is not None]
    if not bounds:
        return xp.asarray(x, copy=True)
    for bound, choose in bounds:
        x = choose(xp, x, common.astype(xp, common.as_array(xp, bound, x), x.dtype))
    return x


def _is_nan(xp: ModuleType, x: Array) -> Array:
    """By parts: XLA refuses isnan of complex numbers from PyTorch."""
    return xp.isnan(xp.real(x)) | xp.isnan(xp.imag(x))


def _pair(xp: ModuleType, x1: Any, x2: Any) -> tuple[Array, Array]:
    """Both operands in their promoted dtype; one of them may be a number."""
    if hasattr(x1, "dtype") and hasattr(x2, "dtype"):
        return common.alike(xp, x1, x2)
    x = x1 if hasattr(x1, "dtype") else x2
    dtype = x.dtype if xp.isdtype(x.dtype, "complex floating") else xp.result_type(x1, x2)
    device = common.device_of(x)
    first, second = (
        common.astype(xp, each, dtype) if hasattr(each, "dtype") else xp.asarray(each, dtype=dtype, device=device)
        for each in (x1, x2)
    )
    return first, second
