"""``xo.at`` on Dask: indexed elements, and updates of them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import count, islice
from typing import Any

import numpy as np

from xarrayops.errors import Unsupported
from xarrayops.plugin import Array, Index, Selection
from xarrayops.plugin.indexing import UFUNCS
from xarrayops_backends.dask import _blocks, _counting as counting
from xarrayops_backends.dask._blocks import da
from xarrayops_backends.numpy._indexing import UPDATES

_LAZY_UPDATES = {"set": lambda old, new: new} | {op: getattr(da, name) for op, name in UFUNCS.items()}
_EVERYTHING = slice(None)


def update(x: Array, index: Index, op: str, value: Any, /, *, copy: bool | None) -> Array:
    """Always return a new array: assignment to a Dask array replaces its graph, and other references do not see it.

    Masks with one value, slices, integers and one array of integers keep the chunks. Axes indexed by several arrays
    become one chunk.
    """
    if copy is False:
        raise Unsupported("a Dask array cannot be updated in place. Instead: copy=None, and use the result")
    if not _is_of_masks(index):
        _blocks.require_sizes("at", x, *index.entries)
    selection = index.selection(x.shape)
    value = da.asarray(value).astype(x.dtype)  # first, so that every kind of update rounds in the same way
    padded = selection.padded(value.shape)  # by indexing, because Dask cannot reshape all chunks
    value = value[(0,) * (value.ndim - len(padded))][(None,) * (len(padded) - value.ndim)]
    mask = index.lone_mask(selection)
    if mask is not None and padded[selection.first] == 1 and _is_whole(selection):
        value = index.arranged(selection, value)[0]
        mask = mask[(..., *(None,) * len(selection.rest))]
        return da.where(mask, _LAZY_UPDATES[op](x, value), x)
    _blocks.require_sizes("at", x)
    if 0 in selection.shape and None not in selection.shape:
        return x.copy()
    if not selection.arrays:
        return _assigned(x, selection, op, index.arranged(selection, value))
    if len(selection.arrays) > 1 or mask is not None or any(entry != _EVERYTHING for entry in selection.basic):
        return _scatter(x, index, op, value)
    indexed = da.transpose(x, selection.order)
    updated = counting.updated(indexed, selection.arrays[0], op, index.arranged(selection, value))
    return da.transpose(updated, tuple(np.argsort(selection.order)))


def select(x: Array, index: Index, /, *, copy: bool | None) -> Array:
    """Slices, integers and a vector of indices keep the chunks; other arrays select from one chunk."""
    if copy is False:
        raise Unsupported("a Dask array has no views, because its elements are not computed. Instead: copy=None")
    if not _is_of_masks(index):
        _blocks.require_sizes("at", x, *index.entries)
    selection = index.selection(x.shape)
    arrays = selection.arrays
    if len(arrays) > 1 or (arrays and arrays[0].ndim != 1):
        return _gathered(x, index, selection)
    y = x[selection.basic]
    if arrays:
        y = da.transpose(y, selection.order)
        y = y[arrays[0]] if index.is_mask(arrays[0]) else da.take(y, arrays[0], axis=0)
    return index.restored(selection, y)


def _gathered(x: Array, index: Index, selection: Selection) -> Array:
    """The elements that arrays select, in one task."""
    axes, fresh = tuple(range(x.ndim)), count(x.ndim)
    positions, operands, rest = _operands(index.entries, fresh)
    new = {next(fresh): (math.nan if extent is None else extent,) for extent in selection.shape}
    options = {"dtype": x.dtype, "new_axes": new, "positions": positions, "rest": rest}
    return _blocks.gather(_take, tuple(new), x, axes, *operands, **options)


def _take(x: Any, *arrays: Any, positions: tuple[int, ...], rest: tuple[Any, ...]) -> Any:
    arrays_left = iter(arrays)
    return np.asanyarray(x[tuple(next(arrays_left) if k in positions else i for k, i in enumerate(rest))])


def _keeps_chunks(shape: tuple[int, ...], index: Index, op: str | None, value: Any) -> bool:
    """Whether `update`, or without an operation `select`, serves an array of this shape in its chunks."""
    selection = index.selection(shape)
    arrays, mask = selection.arrays, index.lone_mask(selection)
    if op is None:
        return not arrays or (len(arrays) == 1 and arrays[0].ndim == 1)
    if mask is not None:
        return selection.padded(getattr(value, "shape", ()))[selection.first] == 1 and _is_whole(selection)
    return not arrays or (len(arrays) == 1 and all(entry == _EVERYTHING for entry in selection.basic))


def _is_of_masks(index: Index) -> bool:
    """Whether the index consists of masks, which do not need the extents of x."""
    return all(entry is ... or (hasattr(entry, "dtype") and index.is_mask(entry)) for entry in index.entries)


def _is_whole(selection: Selection) -> bool:
    """Whether the arrays of an index select from the first axes, and its other entries select everything."""
    whole = all(type(entry) is slice and entry == _EVERYTHING for entry in selection.basic)
    return whole and selection.order == tuple(range(len(selection.order)))


def _assigned(x: Array, selection: Selection, op: str, value: Array) -> Array:
    """An assignment to slices with positive steps, one for each axis. Dask's assignment is wrong for others."""
    key: list[slice] = []
    shaping: list[Any] = []  # an index of the value, which has axes for new axes of x, and none for integers
    for entry in selection.basic:
        if type(entry) is int:
            place = entry % x.shape[len(key)]
            key.append(slice(place, place + 1))
            shaping.append(None)
        elif entry is None:
            shaping.append(0)
        else:
            key.append(entry)
            shaping.append(_EVERYTHING)
    value = value[tuple(shaping)]
    if all(part == _EVERYTHING for part in key):
        return da.broadcast_to(_LAZY_UPDATES[op](x, value), x.shape).rechunk(x.chunks)
    result = x.copy()
    result[tuple(key)] = _LAZY_UPDATES[op](x[tuple(key)], value)
    return result


def _operands(entries: tuple[Any, ...], fresh: Iterator[int]) -> tuple[tuple[int, ...], list[Any], tuple[Any, ...]]:
    """The positions of the arrays in an index, the arrays, each with labels for its axes, and the other entries."""
    positions = tuple(k for k, entry in enumerate(entries) if hasattr(entry, "dtype"))
    operands: list[Any] = []
    for k in positions:
        operands += [da.asarray(entries[k]), tuple(islice(fresh, entries[k].ndim))]
    return positions, operands, tuple(None if k in positions else entry for k, entry in enumerate(entries))


def _scatter(x: Array, index: Index, op: str, value: Array) -> Array:
    """Update in one task: the axes that arrays index become one chunk, and the task gets the arrays and the values."""
    axes, fresh = tuple(range(x.ndim)), count(x.ndim)
    positions, operands, rest = _operands(index.entries, fresh)
    value_axes = tuple(islice(fresh, value.ndim))
    x = x.rechunk(-1)
    return _blocks.gather(
        _apply, axes, x, axes, value, value_axes, *operands, dtype=x.dtype, op=op, positions=positions, rest=rest
    )


def _apply(x: Any, value: Any, *arrays: Any, op: str, positions: tuple[int, ...], rest: tuple[Any, ...]) -> Any:
    arrays_left = iter(arrays)
    index = tuple(next(arrays_left) if k in positions else i for k, i in enumerate(rest))
    x = np.copy(x)
    try:
        if op == "set":
            x[index] = value
        else:
            UPDATES[op].at(x, index, np.broadcast_to(value, x[index].shape))  # NumPy may crash with other values
    except (IndexError, ValueError) as error:  # masks count their elements here, long after the call
        raise type(error)(f"xo.at(x)[index].{op}: {error}") from error
    return x
