"""Reductions that ignore NaN."""

from __future__ import annotations

import math
from types import ModuleType
from typing import Any

from xarrayops._generic.extra import common
from xarrayops._generic.extra.common import Axes
from xarrayops.plugin.arrays import Array


def _has_nans(xp: ModuleType, x: Array) -> bool:
    return not xp.isdtype(x.dtype, ("bool", "integral"))


def _replaced(xp: ModuleType, x: Array, number: complex) -> Array:
    """x with NaN replaced by a number."""
    return xp.where(xp.isnan(x), xp.full_like(x, number), x) if _has_nans(xp, x) else x


def nansum(xp: ModuleType, x: Array, /, *, axis: Axes = None, dtype: Any = None, keepdims: bool = False) -> Array:
    """NaN counts as 0."""
    return xp.sum(_replaced(xp, x, 0), axis=common.checked_axes(axis, x.ndim), dtype=dtype, keepdims=keepdims)


def _numbers(xp: ModuleType, x: Array, axis: Axes, *, keepdims: bool) -> Array:
    """The number of elements that are not NaN, in a floating-point dtype that does not promote complex x."""
    real = xp.real(x) if xp.isdtype(x.dtype, "complex floating") else x
    return xp.astype(xp.count_nonzero(~xp.isnan(x), axis=axis, keepdims=keepdims), real.dtype)


def nanmean(xp: ModuleType, x: Array, /, *, axis: Axes = None, keepdims: bool = False) -> Array:
    """The sum divided by the number of elements."""
    x = common.floating(xp, x)
    total, count = nansum(xp, x, axis=axis, keepdims=keepdims), _numbers(xp, x, axis, keepdims=keepdims)
    return xp.divide(total, count)


def nanvar(xp: ModuleType, x: Array, /, *, axis: Axes = None, correction: float = 0.0, keepdims: bool = False) -> Array:
    """The mean square of the distance from the mean."""
    x = common.floating(xp, x)
    centred = x - nanmean(xp, x, axis=axis, keepdims=True)
    centred = xp.where(xp.isnan(x), xp.zeros_like(x), centred)
    is_complex = xp.isdtype(x.dtype, "complex floating")
    squares = xp.real(centred) ** 2 + xp.imag(centred) ** 2 if is_complex else centred**2
    freedom = _numbers(xp, x, axis, keepdims=keepdims) - correction
    total = xp.sum(squares, axis=axis, keepdims=keepdims)
    total = xp.where(freedom > 0, total, xp.full_like(total, math.nan))
    return xp.divide(total, freedom)


def nanstd(xp: ModuleType, x: Array, /, *, axis: Axes = None, correction: float = 0.0, keepdims: bool = False) -> Array:
    """The root of the variance."""
    return xp.sqrt(nanvar(xp, x, axis=axis, correction=correction, keepdims=keepdims))


def nanmax(xp: ModuleType, x: Array, /, *, axis: Axes = None, keepdims: bool = False) -> Array:
    """NaN counts as the least number."""
    return _extreme(xp, xp.max, -math.inf, x, axis, keepdims=keepdims)


def nanmin(xp: ModuleType, x: Array, /, *, axis: Axes = None, keepdims: bool = False) -> Array:
    """NaN counts as the greatest number."""
    return _extreme(xp, xp.min, math.inf, x, axis, keepdims=keepdims)


def _extreme(xp: ModuleType, reduce: Any, number: complex, x: Array, axis: Axes, *, keepdims: bool) -> Array:
    axis = common.checked_axes(axis, x.ndim)
    number = complex(number, number) if xp.isdtype(x.dtype, "complex floating") else number
    found = reduce(_replaced(xp, x, number), axis=axis, keepdims=keepdims)
    if not _has_nans(xp, x):
        return found
    return xp.where(xp.all(xp.isnan(x), axis=axis, keepdims=keepdims), xp.full_like(found, math.nan), found)


def nanargmax(xp: ModuleType, x: Array, /, *, axis: int | None = None, keepdims: bool = False) -> Array:
    """NaN counts as the least number."""
    return _place(xp, "max", -math.inf, x, axis, keepdims=keepdims)


def nanargmin(xp: ModuleType, x: Array, /, *, axis: int | None = None, keepdims: bool = False) -> Array:
    """NaN counts as the greatest number."""
    return _place(xp, "min", math.inf, x, axis, keepdims=keepdims)


def _place(xp: ModuleType, extreme: str, number: float, x: Array, axis: int | None, *, keepdims: bool) -> Array:
    axis = None if axis is None else common.normal_axis(axis, x.ndim)
    if 0 in (x.shape if axis is None else (x.shape[axis],)):
        raise ValueError(f"arg{extreme} needs an element, but the shape of x is {tuple(x.shape)}")
    if not _has_nans(xp, x):
        return getattr(xp, f"arg{extreme}")(x, axis=axis, keepdims=keepdims)
    replaced = _replaced(xp, x, number)
    best = getattr(xp, extreme)(replaced, axis=axis, keepdims=True)
    # Not the place in the array with replaced NaN: there the number may be the extreme of the others, too.
    is_best = xp.logical_and(xp.equal(replaced, best), xp.logical_not(xp.isnan(x)))
    found = xp.argmax(xp.astype(is_best, xp.uint8), axis=axis, keepdims=keepdims)
    place = xp.where(xp.all(xp.isnan(x), axis=axis, keepdims=keepdims), xp.full_like(found, -1), found)
    return place if place.ndim else place[()]  # of NumPy a scalar, as other reductions return


def nan_to_num(
    xp: ModuleType, x: Array, /, *, nan: float = 0.0, posinf: float | None = None, neginf: float | None = None
) -> Array:
    """Three selections; real and imaginary parts are replaced separately."""
    if not _has_nans(xp, x):
        return xp.asarray(x, copy=True)
    if xp.isdtype(x.dtype, "complex floating"):
        real, imag = (nan_to_num(xp, part, nan=nan, posinf=posinf, neginf=neginf) for part in (xp.real(x), xp.imag(x)))
        return xp.astype(real + imag * xp.asarray(1j, dtype=x.dtype), x.dtype)
    limits = xp.finfo(x.dtype)
    posinf = float(limits.max) if posinf is None else posinf
    neginf = float(limits.min) if neginf is None else neginf
    infinite = xp.where(x > 0, xp.full_like(x, posinf), xp.full_like(x, neginf))
    return xp.where(xp.isnan(x), xp.full_like(x, nan), xp.where(xp.isinf(x), infinite, x))
