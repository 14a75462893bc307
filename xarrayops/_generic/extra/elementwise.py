"""Cube roots, softmax, logsumexp, one-hot vectors, and functions applied to some elements."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

from xarrayops._generic.extra import common
from xarrayops._generic.extra.common import Axes
from xarrayops.plugin.arrays import Array


def cbrt(xp: ModuleType, x: Array, /) -> Array:
    """The power 1/3, corrected by one step of Newton's method, because 1/3 is not exact in binary."""
    if xp.isdtype(x.dtype, "complex floating"):
        raise TypeError(f"cbrt requires real numbers; the dtype of x is {x.dtype}")
    x = common.floating(xp, x)
    size = xp.abs(x)
    is_plain = (size > 0) & xp.isfinite(size)
    safe = xp.where(is_plain, size, xp.ones_like(size))
    root = safe ** (1 / 3)
    root = root - (root - safe / (root * root)) / 3
    return xp.copysign(xp.where(is_plain, root, size), x)


def softmax(xp: ModuleType, x: Array, /, *, axis: Axes = -1) -> Array:
    """The greatest element is subtracted first."""
    x, axis = common.floating(xp, x), common.checked_axes(axis, x.ndim)
    powers = xp.exp(x - xp.max(x, axis=axis, keepdims=True))
    return powers / xp.sum(powers, axis=axis, keepdims=True)


def logsumexp(xp: ModuleType, x: Array, /, *, axis: Axes = None, keepdims: bool = False) -> Array:
    """The greatest finite element is subtracted first, and added to the result."""
    x, axis = common.floating(xp, x), common.checked_axes(axis, x.ndim)
    if not all(x.shape):
        return xp.log(xp.sum(xp.exp(x), axis=axis, keepdims=keepdims))
    top = xp.max(x, axis=axis, keepdims=True)
    top = xp.where(xp.isfinite(top), top, xp.zeros_like(top))
    found = xp.log(xp.sum(xp.exp(x - top), axis=axis, keepdims=True)) + top
    return found if keepdims else xp.squeeze(found, axis=common.normal_axes(axis, x.ndim))


def one_hot(xp: ModuleType, x: Array, /, num_classes: int, *, dtype: Any = None, axis: int = -1) -> Array:
    """Compare x with all indices."""
    if not xp.isdtype(x.dtype, "integral"):
        raise TypeError(f"x must have an integer dtype, but it is {x.dtype}")
    num_classes = common.counted("num_classes", num_classes)
    axis = common.normal_axis(axis, x.ndim + 1)
    dtype = xp.asarray(0.0).dtype if dtype is None else dtype
    classes = xp.arange(num_classes, dtype=common.index_dtype(xp, x), device=common.device_of(x))
    found = xp.astype(common.astype(xp, x, common.index_dtype(xp, x))[..., None] == classes, dtype)
    return found if axis == x.ndim else xp.moveaxis(found, -1, axis)


def apply_where(
    xp: ModuleType,
    condition: Array,
    args: Any,
    f1: Callable[..., Any],
    f2: Callable[..., Any] | None = None,
    /,
    *,
    fill_value: Any = None,
) -> Array:
    """Both functions get all elements, with 1 for those of the other function, so that gradients are finite."""
    if (f2 is None) == (fill_value is None):
        raise TypeError("one of f2 and fill_value must be given")
    arrays = args if isinstance(args, (tuple, list)) else (args,)
    first = f1(*(xp.where(condition, x, xp.ones_like(x)) for x in arrays))
    if f2 is None:
        return xp.where(condition, first, common.as_array(xp, fill_value, first))
    return xp.where(condition, first, f2(*(xp.where(condition, xp.ones_like(x), x) for x in arrays)))
