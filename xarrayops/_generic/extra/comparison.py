"""Equality of arrays, exact and within a tolerance."""

from __future__ import annotations

from types import ModuleType
from typing import Any

from xarrayops._generic.extra import common
from xarrayops.plugin.arrays import Array


def isclose(
    xp: ModuleType, x1: Any, x2: Any, /, *, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False
) -> Array:
    """The tolerance applies to finite x2; other elements are close if they are equal."""
    x1, x2 = _of_any_size(xp, x1, x2), _of_any_size(xp, x2, x1)
    is_equal = xp.equal(x1, x2)
    first, second = common.widest(xp, x1), common.widest(xp, x2)
    near = xp.abs(first - second) <= atol + rtol * xp.abs(second)
    found = (near & xp.isfinite(second)) | is_equal
    return found | (xp.isnan(first) & xp.isnan(second)) if equal_nan else found


def allclose(
    xp: ModuleType, x1: Any, x2: Any, /, *, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False
) -> Array:
    """All are close."""
    return xp.all(isclose(xp, x1, x2, rtol=rtol, atol=atol, equal_nan=equal_nan))


def array_equal(xp: ModuleType, x1: Array, x2: Array, /, *, equal_nan: bool = False) -> Array:
    """Arrays of different shapes are not compared."""
    if tuple(x1.shape) != tuple(x2.shape):
        return xp.full((), False, dtype=xp.bool, device=common.device_of(x1))
    is_equal = xp.equal(x1, x2)
    if equal_nan and not any(xp.isdtype(x.dtype, ("bool", "integral")) for x in (x1, x2)):
        is_equal = is_equal | (xp.isnan(x1) & xp.isnan(x2))
    return xp.all(is_equal)


def _of_any_size(xp: ModuleType, x: Any, other: Any) -> Array:
    """x as an array, to combine with another operand. A Python integer out of its range equals no element."""
    try:
        return common.as_array(xp, x, other)
    except OverflowError:
        return common.as_array(xp, float(x), other)
