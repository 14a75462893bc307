"""Cube roots, softmax and its logarithm, logsumexp, sigmoid, erf, one-hot vectors, functions of some elements."""

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
    if 0 in x.shape:  # no greatest element
        return x
    powers = xp.exp(x - xp.max(x, axis=axis, keepdims=True))
    return powers / xp.sum(powers, axis=axis, keepdims=True)


def log_softmax(xp: ModuleType, x: Array, /, *, axis: Axes = -1) -> Array:
    """The greatest finite element is subtracted first."""
    x, axis = common.floating(xp, x), common.checked_axes(axis, x.ndim)
    if 0 in x.shape:
        return x
    top = xp.max(x, axis=axis, keepdims=True)
    shifted = x - xp.where(xp.isfinite(top), top, xp.zeros_like(top))
    return shifted - xp.log(xp.sum(xp.exp(shifted), axis=axis, keepdims=True))


def sigmoid(xp: ModuleType, x: Array, /) -> Array:
    """The exponential of a negative number does not overflow."""
    common.require_real(xp, x)
    x = common.floating(xp, x)
    power = xp.exp(-xp.abs(x))
    return xp.where(x < 0, power, xp.ones_like(power)) / (1 + power)


_SMALL = (
    *(1.85777706184603153e-1, 3.16112374387056560, 1.13864154151050156e2, 3.77485237685302021e2),
    *(3.20937758913846947e3,),
)
_UNDER_SMALL = (1.0, 2.36012909523441209e1, 2.44024637934444173e2, 1.28261652607737228e3, 2.84423683343917062e3)
_COMPLEMENT = (
    *(2.15311535474403846e-8, 5.64188496988670089e-1, 8.88314979438837594, 6.61191906371416295e1),
    *(2.98635138197400131e2, 8.81952221241769090e2, 1.71204761263407058e3, 2.05107837782607147e3),
    *(1.23033935479799725e3,),
)
_UNDER_COMPLEMENT = (
    *(1.0, 1.57449261107098347e1, 1.17693950891312499e2, 5.37181101862009858e2, 1.62138957456669019e3),
    *(3.29079923573345963e3, 4.36261909014324716e3, 3.43936767414372164e3, 1.23033935480374942e3),
)
"""Cody's coefficients: erf(x) is x times a quotient of polynomials of x**2 for small x, and 1 - erf(x) is exp(-x**2)
times a quotient of polynomials of x for others."""


def erf(xp: ModuleType, x: Array, /) -> Array:
    """Two quotients of polynomials, for numbers below and above 0.46875."""
    common.require_real(xp, x)
    x = common.floating(xp, x)
    size = xp.abs(x)
    bounded = xp.where(xp.isnan(size) | (size < 6), size, 6 * xp.ones_like(size))
    square = bounded * bounded
    small = x * _quotient(square, _SMALL, _UNDER_SMALL)
    large = 1 - xp.exp(-square) * _quotient(bounded, _COMPLEMENT, _UNDER_COMPLEMENT)
    return xp.where(size < 0.46875, small, xp.copysign(large, x))


def _quotient(x: Array, above: tuple[float, ...], below: tuple[float, ...]) -> Array:
    numerator, denominator = above[0] * x, below[0] * x
    for a, b in zip(above[1:-1], below[1:-1], strict=True):
        numerator, denominator = (numerator + a) * x, (denominator + b) * x
    return (numerator + above[-1]) / (denominator + below[-1])


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
