"""Functions that change the shape of arrays or the order of their elements."""

from __future__ import annotations

from math import prod
from operator import index
from typing import TYPE_CHECKING, Any

import xarrayops as xo
from xarrayops._core.backends.numpy_scalars import is_numpy_scalar
from xarrayops.numpy import _axes, _operands as ops, _results


def _extents(shape: Any, size: int) -> tuple[int, ...]:
    """The shape, with -1 replaced by its extent."""
    extents = _axes.integers(shape)
    rest = prod([n for n in extents if n != -1])  # a list: Dynamo does not trace a generator
    if extents.count(-1) == 1 and rest and size % rest == 0:
        return tuple(size // rest if n == -1 else n for n in extents)
    return extents


def reshape(a: Any, /, shape: Any, order: str = "C", *, copy: bool | None = None) -> Any:
    """The elements in another shape, by `xarrayops.reshape`; "F" reads and writes them in Fortran order."""
    x = ops.array(a)
    if order not in ("C", "F", "A"):
        raise ValueError(f"order must be one of 'C', 'F', 'A' (got {order!r})")
    is_lazy = any(n != n for n in x.shape)
    extents = tuple(shape) if is_lazy and isinstance(shape, (tuple, list)) else _extents(shape, _axes.size_of(x))
    if order == "C" or (order == "A" and not _results.is_fortran(x)):
        return xo.reshape(x, extents, copy=copy)
    reverse = xo.reshape(_reversed_axes(x), extents[::-1], copy=copy)
    return _reversed_axes(reverse)


def _reversed_axes(x: Any) -> Any:
    return xo.permute_dims(x, tuple(range(x.ndim))[::-1])


def ravel(a: Any, order: str = "C") -> Any:
    """The elements as a vector, by `xarrayops.reshape`; "F" reads them in Fortran order."""
    x = ops.array(a)
    is_reversed = order == "F" or (order in ("A", "K") and _results.is_fortran(x))
    return reshape(x, -1, "F" if is_reversed else "C" if order == "K" else order)


def resize(a: Any, new_shape: Any) -> Any:
    """The elements in another shape, repeated or cut off as needed, by `xarrayops.tile`."""
    x = _axes.raveled(ops.array(a))
    shape = _axes.integers(new_shape)
    if any(n < 0 for n in shape):
        raise ValueError("all elements of `new_shape` must be non-negative")
    if _axes.size_of(x) == 0:
        return xo.zeros(shape, dtype=x.dtype, like=x)
    return xo.reshape(xo.tile(x, (-(-prod(shape) // _axes.size_of(x)),))[: prod(shape)], shape)


def transpose(a: Any, axes: Any = None) -> Any:
    """The array with its axes in another order, by default reversed, by `xarrayops.permute_dims`."""
    x = ops.array(a)
    if axes is None:
        return _reversed_axes(x)
    axes = _axes.integers(axes)
    if len(axes) != x.ndim:
        raise ValueError("axes don't match array")
    return xo.permute_dims(x, tuple(_axes.one_axis(axis, x.ndim) for axis in axes))


permute_dims = transpose


def matrix_transpose(x: Any, /) -> Any:
    """The array with its last two axes swapped, by `xarrayops.matrix_transpose`."""
    return xo.matrix_transpose(ops.array(x))


def swapaxes(a: Any, axis1: int, axis2: int) -> Any:
    """The array with two axes swapped, by `xarrayops.moveaxis`."""
    x = ops.array(a)
    i, j = _axes.one_axis(axis1, x.ndim), _axes.one_axis(axis2, x.ndim)
    return x if i == j else xo.moveaxis(x, (i, j), (j, i))


def moveaxis(a: Any, source: Any, destination: Any) -> Any:
    """The array with axes moved to other places, by `xarrayops.moveaxis`."""
    x = ops.array(a)
    places = [_axes.axes_of(x, _axes.integers(axes)) for axes in (source, destination)]
    if len(places[0]) != len(places[1]):
        raise ValueError("`source` and `destination` arguments must have the same number of elements")
    if any(len({*each}) < len(each) for each in places):
        raise ValueError("repeated axis")
    return xo.moveaxis(x, *places)


def rollaxis(a: Any, axis: int, start: int = 0) -> Any:
    """The array with one axis moved before another, by `xarrayops.moveaxis`."""
    x = ops.array(a)
    axis, start = _axes.one_axis(axis, x.ndim), index(start)
    start = _axes.one_axis(start, x.ndim if start < 0 else x.ndim + 1)
    return xo.moveaxis(x, axis, start - 1 if axis < start else start)


def squeeze(a: Any, axis: Any = None) -> Any:
    """The 0-d array of extent 1, by `xarrayops.squeeze`."""
    x = ops.array(a)
    axis = _axes.axis_of_scalar(x, axis)
    return xo.squeeze(x, tuple(i for i, n in enumerate(x.shape) if n == 1) if axis is None else _axes.integers(axis))


def expand_dims(a: Any, axis: Any) -> Any:
    """The array with new axes of extent 1, by `xarrayops.reshape`."""
    x = ops.array(a)
    axes = _axes.integers(axis)
    ndim = x.ndim + len(axes)
    places = [_axes.one_axis(each, ndim) for each in axes]
    if len({*places}) < len(places):
        raise ValueError("repeated axis")
    extents = iter(x.shape)
    return xo.reshape(x, tuple(1 if place in places else next(extents) for place in range(ndim)))


def _at_least(ndim: int, arys: tuple[Any, ...]) -> Any:
    results = tuple(of_dimensions(ops.array(x), ndim) for x in arys)
    return results[0] if len(results) == 1 else results


def of_dimensions(x: Any, ndim: int) -> Any:
    """x with at least that many dimensions: new axes come first, but the last of three comes last."""
    if x.ndim >= ndim:
        return x
    if ndim == 3:
        shape = (1, 1, 1) if x.ndim == 0 else (1, x.shape[0], 1) if x.ndim == 1 else (*x.shape, 1)
        return xo.reshape(x, shape)
    return xo.reshape(x, (*(1,) * (ndim - x.ndim), *x.shape))


def atleast_1d(*arys: Any) -> Any:
    """Each array with at least one dimension, by `xarrayops.reshape`."""
    return _at_least(1, arys)


def atleast_2d(*arys: Any) -> Any:
    """Each array with at least two dimensions, by `xarrayops.reshape`."""
    return _at_least(2, arys)


def atleast_3d(*arys: Any) -> Any:
    """Each array with at least three dimensions, by `xarrayops.reshape`."""
    return _at_least(3, arys)


def broadcast_to(array: Any, shape: Any, subok: bool = False) -> Any:
    """The array broadcast to a shape, by `xarrayops.broadcast_to`."""
    _results.no_subclass("broadcast_to", subok)
    extents = _axes.integers(shape)
    if any(n < 0 for n in extents):
        raise ValueError("all elements of broadcast shape must be non-negative")
    return xo.broadcast_to(ops.arrays(array)[0], extents)


def broadcast_arrays(*args: Any, subok: bool = False) -> Any:
    """The arrays broadcast to their common shape, by `xarrayops.broadcast_to`."""
    _results.no_subclass("broadcast_arrays", subok)
    members = ops.arrays(*args)
    shape = tuple(xo.broadcast_shapes(*(x.shape for x in members)))
    kept = (tuple(x.shape) == shape and not is_numpy_scalar(x) for x in members)
    return tuple(x if is_kept else xo.broadcast_to(x, shape) for x, is_kept in zip(members, kept, strict=True))


def broadcast_shapes(*args: Any) -> tuple[int, ...]:
    """The common shape to which the shapes broadcast, by `xarrayops.broadcast_shapes`."""
    return tuple(xo.broadcast_shapes(*map(_axes.integers, args)))


def flip(m: Any, axis: Any = None) -> Any:
    """The elements in reverse order along the axes, by `xarrayops.flip`."""
    x = ops.array(m)
    return xo.flip(x, axis=None if axis is None else _axes.axes_of(x, axis)) if x.ndim else ops.scalar(x)


def fliplr(m: Any) -> Any:
    """The elements in reverse order along the second axis, by `xarrayops.flip`."""
    return flip(_of_dimensions(m, 2), 1)


def flipud(m: Any) -> Any:
    """The elements in reverse order along the first axis, by `xarrayops.flip`."""
    return flip(_of_dimensions(m, 1), 0)


def _of_dimensions(m: Any, least: int) -> Any:
    x = ops.array(m)
    if x.ndim < least:
        raise ValueError(f"Input must be >= {least}-d.")
    return x


def rot90(m: Any, k: int = 1, axes: Any = (0, 1)) -> Any:
    """The array rotated by quarter turns in the plane of two axes, by `xarrayops.flip`."""
    x = ops.array(m)
    first, second = _axes.axes_of(x, _axes.integers(axes))
    if first == second:
        raise ValueError("Axes must be different.")
    turns = _axes.whole(k) % 4
    if turns % 2 == 0:
        return xo.flip(x, axis=(first, second)) if turns else x
    swapped = swapaxes(xo.flip(x, axis=second) if turns == 1 else x, first, second)
    return swapped if turns == 1 else xo.flip(swapped, axis=second)


def roll(a: Any, shift: Any, axis: Any = None) -> Any:
    """The elements moved along the axes; elements moved beyond the end reappear at the start, by `xarrayops.roll`."""
    x = ops.array(a)
    shifts = tuple(map(int, shift)) if _axes.is_several(shift) else int(shift)
    return xo.roll(x, shifts, axis=axis if axis is None else _axes.axes_of(x, _axes.integers(axis)))


def tile(A: Any, reps: Any) -> Any:
    """The array repeated along each axis, by `xarrayops.tile`."""
    return xo.tile(ops.array(A), _axes.integers(reps))


def repeat(a: Any, repeats: Any, axis: int | None = None) -> Any:
    """Each element repeated along an axis, by `xarrayops.repeat`."""
    x = ops.array(a)
    x, axis = (_axes.raveled(x), 0) if axis is None else (x, _axes.one_axis(axis, x.ndim))
    if not isinstance(repeats, int):
        repeats = _axes.raveled(ops.indices(repeats, x))
        if repeats.shape[0] == 1:
            repeats = xo.broadcast_to(repeats, (x.shape[axis],))
    return xo.repeat(x, repeats, axis=axis)


def ndim(a: Any) -> int:
    """The number of dimensions."""
    return ops.array(a).ndim


def shape(a: Any) -> tuple[int, ...]:
    """The extents of all axes."""
    return tuple(ops.array(a).shape)


def size(a: Any, axis: Any = None) -> int:
    """The number of elements, or of elements along the axes."""
    x = ops.array(a)
    return prod([x.shape[place] for place in _axes.axes_of(x, axis)])


def isfortran(a: Any) -> bool:
    """Whether the array is in Fortran order and not in C order, by `xarrayops.layout_of`."""
    return _results.is_fortran(a)


def iterable(y: Any) -> bool:
    """Whether it can be iterated over; a 0-d array cannot."""
    try:
        iter(y)
    except TypeError:
        return False
    return getattr(y, "ndim", 1) > 0


if not TYPE_CHECKING:
    __all__ = ops.public(globals(), hidden=("of_dimensions",))
