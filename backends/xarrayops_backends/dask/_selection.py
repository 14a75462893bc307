"""Elements of split axes by their rank.

Rows that fit into a chunk are sorted whole. Of longer rows each chunk is sorted, and elements are found by their rank:
few of them in two passes over the chunks (`selected`), many from counts, digit by digit
(`xarrayops.plugin.generic.blocks_selection`).
"""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np
from dask.core import get_deps
from dask.graph_manipulation import bind

from xarrayops.plugin import Array
from xarrayops.plugin.backends import backend_of
from xarrayops.plugin.generic import blocks_selection as selection
from xarrayops_backends.dask import _blocks
from xarrayops_backends.dask._blocks import da

SMALL = 1 << 20
"""The bytes that one chunk may always have."""


def total(x: Array) -> int:
    """The greatest number of elements of a chunk of x; no less than a small chunk has."""
    return max(math.prod(map(max, x.chunks)), SMALL // x.dtype.itemsize, 1)


def with_rows(x: Array, axis: int) -> Array | None:
    """x with chunks that hold whole rows along an axis and are no larger than those of x; None for longer rows."""
    if x.numblocks[axis] == 1:
        return x
    limit = total(x)
    if x.shape[axis] > limit and x.dtype.kind in "fiub":
        return None
    if x.size <= limit or x.shape[axis] > limit:
        return x.rechunk({axis: -1})
    chunks = dict.fromkeys(range(x.ndim), "auto") | {axis: -1}
    return x.rechunk(chunks, block_size_limit=limit * x.dtype.itemsize)


def selected(x: Array, ranks: Array) -> Array:
    """The elements of each row of x at ranks.

    Each chunk is sorted and cut into groups. The least and the greatest elements of all groups say between which
    numbers each wanted element is, and a second pass takes what is between these from each chunk. If the tasks of each
    chunk are its own, the second pass computes the chunks again, so that none is kept.
    """
    count, limit = ranks.shape[-1], total(x)
    rows, blocks = math.prod(max(chunks) for chunks in x.chunks[:-1]), x.numblocks[-1]
    ranks = ranks.rechunk((*x.chunks[:-1], -1))
    is_small = 3 * rows * math.isqrt(x.shape[-1] * blocks * count) <= limit
    if not is_small and rows > 1 and rows * count << selection.DIGIT > limit:
        x = x.rechunk((*(1,) * (x.ndim - 1), limit), block_size_limit=limit * x.dtype.itemsize)
    ordered = da.map_blocks(np.sort, x, axis=-1, dtype=x.dtype, meta=x._meta)
    if not is_small:
        return elements(ordered, ranks)
    step = max(math.isqrt(x.shape[-1] // (blocks * count)), 1)  # so both passes give about as many elements
    row, (block, rank, side) = tuple(range(x.ndim - 1)), range(x.ndim - 1, x.ndim + 2)
    wide = _blocks.meta(x, x.dtype, x.ndim + 1)
    lengths = {block: lambda length: -(-length // step)}
    ends = partial(_ends_of_groups, step=step)
    groups = da.blockwise(
        ends, (*row, side, block), ordered, (*row, block), adjust_chunks=lengths, new_axes={side: 2}, meta=wide
    )
    operands = (groups, (*row, side, block), ranks, (*row, rank))
    between = partial(_bounds, step=step, blocks=blocks)
    bounds = da.blockwise(between, (*row, side, rank), *operands, concatenate=True, meta=wide)
    again = bind(x, bounds, seed=bounds.name) if _is_of_own_tasks(x) else x
    operands = (again, (*row, block), bounds, (*row, side, rank))
    inside = da.blockwise(_between, (*row, block), *operands, adjust_chunks={block: 1}, concatenate=True, meta=x._meta)
    parts = (inside, (*row, block), bounds, (*row, side, rank), ranks, (*row, rank))
    return da.blockwise(_of_rank, (*row, rank), *parts, concatenate=False, meta=x._meta)


def _is_of_own_tasks(x: Array) -> bool:
    """Whether no task that takes results of others serves several: then x is computed again with few repeated steps."""
    dependencies, dependents = get_deps(x.dask.to_dict())
    return not any(taken and len(dependents[key]) > 1 for key, taken in dependencies.items())


def _ends_of_groups(ordered: Any, step: int) -> Any:
    """The first and the last elements of groups of ``step`` elements, the last of which may be shorter."""
    length = ordered.shape[-1]
    last = np.minimum(np.arange(step - 1, length + step - 1, step), length - 1)
    return np.stack([ordered[..., ::step], ordered[..., last]], axis=-2)


def _bounds(groups: Any, ranks: Any, *, step: int, blocks: int) -> Any:
    """Numbers between which the elements at ranks are, these included.

    Less than the least number of group k, in their order, are elements of k groups only: at most k * step. The k + 1
    groups whose greatest numbers are least have (k + 1) * step elements, but for one short group of each block.
    """
    least, greatest = np.moveaxis(np.sort(groups, axis=-1), -2, 0)
    above = np.minimum((ranks + blocks * (step - 1)) // step, greatest.shape[-1] - 1)
    sides = np.take_along_axis(least, ranks // step, -1), np.take_along_axis(greatest, above, -1)
    return np.stack(sides, axis=-2)


def _between(x: Any, bounds: Any) -> list[tuple[int, Any]]:
    """For each wanted element: how many elements are not above the lower bound, and those between the bounds."""
    found: list[tuple[int, Any]] = []
    for row, low, high in zip(x.reshape(-1, x.shape[-1]), *_sides(bounds), strict=True):
        for least, greatest in zip(low, high, strict=True):  # NaN is above all numbers
            found.append((int(np.count_nonzero(row <= least)), row[(row > least) & ~(row >= greatest)]))
    return found


def _of_rank(parts: Any, bounds: Any, ranks: Any) -> Any:
    """The elements at ranks, from what the chunks have between the bounds."""
    low, found = (side.flatten() for side in _sides(*bounds))
    for i, each in enumerate(zip(*parts, strict=True)):
        counts, values = zip(*each, strict=True)
        inside, place = np.sort(np.concatenate(values)), ranks.reshape(-1)[i] - sum(counts)
        if place < inside.size:
            found[i] = low[i] if place < 0 else inside[place]
    return found.reshape(ranks.shape)


def _sides(bounds: Any) -> tuple[Any, Any]:
    """The lower and the upper bounds, of all rows."""
    low, high = (bounds[..., side, :].reshape(-1, bounds.shape[-1]) for side in (0, 1))
    return low, high


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
