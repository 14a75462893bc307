"""``xo.at`` on cubed: each chunk is updated by those elements of the index that are in it."""

from __future__ import annotations

from typing import Any

import numpy as np

from xarrayops.errors import Unsupported
from xarrayops.plugin import Array, Index
from xarrayops.plugin.backends import backend_by_name
from xarrayops.plugin.generic import HOOKS
from xarrayops.plugin.indexing import UFUNCS
from xarrayops_backends.cubed import _blocks
from xarrayops_backends.cubed._blocks import xp as _xp
from xarrayops_backends.cubed._exchange import from_numpy
from xarrayops_backends.numpy._indexing import UPDATES


def update(x: Array, index: Index, op: str, value: Any, /, *, copy: bool | None) -> Array:
    """Always a new array. One value at a mask or at slices keeps the chunks of all.

    Otherwise a task gets a chunk of x, and all positions and values.
    """
    if copy is False:
        raise Unsupported("a cubed array cannot be updated in place. Instead: copy=None, and use the result")
    selection, space = index.selection(x.shape), backend_by_name("cubed").namespace
    value = space.astype(space.asarray(value), x.dtype, copy=False)
    mask = index.lone_mask(selection)
    if not value.ndim and (index.is_basic or (mask is not None and mask.ndim == x.ndim)):
        new = value if op == "set" else space.astype(getattr(_xp, UFUNCS[op])(x, value), x.dtype)
        return _xp.where(_is_selected(x, selection.basic) if mask is None else mask, new, x)
    places = HOOKS["select"](space, space.reshape(space.arange(x.size), x.shape), index, copy=None)
    value = _xp.broadcast_to(space.reshape(value, index.counted(selection).padded(value.shape)), places.shape)
    return _scattered(x, places, value, op) if places.size else x


def _is_selected(x: Array, basic: tuple[Any, ...]) -> Array:
    """Whether each element is among those of a basic index."""
    found = from_numpy(np.asarray(True), None)
    for axis, (entry, n) in enumerate(zip((e for e in basic if e is not None), x.shape, strict=True)):
        chosen = from_numpy(np.isin(np.arange(n), np.arange(n)[entry]), None)
        found = found & chosen[(slice(None), *(None,) * (x.ndim - axis - 1))]
    return found


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
