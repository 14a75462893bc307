"""Random numbers: each chunk by NumPy, from the flat indices of its elements in the whole array."""

from __future__ import annotations

from functools import partial
from typing import Any

import cubed
import numpy as np
from cubed.utils import normalize_chunks as _normalize_chunks

from xarrayops.plugin import Array
from xarrayops.plugin.backends import backend_by_name
from xarrayops.plugin.host import random_numbers
from xarrayops.plugin.random import Draw
from xarrayops_backends.cubed import _blocks
from xarrayops_backends.cubed._devices import compute, device
from xarrayops_backends.cubed._exchange import from_numpy
from xarrayops_backends.cubed._standard import argsort as _argsort

_numpy = backend_by_name("numpy").functions


def random_draw(draw: Draw, key: Any, shape: tuple[int, ...], device: Any, /) -> Array:
    """In chunks of cubed's default size, which does not affect the numbers."""
    key = _words(key)
    chunks = _normalize_chunks("auto", shape, dtype=draw.dtype)

    def kernel(block: Any, block_id: Any = None) -> Any:
        sizes = [found[place] for found, place in zip(chunks, block_id, strict=True)]
        first = [found[0] * place for found, place in zip(chunks, block_id, strict=True)]
        return random_numbers.block(draw, key, shape, first, tuple(sizes))

    like = _blocks.xp.empty(shape, dtype=draw.dtype, chunks=chunks, spec=getattr(device, "spec", _blocks.SPEC.get()))
    return _blocks.ops.map_blocks(kernel, like, dtype=like.dtype)


def random_permutation(key: Any, size: int, device: Any, /) -> Array:
    """By a stable sort."""
    return _argsort(random_draw(Draw("bits", "int64"), key, (size,), device))


def _words(key: Any) -> Any:
    """The words of a key, which are computed: as a plan they would be part of that of every draw."""
    return compute(key)[0] if isinstance(key, cubed.Array) else key


def random_keys(key: Any, counters: Array, /) -> Array:
    """By NumPy, of the computed key."""
    return from_numpy(_numpy["random_keys"](_words(key), compute(counters)[0]), device(counters))


def beta_numbers(dtype: str, shapes: Array, normals: Array, exponentials: Array, /) -> Array:
    """Each chunk by NumPy, with all proposals of its elements."""
    batch = normals.ndim - 2
    size = {i: n for i, n in enumerate(normals.chunksize) if i < batch}
    whole = [y.rechunk(size | dict(enumerate(y.shape[batch:], batch))) for y in (shapes, normals, exponentials)]
    made = _blocks.Made(normals.shape[:batch], np.dtype(dtype), whole[1].chunks[:batch])
    return _blocks.of_chunks(partial(_numpy["beta_numbers"], dtype), lambda at: [(*at, 0, 0)] * 3, *whole, like=made)
