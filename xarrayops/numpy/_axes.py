"""Axes, sizes and other integers among the arguments."""

from __future__ import annotations

import operator
from collections.abc import Iterable
from math import prod
from typing import Any

import xarrayops as xo
from xarrayops._core.backends.numpy_scalars import as_number
from xarrayops._core.dispatch.python_scalars import integer

Axis = int | tuple[int, ...] | None
"""An axis, several, or all of them."""


def size_of(x: Any) -> int:
    """The number of elements."""
    return prod(x.shape)


def integers(values: Any) -> tuple[int, ...]:
    """One integer, or those of a sequence or a vector, as Python's."""
    return tuple(map(integer, values)) if is_several(values) else (integer(values),)


def whole(value: Any) -> int:
    """An integer, also one in floating point, where NumPy does not ask for ``operator.index``."""
    number = plain_number(value)
    return int(number) if isinstance(number, float) and number.is_integer() else operator.index(number)


def axis_or_axes(values: Any) -> Any:
    """One integer, or a tuple of those of a sequence, as Python's: an axis or axes, a size or a shape; None stays."""
    if values is None or type(values) is int:
        return values
    return integers(values) if is_several(values) else integer(values)


def is_several(values: Any) -> bool:
    """Whether it is a sequence or an array of at least one dimension, and not one value."""
    return isinstance(values, Iterable) and getattr(values, "ndim", 1) > 0


def axes_of(x: Any, axis: Any) -> tuple[int, ...]:
    """The axes as a tuple of non-negative integers."""
    if axis is None:
        return tuple(range(x.ndim))
    return tuple(one_axis(a, x.ndim) for a in (axis if isinstance(axis, (tuple, list)) else (axis,)))


def axis_of_scalar(x: Any, axis: Any) -> Any:
    """The axis of a reduction; none for a 0-d array and the axes 0 and -1, which NumPy accepts."""
    return () if x.ndim == 0 and axis in (0, -1) else axis


def one_axis(axis: Any, ndim: int) -> int:
    """The axis as a non-negative integer; NumPy's AxisError if it is out of bounds."""
    index = operator.index(axis)
    if not -ndim <= index < ndim:
        from numpy.exceptions import AxisError

        raise AxisError(f"axis {index} is out of bounds for array of dimension {ndim}")
    return index % ndim if ndim else index


def raveled(x: Any) -> Any:
    """The elements as a vector, in C order."""
    return x if x.ndim == 1 else xo.reshape(x, (-1,) if size_of(x) else (0,))


def plain_number(value: Any) -> Any:
    """A Python number, also from a 0-d array."""
    value = as_number(value)
    if getattr(value, "ndim", 0):
        raise TypeError("only 0-dimensional arrays can be converted to Python numbers")
    return value.item() if hasattr(value, "item") else value
