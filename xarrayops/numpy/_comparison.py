"""Comparisons of integers with fractions, exact on a library without float64, the dtype in which NumPy compares them.

JAX is such a library while its 64-bit types are off. float32 does not hold every integer: integers are rounded to it in
the direction that keeps the order.
"""

from __future__ import annotations

from math import ceil, floor, isfinite, nan
from typing import Any, Literal

import xarrayops as xo
from xarrayops.numpy import _promotion

Rounding = Literal["down", "up", "exact"]
_MIRRORED = {"less": "greater", "less_equal": "greater_equal", "greater": "less", "greater_equal": "less_equal"}
_OF_INTEGERS: dict[str, Rounding] = {"less": "down", "less_equal": "up", "greater": "up", "greater_equal": "down"}
"""How integers on the left are rounded: ``x < y`` exactly where the next number of float32 below x is less than y."""


def compared(name: str, x1: Any, x2: Any) -> Any:
    """The comparison of that name, on a library that lacks NumPy's common dtype."""
    x1, x2 = _comparable(x1, x2)
    if not lack_common_dtype(x1, x2):
        return getattr(xo, name)(*_promotion.harmonised(x1, x2))
    if not _is_integer(x1):
        name, x1, x2 = _MIRRORED.get(name, name), x2, x1
    if type(x2) is float:
        return getattr(xo, name)(x1, _bound(name, x2))
    return getattr(xo, name)(_as_float32(x1, _OF_INTEGERS.get(name, "exact")), x2)


def isclose(x1: Any, x2: Any, **options: Any) -> Any:
    """Whether the elements of each pair are close; arrays of two kinds, as float32, from both sides."""
    sides: tuple[Rounding, Rounding] = ("down", "up")
    below, above = (xo.isclose(_as_float32(x1, side), _as_float32(x2, side), **options) for side in sides)
    return xo.logical_and(below, above)


def isin(x1: Any, x2: Any, *, invert: bool) -> Any:
    """Whether each element of x1 is in x2."""
    x1, x2 = _comparable(x1, x2)
    if lack_common_dtype(x1, x2):
        x1, x2 = (_as_float32(x, "exact") for x in (x1, x2))
    return xo.isin(*_promotion.harmonised(x1, x2), invert=invert)


def searchsorted(x1: Any, x2: Any, *, side: Literal["left", "right"], sorter: Any) -> Any:
    """The places of the elements of x2 in x1, which is sorted."""
    x1, x2 = _comparable(x1, x2)
    if lack_common_dtype(x1, x2):
        is_left = side == "left"
        x1, x2 = _as_float32(x1, "down" if is_left else "up"), _as_float32(x2, "up" if is_left else "down")
    return xo.searchsorted(*_promotion.harmonised(x1, x2), side=side, sorter=sorter)


def digitize(x: Any, bins: Any, *, right: bool) -> Any:
    """The bin of each element of x; bins may also decrease."""
    if lack_common_dtype(x, bins):
        x, bins = _as_float32(x, "up" if right else "down"), _as_float32(bins, "down" if right else "up")
    return xo.digitize(*_promotion.harmonised(x, bins), right=right)


def _comparable(*values: Any) -> list[Any]:
    """The values, with booleans as int8 if the library lacks the dtype of booleans and Python integers in NumPy."""
    if _promotion.missing_dtype(*values) != "int64":
        return list(values)
    return [xo.astype(x, "int8") if hasattr(x, "dtype") and xo.isdtype(x.dtype, "bool") else x for x in values]


def lack_common_dtype(x1: Any, x2: Any) -> bool:
    """Whether these are integers and fractions, and the library lacks NumPy's common dtype."""
    common = _promotion.missing_dtype(x1, x2)
    return common == "float64" and _is_integer(x1) != _is_integer(x2)


def _is_integer(x: Any) -> bool:
    return _promotion.is_integer(x) if hasattr(x, "dtype") else isinstance(x, int)


def _bound(name: str, number: float) -> float:
    """The number that gives the same comparison with integers: an integer if it is finite, NaN if none is equal."""
    if not isfinite(number):
        return number
    if name in ("equal", "not_equal"):
        return int(number) if number.is_integer() else nan
    return ceil(number) if name in ("less", "greater_equal") else floor(number)


def _as_float32(x: Any, rounding: Rounding) -> Any:
    """Integers as float32: the nearest number that is not above or not below, or NaN where none is equal."""
    if not _promotion.is_integer(x):
        return xo.astype(x, "float32")
    wide = x if xo.isdtype(x.dtype, "uint32") else xo.astype(x, "int32")
    high, low = (xo.astype(y, "float32") for y in (xo.bitwise_right_shift(wide, 16), xo.bitwise_and(wide, 0xFFFF)))
    near = high * 65536.0 + low  # rounded once, in the sum
    rest = near - high * 65536.0 - low  # exact: these are integers below 2**24
    if rounding == "exact":
        return xo.where(rest == 0, near, nan)
    toward, is_beyond = (-xo.inf, rest > 0) if rounding == "down" else (xo.inf, rest < 0)
    return xo.where(is_beyond, xo.nextafter(near, xo.full_like(near, toward)), near)
