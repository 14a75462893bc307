"""Elements of split axes by their rank.

Rows that fit into a chunk are sorted whole. Of longer rows each chunk is sorted, and elements are found by their rank
from counts, digit by digit (`xarrayops.plugin.generic.blocks_selection`).
"""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np

from xarrayops.plugin import Array
from xarrayops.plugin.backends import backend_of
from xarrayops.plugin.generic import blocks_selection as selection
from xarrayops_backends.dask import _blocks
from xarrayops_backends.dask._blocks import da

SMALL = 1 << 20
"""The bytes that one chunk may always have."""


def size(x: Array) -> int:
    """The greatest number of elements of a chunk of x; no less than a small chunk has."""
    return max(math.prod(map(max, x.chunks)), SMALL // x.dtype.itemsize, 1)


def with_rows(x: Array, axis: int) -> Array | None:
    """x with chunks that hold whole rows along an axis and are no larger than those of x; None for longer rows."""
    if x.numblocks[axis] == 1:
        return x
    limit = size(x)
    if x.shape[axis] > limit and x.dtype.kind in "fiub":
        return None
    if x.size <= limit or x.shape[axis] > limit:
        return x.rechunk({axis: -1})
    chunks = dict.fromkeys(range(x.ndim), "auto") | {axis: -1}
    return x.rechunk(chunks, block_size_limit=limit * x.dtype.itemsize)


def sorted_chunks(x: Array, count: int) -> Array:
    """x with chunks sorted along the last axis. Of ``count`` elements of each row, the counts are less than a chunk."""
    limit = size(x)
    rows = math.prod(max(chunks) for chunks in x.chunks[:-1])
    if rows > 1 and rows * count << selection.DIGIT > limit:
        x = x.rechunk((*(1,) * (x.ndim - 1), limit), block_size_limit=limit * x.dtype.itemsize)
    return da.map_blocks(np.sort, x, axis=-1, stable=True, dtype=x.dtype, meta=x._meta)


def elements(ordered: Array, ranks: Array) -> Array:
    """The elements at ranks of each row, from chunks that are sorted along the last axis."""
    dtype, ndim = ordered.dtype, ordered.ndim
    row, (block, rank, digit) = tuple(range(ndim - 1)), range(ndim - 1, ndim + 2)
    ranks = ranks.rechunk((*ordered.chunks[:-1], -1))
    places = da.map_blocks(partial(selection.start, np, dtype=dtype), ranks, dtype=f"u{dtype.itemsize}")
    for shift in range(8 * dtype.itemsize - selection.DIGIT, -1, -selection.DIGIT):
        below = da.blockwise(
            partial(_below, shift=shift, dtype=dtype),
            (*row, block, rank, digit),
            *(ordered, (*row, block), places, (*row, rank)),
            adjust_chunks={block: 1},
            new_axes={digit: 1 << selection.DIGIT},
            meta=_blocks.meta(ordered, np.int64, ndim + 2),
        )
        total = da.sum(below, axis=block, dtype=np.int64)
        places = da.blockwise(
            partial(_narrowed, shift=shift),
            (*row, rank),
            *(places, (*row, rank), ranks, (*row, rank), total, (*row, rank, digit)),
            concatenate=True,
            meta=places._meta,
        )
    return da.map_blocks(partial(_numbers, dtype=dtype), places, dtype=dtype, meta=_blocks.meta(ordered, dtype, ndim))


def _view(x: Any, dtype: Any) -> Any:
    return x.view(dtype)


def _below(ordered: Any, places: Any, *, shift: int, dtype: Any) -> Any:
    """The counts of a chunk, with an axis of extent 1 for the chunks."""
    xp = backend_of(places).namespace
    pairs = zip(ordered.reshape(-1, ordered.shape[-1]), places.reshape(-1, places.shape[-1]), strict=True)
    counts = [selection.below(xp, row, wanted, shift, dtype, _view) for row, wanted in pairs]
    return np.stack(counts).reshape(*ordered.shape[:-1], 1, places.shape[-1], -1)


def _narrowed(places: Any, ranks: Any, total: Any, *, shift: int) -> Any:
    return selection.narrowed(backend_of(places).namespace, places, ranks, total, shift)


def _numbers(places: Any, *, dtype: Any) -> Any:
    return selection.numbers(backend_of(places).namespace, places, dtype, _view)
