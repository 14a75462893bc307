"""``xo.at`` on cubed: each chunk is updated by those elements of the index that are in it."""

from __future__ import annotations

from functools import partial
from typing import Any

import cubed
import numpy as np

from xarrayops.errors import Unsupported
from xarrayops.plugin import Array, Index, Selection
from xarrayops.plugin.backends import backend_by_name
from xarrayops.plugin.generic import HOOKS
from xarrayops.plugin.indexing import UFUNCS
from xarrayops_backends.cubed import _blocks
from xarrayops_backends.cubed._devices import compute, device
from xarrayops_backends.cubed._exchange import from_numpy
from xarrayops_backends.cubed._standard import broadcast_to
from xarrayops_backends.numpy._indexing import UPDATES


def update(x: Array, index: Index, op: str, value: Any, /, *, copy: bool | None) -> Array:
    """Always a new array. One value at a mask keeps the chunks of all.

    Otherwise a task gets a chunk of x, and all positions, which are computed, and values.
    """
    if copy is False:
        raise Unsupported("a cubed array cannot be updated in place. Instead: copy=None, and use the result")
    selection, space = index.selection(x.shape), backend_by_name("cubed").namespace
    value = space.astype(space.asarray(value), x.dtype, copy=False)
    mask = index.lone_mask(selection)
    if not value.ndim and mask is not None and x.size and mask.ndim == x.ndim == len(index.entries):
        return _blocks.ops.elemwise(partial(_masked, op=op), x, mask, value, dtype=x.dtype)
    entries = tuple(compute(entry)[0] if isinstance(entry, cubed.Array) else entry for entry in index.entries)
    # Broadcast axes have no memory, so that only the selected positions do.
    axes = [np.broadcast_to(i, x.shape)[entries] for i in np.ogrid[tuple(map(slice, x.shape))]]
    found = np.broadcast_to(np.int64(0), x.shape)[entries].shape
    value = broadcast_to(
        space.reshape(value, selection._replace(batch=_batch(selection, found)).padded(value.shape)), found
    )
    if not value.size:
        return x
    places = np.ravel_multi_index(axes, x.shape) if axes else np.zeros(found, np.int64)
    vector = space.reshape(x, x.shape or (1,))  # NumPy has no positions in a number
    return space.reshape(_scattered(vector, from_numpy(places, device(x)), value, op), x.shape)


def select(x: Array, index: Index, /, *, copy: bool | None) -> Array:
    """The generic function; cubed's index refuses some selections of no elements."""
    shape = index.counted(index.selection(x.shape)).shape
    if 0 in shape:
        return from_numpy(np.empty(shape, x.dtype), device(x))
    return HOOKS["select"](backend_by_name("cubed").namespace, x, index, copy=copy)


def _batch(selection: Selection, shape: tuple[int, ...]) -> tuple[int, ...]:
    """The extents of the axes of the arrays in the shape of the elements."""
    return shape[selection.first : selection.first + len(selection.batch)]


def _masked(x: Any, mask: Any, value: Any, *, op: str) -> Any:
    return np.where(mask, value if op == "set" else getattr(np, UFUNCS[op])(x, value).astype(x.dtype), x)


def _scattered(x: Array, places: Array, value: Array, op: str) -> Array:
    """x updated at flat positions."""
    whole = [y.rechunk(y.shape) for y in (places, value)]
    shape, chunk = x.shape, x.chunksize

    def kernel(block: Any, places: Any, value: Any, block_id: Any = None) -> Any:
        index = [i - k * n for i, k, n in zip(np.unravel_index(places, shape), block_id, chunk, strict=True)]
        is_here = np.ones(places.shape, bool)
        for i, n in zip(index, block.shape, strict=True):
            is_here &= (i >= 0) & (i < n)
        block, target = np.array(block), tuple(i[is_here] for i in index)
        if op == "set":
            block[target] = value[is_here]
        else:
            UPDATES[op].at(block, target, value[is_here])
        return block

    return _blocks.of_chunks(kernel, lambda place: [place, *((0,) * y.ndim for y in whole)], x, *whole)
