"""Sorts. Rows that fit into a chunk are sorted whole; of longer rows the chunks of the result have their sizes.

Each chunk of a long row is sorted. The elements at the borders of the chunks of the result say where to cut the sorted
chunks, exactly: of equal elements those of earlier chunks come first. So each chunk of the result merges parts with as
many elements as it has.
"""

from __future__ import annotations

from functools import partial
from itertools import product
from typing import Any

import numpy as np
from dask.base import tokenize
from dask.highlevelgraph import HighLevelGraph

from xarrayops.plugin import Array
from xarrayops_backends.dask import _blocks, _selection
from xarrayops_backends.dask._blocks import da
from xarrayops_backends.dask._standard.manipulation import reshape
from xarrayops_backends.numpy import _standard as _numpy


def sort(x: Array, /, *, axis: int | None = -1, descending: bool = False, stable: bool = True) -> Array:
    """The NumPy backend's function on whole rows, or a merge of sorted chunks."""
    return _ordered(x, axis, descending=descending, stable=stable, is_arg=False)


def argsort(x: Array, /, *, axis: int | None = -1, descending: bool = False, stable: bool = True) -> Array:
    """The NumPy backend's function on whole rows, or a merge of sorted chunks."""
    return _ordered(x, axis, descending=descending, stable=stable, is_arg=True)


def _ordered(x: Array, axis: int | None, *, descending: bool, stable: bool, is_arg: bool) -> Array:
    if axis is None:
        x, axis = reshape(x, (-1,)), 0
    axis = _blocks.axis_from_front(x, axis)
    dtype = np.dtype(np.intp) if is_arg else x.dtype
    rows = _selection.with_rows(x, axis)
    if rows is not None:
        kernel = partial(_numpy.argsort if is_arg else _numpy.sort, axis=axis, descending=descending, stable=stable)
        return da.map_blocks(kernel, rows, dtype=dtype, meta=_blocks.meta(x, dtype, x.ndim)).rechunk(x.chunks)
    row = da.moveaxis(_blocks.without_empty_chunks(x), axis, -1)
    row = row.rechunk(
        (*(1,) * (x.ndim - 1), _selection.total(x)), block_size_limit=_selection.total(x) * x.dtype.itemsize
    )
    if descending:  # equal elements keep their order, so the result is reversed twice
        row = da.flip(row, -1) if is_arg else row
    found = _merged_chunks(row, dtype, is_arg=is_arg)
    if descending:
        found = x.shape[axis] - 1 - da.flip(found, -1) if is_arg else da.flip(found, -1)
    return da.moveaxis(found, -1, axis).rechunk(x.chunks)


def _merged_chunks(x: Array, dtype: Any, *, is_arg: bool) -> Array:
    """The ascending order of rows, each of which has its own chunks."""
    lengths, row, block = x.chunks[-1], tuple(range(x.ndim - 1)), x.ndim - 1
    kinds = {"dtype": x.dtype, "meta": x._meta}
    if is_arg:
        order = da.map_blocks(np.argsort, x, axis=-1, stable=True, dtype=dtype, meta=_blocks.meta(x, dtype, x.ndim))
        ordered = da.map_blocks(np.take_along_axis, x, order, axis=-1, **kinds)
        starts = da.from_array(np.cumsum((0, *lengths[:-1])), chunks=1)
        places = (order, (*row, block), starts, (block,))
        carried = [ordered, da.blockwise(np.add, (*row, block), *places, align_arrays=False, dtype=dtype)]
    else:
        ordered = da.map_blocks(np.sort, x, axis=-1, stable=True, **kinds)
        carried = [ordered]
    ends = np.cumsum(lengths)[:-1]
    borders = _selection.elements(ordered, da.broadcast_to(da.asarray(ends), (*x.shape[:-1], len(ends))))
    found = da.blockwise(
        _around,
        (*row, block, block + 1, block + 2),
        *(ordered, (*row, block), borders, (*row, block + 2)),
        adjust_chunks={block: 1},
        new_axes={block + 1: 2},
        meta=_blocks.meta(x, np.intp, x.ndim + 2),
    )
    cuts = da.map_blocks(partial(_cuts, ends=ends, lengths=lengths), found.rechunk({block: -1}), meta=found._meta)
    name = f"merged-{tokenize(ordered.name, is_arg)}"
    graph: dict[Any, Any] = {}
    chunks = range(len(lengths))
    for place in product(*map(range, x.numblocks[:-1])):
        for i, j in product(chunks, chunks):
            keys = [(each.name, *place, i) for each in carried]
            graph[f"{name}-part", *place, i, j] = (_part, (cuts.name, *place, 0, 0, 0), i, j, *keys)
        for j in chunks:
            graph[name, *place, j] = (_merge, [(f"{name}-part", *place, i, j) for i in chunks])
    layers = HighLevelGraph.from_collections(name, graph, dependencies=[*carried, cuts])
    return da.Array(layers, name, x.chunks, meta=_blocks.meta(x, dtype, x.ndim))


def _around(ordered: Any, borders: Any) -> Any:
    """How many elements of a chunk are less than each border, and how many are not greater."""
    flat = ordered.reshape(-1)
    found = [np.searchsorted(flat, borders.reshape(-1), side) for side in ("left", "right")]
    return np.stack(found).reshape(*ordered.shape[:-1], 1, 2, -1)


def _cuts(found: Any, *, ends: Any, lengths: Any) -> Any:
    """Where each chunk is cut. The elements that equal a border are taken from the chunks in their order."""
    less, equal = found[..., 0, :], found[..., 1, :] - found[..., 0, :]
    wanted = ends - less.sum(axis=-2, keepdims=True)
    earlier = np.cumsum(equal, axis=-2) - equal
    inner = less + np.clip(wanted - earlier, 0, equal)
    sides = np.zeros_like(inner[..., :1]), np.broadcast_to(np.asarray(lengths)[:, None], inner[..., :1].shape)
    return np.concatenate([sides[0], inner, sides[1]], axis=-1)


def _part(cuts: Any, i: int, j: int, *arrays: Any) -> list[Any]:
    """The part of a sorted chunk for one chunk of the result. It is a copy, so that the chunk can be released."""
    start, stop = cuts.reshape(cuts.shape[-2:])[i, j : j + 2]
    return [each[..., start:stop].copy() for each in arrays]


def _merge(parts: list[list[Any]]) -> Any:
    values, *places = (np.concatenate(arrays, axis=-1) for arrays in zip(*parts, strict=True))
    if not places:
        return np.sort(values, axis=-1, stable=True)
    return np.take_along_axis(places[0], np.argsort(values, axis=-1, stable=True), axis=-1)
