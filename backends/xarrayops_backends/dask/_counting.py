"""Counts, segments and updates by index: each chunk of indices gives partial results, which a tree combines."""

from __future__ import annotations

import builtins
from functools import partial
from typing import Any

import numpy as np

from xarrayops.plugin import Array
from xarrayops.plugin.backends import backend_by_name, backend_of
from xarrayops.plugin.generic import blocks_counting as blocks, common, statistics
from xarrayops_backends.dask import _blocks
from xarrayops_backends.dask._blocks import da


def updated(x: Array, ids: Array, op: str, value: Array) -> Array:
    """x with its first axis updated at integers. ``value`` broadcasts to the axes of these, followed by those of x.

    Sums and extrema of each chunk of integers are combined by a tree. Other operations, whose order counts, update each
    chunk of x with one chunk of integers after the other.
    """
    x = _blocks.without_empty_chunks(x)
    ids, value = (ids[None], value[None]) if ids.ndim == 0 else (ids, value)
    axes = tuple(range(x.ndim))
    of_ids = tuple(range(x.ndim, x.ndim + ids.ndim))
    of_value = (*of_ids, *axes[1:])
    ids = _blocks.without_empty_chunks(da.asarray(ids))
    value = _blocks.broadcast_by_chunks(da.asarray(value), (*ids.chunks, *x.chunks[1:]))
    _, (ids, value) = da.core.unify_chunks(ids, of_ids, value, of_value)
    is_tree = op in blocks.COMBINED and x.dtype.kind in ("fiuc" if blocks.COMBINED[op] == "add" else "fiu")
    places = (da.arange(x.shape[0], chunks=(x.chunks[0],)), axes[:1])
    length = x.shape[0]
    if is_tree:
        parts = da.blockwise(
            partial(_combined, op=op, length=length),
            (*of_ids, *axes),
            *(ids, of_ids, value, of_value, *places),
            adjust_chunks=dict.fromkeys(of_ids, 1),
            meta=_blocks.meta(x, x.dtype, ids.ndim + x.ndim),
        )
        join = getattr(np, blocks.COMBINED[op]).reduce
        total = da.reduction(parts, join, join, axis=tuple(range(ids.ndim)), dtype=x.dtype)
        return (x - total if op == "subtract" else getattr(da, blocks.COMBINED[op])(x, total)).astype(x.dtype)
    inner = dict.fromkeys(range(1, ids.ndim), -1)
    ids, value = ids.rechunk(inner), value.rechunk(inner)
    kernel = partial(_updated, op=op, length=length)
    for i in range(ids.numblocks[0]):
        operands = (ids.blocks[i], of_ids, value.blocks[i], of_value, *places)
        x = da.blockwise(kernel, axes, x, axes, *operands, dtype=x.dtype, meta=x._meta, concatenate=True)
    return x


def chunked_histogram(
    x: Array,
    /,
    bins: Any = 10,
    *,
    range: tuple[float, float] | None = None,
    density: bool = False,
    weights: Any = None,
) -> tuple[Array, Array]:
    """The histogram of each chunk with the same edges."""
    xp = backend_by_name("dask").namespace
    if not x.ndim or not x.size or (weights is not None and weights.shape != x.shape):
        return statistics.histogram(xp, x, bins, range=range, density=density, weights=weights)
    common.require_real(xp, x)
    x = _blocks.without_empty_chunks(x)
    is_known = range is not None and not hasattr(bins, "dtype")
    if is_known:
        edges = statistics.bin_edges(backend_by_name("numpy").namespace, np.empty(1, x.dtype), bins, range)
    else:
        edges = statistics.bin_edges(xp, x, bins, range)
    # Known edges stay outside the graph, so that a chunk is counted by the task that makes it.
    given = (edges, None) if is_known else (edges.rechunk(-1), (x.ndim + 1,))
    count, axes = edges.shape[0] - 1, tuple(builtins.range(x.ndim))
    weighted = () if weights is None else (common.floating(xp, weights), axes)
    parts = da.blockwise(
        _histogram,
        (*axes, x.ndim),
        *(x, axes, *given, *weighted),
        adjust_chunks=dict.fromkeys(axes, 1),
        new_axes={x.ndim: count},
        concatenate=True,
        meta=_blocks.meta(x, weighted[0].dtype if weighted else np.intp, x.ndim + 1),
    )
    found, edges = da.sum(parts, axis=axes, dtype=parts.dtype), da.asarray(edges)
    return (statistics.densities(xp, x, found, edges, weights) if density else found), edges


def _histogram(x: Any, edges: Any, weights: Any = None) -> Any:
    found, _ = backend_of(x).functions["histogram"](x, edges, weights=weights)
    return found[(None,) * x.ndim]


def _flat(ids: Any, value: Any, places: Any, op: str, length: int) -> tuple[Any, Any]:
    """The indices in a chunk and their values, as a vector and rows."""
    ids, value = ids.reshape(-1), value.reshape(ids.size, *value.shape[ids.ndim :])
    outside = (ids < -length) | (ids >= length)
    if outside.any():
        wrong = ids[outside][0]
        raise IndexError(f"xo.at(x)[index].{op}: index {wrong} is out of bounds for axis 0 with size {length}")
    return np.where(ids < 0, ids.astype(np.intp) + length, ids) - places[0], value


def _combined(ids: Any, value: Any, places: Any, *, op: str, length: int) -> Any:
    """The values combined by index, for one chunk of x."""
    axes = (None,) * ids.ndim
    ids, value = _flat(ids, value, places, op, length)
    return blocks.combined(backend_of(value).namespace, op, value, ids, 0, len(places))[axes]


def _updated(x: Any, ids: Any, value: Any, places: Any, *, op: str, length: int) -> Any:
    """A chunk of x, updated at those indices that are in it."""
    ids, value = _flat(ids, value, places, op, length)
    is_here = (ids >= 0) & (ids < len(x))
    return getattr(backend_of(x).namespace.at(x)[ids[is_here]], op)(value[is_here], copy=True)
