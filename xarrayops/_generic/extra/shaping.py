"""Functions that rearrange elements: diagonals, Kronecker products, windows, insertion."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from types import ModuleType
from typing import Any

from xarrayops._generic.extra import common
from xarrayops.plugin.arrays import Array

FEW_PIECES = 16
"""Up to this number of pieces are joined; beyond it, elements are taken by index."""


def argwhere(xp: ModuleType, x: Array, /) -> Array:
    """A 0-d array has rows without elements."""
    if x.ndim == 0:
        return xp.reshape(xp.nonzero(xp.reshape(x, (1,)))[0], (-1, 1))[:, :0]
    return xp.stack(xp.nonzero(x), axis=-1)


def split(xp: ModuleType, x: Array, indices_or_sections: Any, /, *, axis: int = 0) -> tuple[Array, ...]:
    """Slices."""
    axis = common.normal_axis(axis, x.ndim)
    extent = x.shape[axis]
    is_count = isinstance(indices_or_sections, int)
    if not is_count and (isinstance(indices_or_sections, Sequence) or getattr(indices_or_sections, "ndim", 0) > 0):
        indices = (common.whole("index", i) for i in indices_or_sections)
        ends = [0, *(max(min(i, extent), -extent) for i in indices), extent]
    else:
        count = common.whole("indices_or_sections", indices_or_sections)
        if count < 1 or extent % count:
            raise ValueError(f"an axis of length {extent} has no {count} equal parts")
        ends = [k * extent // count for k in range(count + 1)]
    return tuple(common.part(x, axis, start, stop) for start, stop in pairwise(ends))


def atleast_nd(xp: ModuleType, x: Array, /, ndim: int) -> Array:
    """Axes of length 1 in front."""
    missing = ndim - x.ndim
    return xp.reshape(x, (*(1,) * missing, *x.shape)) if missing > 0 else x


def diag(xp: ModuleType, x: Array, /, k: int = 0) -> Array:
    """A matrix with the elements in its rows, masked to the diagonal."""
    if x.ndim == 2:
        return xp.linalg.diagonal(x, offset=k)
    if x.ndim != 1:
        raise ValueError(f"x must have 1 or 2 dimensions, but its shape is {tuple(x.shape)}")
    n = x.shape[0] + abs(common.whole("k", k))
    fill = xp.zeros(abs(k), dtype=x.dtype, device=common.device_of(x))
    column = xp.concat([x, fill] if k >= 0 else [fill, x])[:, None]
    mask = xp.eye(n, k=k, dtype=xp.bool, device=common.device_of(x))
    return xp.where(mask, column, xp.zeros_like(column))


def fill_diagonal(xp: ModuleType, x: Array, value: Any, /, *, wrap: bool = False) -> Array:
    """The diagonal is a slice of the flattened array."""
    start, stop, step = diagonal_slice(tuple(x.shape), wrap)
    if getattr(value, "ndim", 0):
        count = len(range(start, stop, step))
        flat = xp.reshape(value, (-1,))
        value = xp.tile(flat, (-(-count // max(flat.shape[0], 1)),))[:count]
    flat = xp.at(xp.reshape(x, (-1,)))[start:stop:step].set(value)
    return xp.reshape(flat, x.shape)


def diagonal_slice(shape: tuple[int, ...], wrap: bool) -> tuple[int, int, int]:
    """The positions of the main diagonal in the flattened array."""
    if len(shape) < 2:
        raise ValueError(f"x must have at least 2 dimensions, but its shape is {shape}")
    if len(shape) == 2:
        stop = math.prod(shape) if wrap else min(math.prod(shape), shape[1] * shape[1])
        return 0, stop, shape[1] + 1
    if len(set(shape)) > 1:
        raise ValueError(f"the axes of x must have the same length, but its shape is {shape}")
    return 0, math.prod(shape), sum(shape[0] ** i for i in range(len(shape)))


def outer(xp: ModuleType, x1: Array, x2: Array, /) -> Array:
    """A column times a row."""
    return xp.multiply(xp.reshape(x1, (-1, 1)), xp.reshape(x2, (1, -1)))


def kron(xp: ModuleType, x1: Array, x2: Array, /) -> Array:
    """The axes of both arrays alternate, and neighbours are merged."""
    ndim = max(x1.ndim, x2.ndim)
    one, other = atleast_nd(xp, x1, ndim), atleast_nd(xp, x2, ndim)
    product = xp.multiply(
        xp.reshape(one, tuple(n for extent in one.shape for n in (extent, 1))),
        xp.reshape(other, tuple(n for extent in other.shape for n in (1, extent))),
    )
    return xp.reshape(product, tuple(a * b for a, b in zip(one.shape, other.shape, strict=True)))


def compress(xp: ModuleType, condition: Array, x: Array, /, *, axis: int | None = None) -> Array:
    """The elements at the indices where the condition is true."""
    common.require_vector("the condition", condition)
    (x, axis), condition = common.one_axis(xp, x, axis), common.astype(xp, condition, xp.bool)
    if condition.shape[0] > x.shape[axis] and xp.any(condition[x.shape[axis] :]):
        raise IndexError(f"the condition is true beyond the {x.shape[axis]} elements of the axis")
    if x.ndim == 1 and condition.shape[0] == x.shape[axis]:
        return x[condition]
    return xp.take(x, xp.nonzero(condition)[0], axis=axis)


def places(index: Any, extent: int, *, end: int) -> tuple[list[int], bool]:
    """The positions that an integer index selects along an axis, and whether it is one integer.

    Positions go up to ``end``: the length of the axis for an insertion, one less for an element.
    """
    if isinstance(index, slice):
        return list(range(*index.indices(extent))), False
    listed = index.tolist() if hasattr(index, "tolist") else list(index) if getattr(index, "ndim", 0) else index
    if isinstance(listed, Sequence) and not isinstance(listed, (str, bytes)):
        if len(listed) and all(isinstance(i, bool) for i in listed):
            if len(listed) != extent:
                raise ValueError(f"a mask of {len(listed)} values does not fit an axis of length {extent}")
            return [i for i, chosen in enumerate(listed) if chosen], False
        return [_place(i, extent, end) for i in listed], False
    return [_place(listed, extent, end)], True


def _place(index: Any, extent: int, end: int) -> int:
    place = common.whole("index", index)
    if not -extent <= place <= end:
        raise IndexError(f"index {index} is out of bounds for an axis of length {extent}")
    return place + extent if place < 0 else place


def delete(xp: ModuleType, x: Array, index: Any, /, *, axis: int | None = None) -> Array:
    """The pieces between the elements are joined."""
    x, axis = common.one_axis(xp, x, axis)
    extent = x.shape[axis]
    removed = sorted(set(places(index, extent, end=extent - 1)[0]))
    if not removed:
        return xp.asarray(x, copy=True)
    if len(removed) >= FEW_PIECES:
        gone = set(removed)
        return xp.take(x, common.indices(xp, [i for i in range(extent) if i not in gone], x), axis=axis)
    bounds = zip([-1, *removed], [*removed, extent], strict=True)
    pieces = [common.part(x, axis, low + 1, high) for low, high in bounds if low + 1 < high]
    return xp.concat(pieces, axis=axis) if pieces else common.part(x, axis, 0, 0)


def insert(xp: ModuleType, x: Array, index: Any, values: Any, /, *, axis: int | None = None) -> Array:
    """The pieces of x and the values are joined in turn."""
    if hasattr(values, "dtype"):
        values = common.astype(xp, values, x.dtype)
    else:  # raises for a number that the dtype of x cannot hold
        values = xp.asarray(values, dtype=x.dtype, device=common.device_of(x))
    x, axis = common.one_axis(xp, x, axis)
    extent = x.shape[axis]
    found, is_one = places(index, extent, end=extent)
    values = atleast_nd(xp, values, x.ndim)
    if is_one:  # NumPy inserts a whole block, whose first axis is the axis of the index
        values = xp.moveaxis(values, 0, axis) if getattr(values, "ndim", 0) == x.ndim else values
    if len(found) == 1:
        found = found * values.shape[axis]
    shape = (*x.shape[:axis], len(found), *x.shape[axis + 1 :])
    if any(n not in (1, m) for n, m in zip(values.shape, shape, strict=True)):
        raise ValueError(f"values of shape {tuple(values.shape)} do not fit into shape {shape}")
    values = xp.broadcast_to(values, shape)
    order = sorted(range(len(found)), key=lambda i: found[i])
    if order != list(range(len(found))):
        values = xp.take(values, common.indices(xp, order, x), axis=axis)
    pieces, last, begin = [], 0, 0
    for end in range(1, len(order) + 1):
        place = found[order[end - 1]]
        if end == len(order) or found[order[end]] != place:
            pieces += [common.part(x, axis, last, place), common.part(values, axis, begin, end)]
            last, begin = place, end
    return xp.concat([*pieces, common.part(x, axis, last, extent)], axis=axis)


def windows(x: Array, window_shape: Any, axis: Any, step: Any) -> list[tuple[int, int, int]]:
    """The axis, the length and the step of each window; raises for arguments that are invalid on every library."""
    lengths = tuple(window_shape) if isinstance(window_shape, (tuple, list)) else (window_shape,)
    if axis is None:
        axes: tuple[int, ...] = tuple(range(x.ndim))
    else:
        axes = tuple(common.normal_axis(a, x.ndim) for a in (axis if isinstance(axis, (tuple, list)) else (axis,)))
    if len(axes) != len(lengths):
        raise ValueError(f"window_shape={window_shape} must have one length for each of the axes {axes}")
    extents = list(x.shape)
    for a, length in zip(axes, lengths, strict=True):
        common.counted("window_shape", length)
        extents[a] -= length - 1
        if extents[a] < 1:
            raise ValueError(f"window_shape={window_shape} does not fit into the shape {tuple(x.shape)}")
    steps = tuple(step) if isinstance(step, (tuple, list)) else (step,) * len(axes)
    if len(steps) != len(axes) or any(common.counted("step", each) < 1 for each in steps):
        raise ValueError(f"step={step} must be a positive integer, or one for each of the axes {axes}")
    if len({*axes}) < len(axes) and {*steps} != {1}:
        raise ValueError(f"step={step} needs different axes, but they are {axes}")
    return list(zip(axes, lengths, steps, strict=True))


def sliding_window_view(xp: ModuleType, x: Array, /, window_shape: Any, axis: Any = None, *, step: Any = 1) -> Array:
    """A gather, for libraries without strides: the indices are the start plus the position in the window."""
    for a, length, distance in windows(x, window_shape, axis, step):
        of_x = {"dtype": common.index_dtype(xp, x), "device": common.device_of(x)}
        start, place = xp.arange(0, x.shape[a] - length + 1, distance, **of_x), xp.arange(length, **of_x)
        count = start.shape[0]
        taken = xp.take(x, xp.reshape(start[:, None] + place[None, :], (-1,)), axis=a)
        x = xp.moveaxis(xp.reshape(taken, (*x.shape[:a], count, length, *x.shape[a + 1 :])), a + 1, -1)
    return x
