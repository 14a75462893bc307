"""Random numbers: each chunk by NumPy, from the flat indices of its elements in the whole array."""

from __future__ import annotations

from typing import Any

from cubed.utils import normalize_chunks as _normalize_chunks

from xarrayops.plugin import Array
from xarrayops.plugin.host import random_numbers
from xarrayops.plugin.random import Draw
from xarrayops_backends.cubed import _blocks
from xarrayops_backends.cubed._standard import argsort as _argsort


def random_draw(draw: Draw, key: Any, shape: tuple[int, ...], device: Any, /) -> Array:
    """In chunks of cubed's default size, which does not affect the numbers."""
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
