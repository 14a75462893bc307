"""Indexed updates and selections."""

from __future__ import annotations

import math
from types import ModuleType
from typing import Any

from xarrayops.errors import Unsupported
from xarrayops.plugin.arrays import Array
from xarrayops.plugin.indexing import Index, Selection


def update(xp: ModuleType, x: Array, index: Index, op: str, value: Any, /, *, copy: bool | None) -> Array:
    """x after ``x[index] = op(x[index], value)``. Duplicates accumulate; indices have NumPy's meaning.

    ``op`` is set, add, subtract, multiply, divide, min or max. The value is a Python number or an array, which is
    cast to the dtype of x, and read before x is written. ``copy=True`` does not change x, None may write to it, and
    False must write to it or raise `Unsupported`. The caller explains an IndexError or ValueError of the library.
    `Index.selection` gives the steps of the selection, for libraries whose own indexing differs.
    """
    # The standard does not define item assignment by arrays of integers, so their elements are assigned in a loop.
    selection = index.selection(x.shape)
    target = xp.asarray(x, copy=True) if copy else x
    value = value if hasattr(value, "shape") else xp.full((), value, dtype=x.dtype, device=x.device)
    value = xp.astype(index.arranged(selection, value), x.dtype, copy=True)  # it may be a view of x
    names = {"set": "", "min": "minimum", "max": "maximum"}
    if xp.isdtype(x.dtype, "bool"):
        names |= {"add": "logical_or", "multiply": "logical_and", "min": "logical_and", "max": "logical_or"}
    combine = getattr(xp, names.get(op, op), lambda old, new: new)
    if not selection.arrays:
        place = tuple(entry for entry in selection.basic if entry is not None)
        old = target[place]
        extents = tuple(n for n, entry in zip(value.shape, _kept(selection.basic), strict=True) if entry is not None)
        target[place] = xp.astype(combine(old, xp.reshape(value, extents)), x.dtype)
        return target
    places = _places(xp, x, index, selection)
    value = xp.reshape(xp.broadcast_to(value, places.shape), (-1,))
    flat, places = xp.reshape(target, (-1,)), xp.reshape(places, (-1,))
    for k in range(int(places.shape[0])):
        at = int(places[k])
        flat[at] = xp.astype(combine(flat[at], value[k]), x.dtype)
    target[...] = xp.reshape(flat, x.shape)
    return target


def select(xp: ModuleType, x: Array, index: Index, /, *, copy: bool | None) -> Array:
    """The elements ``x[index]``; ``copy=False`` must return a view or raise `Unsupported`, None may return one."""
    selection = index.selection(x.shape)
    if not selection.arrays:
        if copy is False and selection.flipped:
            raise Unsupported("the standard has no views with negative strides. Instead: copy=None")
        y = index.restored(selection, _viewed(xp, x, selection.basic))
        return xp.asarray(y, copy=True) if copy else y
    if copy is False:
        raise Unsupported("an index with arrays copies the elements. Instead: copy=None")
    places = _places(xp, x, index, selection)
    y = xp.reshape(xp.take(xp.reshape(x, (-1,)), xp.reshape(places, (-1,))), places.shape)
    return index.restored(selection, y)


def _kept(basic: tuple[Any, ...]) -> list[Any]:
    """The entries of a basic index that keep an axis."""
    return [entry for entry in basic if type(entry) is not int]


def _viewed(xp: ModuleType, x: Array, basic: tuple[Any, ...]) -> Array:
    """``x[basic]``; the standard does not define None in combination with all other entries."""
    y = x[tuple(entry for entry in basic if entry is not None)]
    extents = iter(y.shape)
    return xp.reshape(y, tuple(1 if entry is None else next(extents) for entry in _kept(basic)))


def _places(xp: ModuleType, x: Array, index: Index, selection: Selection) -> Array:
    """The position in the flattened x of each selected element, the axes of the arrays first."""
    places = xp.reshape(xp.arange(math.prod(x.shape), device=x.device), x.shape)
    places = xp.permute_dims(_viewed(xp, places, selection.basic), selection.order)
    rows = xp.zeros((), dtype=places.dtype, device=x.device)
    arrays = index.integers(selection)
    for extent, array in zip(places.shape, arrays, strict=False):
        array = xp.astype(array, places.dtype)
        rows = rows * extent + xp.where(array < 0, array + extent, array)
    places = xp.reshape(places, (math.prod(places.shape[: len(arrays)]), *selection.rest))
    taken = xp.take(places, xp.reshape(rows, (-1,)), axis=0)
    return xp.reshape(taken, (*rows.shape, *selection.rest))
