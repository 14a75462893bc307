"""Random numbers: each chunk by NumPy, from the flat indices of its elements in the whole array."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from xarrayops.plugin import Array
from xarrayops.plugin.host import random_numbers
from xarrayops.plugin.random import Draw
from xarrayops_backends.dask import _blocks
from xarrayops_backends.dask._blocks import da
from xarrayops_backends.dask._standard.order import argsort as _argsort
from xarrayops_backends.numpy import _random as _numpy

_LEAST = 1 << 23
"""The bytes of the chunks of numbers that are sorted."""


def random_draw(draw: Draw, key: Any, shape: tuple[int, ...], device: Any, /) -> Array:
    """Along axes as long as those of the array that the numbers are like, in its chunks, else of Dask's default size.

    Chunks do not affect the numbers.
    """
    return _drawn(draw, key, shape, device)


def random_permutation(key: Any, size: int, device: Any, /) -> Array:
    """By a sort of chunks of the bits."""
    _blocks.check_device(device)
    return _argsort(_drawn(Draw("bits", "int64"), key, (size,), None, _LEAST))


def _drawn(draw: Draw, key: Any, shape: tuple[int, ...], device: Any, limit: Any = None) -> Array:
    _blocks.check_device(device)
    dtype = np.dtype(draw.dtype)
    like = getattr(device, "chunks", ())
    wanted = tuple(like[i] if i < len(like) and sum(like[i]) == n else "auto" for i, n in enumerate(shape))
    chunks = da.core.normalize_chunks(wanted, shape, limit, dtype=dtype)
    meta = np.empty((0,) * len(shape), dtype)
    return da.map_blocks(_chunk, chunks=chunks, dtype=dtype, meta=meta, draw=draw, key=key, whole=shape)


def _chunk(draw: Draw, key: Any, whole: tuple[int, ...], block_info: Any = None) -> Any:
    """The elements of one chunk."""
    place = block_info[None]["array-location"]
    shape = tuple(stop - start for start, stop in place)
    return random_numbers.block(draw, key, whole, [start for start, _ in place], shape)


def beta_numbers(dtype: str, shapes: Array, normals: Array, exponentials: Array, /) -> Array:
    """Each chunk by NumPy, with all proposals of its elements."""
    last = (shapes.ndim - 2, shapes.ndim - 1)
    whole = normals.rechunk(dict.fromkeys(last, -1))
    arrays = (shapes.rechunk(whole.chunks), whole, exponentials.rechunk(whole.chunks))
    return da.map_blocks(partial(_numpy.beta_numbers, dtype), *arrays, dtype=dtype, drop_axis=last)


def native_generator(seed: int, device: Any, /) -> Any:
    """Dask's default generator. Its numbers depend on the chunks."""
    return da.random.default_rng(seed)


def native_draw(generator: Any, draw: Draw, shape: tuple[int, ...], device: Any, /) -> Array:
    """By the methods of `dask.array.random.Generator`, which are those of NumPy's."""
    _blocks.check_device(device)
    if draw.kind not in ("normal", "exponential"):
        return _numpy.native_draw(generator, draw, shape, device)
    x = getattr(generator, f"standard_{draw.kind}")(size=shape)
    return (x * draw.scale + draw.loc).astype(draw.dtype)
