"""The steps of a draw by PyTorch's functions: Threefry-2x32-20 in int32, which wraps, and exact arithmetic.

PyTorch has no additions and shifts of uint32 and uint64.
"""

from __future__ import annotations

import math
from typing import Any

import torch

from xarrayops.plugin import Array
from xarrayops.plugin.distributions import Arithmetic, Format, frexp_of_bits, from_bits
from xarrayops.plugin.random import GROUPS, PARITY, ROTATIONS, WORD, Draw, threefry
from xarrayops_backends.torch._dtypes import as_dtype

_SIGNED = {torch.float32: torch.int32, torch.float64: torch.int64}


def draw_in_one_step(draw: Draw, key: Any, shape: tuple[int, ...], device: Any, /) -> Array:
    """All elements in one step: each step is a kernel launch, or a part of the graph."""
    device = torch.get_default_device() if device is None else device
    index = torch.arange(math.prod(shape), dtype=torch.int64, device=device)
    return from_bits(ARITHMETIC, draw, _bits(_key_words(key), index, draw.bits)).reshape(shape)


def keys_of_counters(key: Any, counters: Array) -> Array:
    """In int64, because keys are few. For a batch of keys, (..., 2), the first axes of the counters are its axes."""
    x1 = counters.to(torch.int64)
    words = threefry(_key_words(key, x1.ndim), torch.zeros_like(x1), x1)
    return torch.stack(words, dim=-1).to(torch.uint32)


def _key_words(key: Any, ndim: int = 0) -> tuple[Any, Any]:
    """The words of a key: Python integers, or tensors in int64, which broadcast from the left to ``ndim`` axes."""
    if isinstance(key, tuple):
        return key
    first, second = key.to(torch.int64).unbind(-1)
    shape = (*first.shape, *(1,) * (ndim - first.ndim))
    return first.reshape(shape), second.reshape(shape)


def _int32(word: Any) -> Any:
    """A word with the same bits in int32."""
    signed = (word ^ 0x80000000) - 0x80000000
    return signed.to(torch.int32) if isinstance(signed, torch.Tensor) else signed


def _bits(key: tuple[Any, Any], index: Array, bits: int) -> Array:
    """The random bits of elements: 64 as int64, 32 as int32."""
    words = (*key, key[0] ^ key[1] ^ PARITY)
    # The casts keep the lower 32 bits.
    x0 = (index >> 32).to(torch.int32) + _int32(words[0])
    x1 = index.to(torch.int32) + _int32(words[1])
    for group in range(GROUPS):
        for rotation in ROTATIONS[group % 2]:
            x0 = x0 + x1
            # A left shift by n is a product with 2**n, which wraps and which PyTorch vectorises. The right shift of a
            # signed number repeats the sign; the mask removes it.
            x1 = ((x1 * (1 << rotation)) | ((x1 >> (32 - rotation)) & ((1 << rotation) - 1))) ^ x0
        x0 = x0 + _int32(words[(group + 1) % 3])
        x1 = x1 + _int32((words[(group + 2) % 3] + group + 1) & WORD)
    if bits == 32:
        return x0 ^ x1
    # The cast to int64 extends the sign into the upper word.
    return (x0.to(torch.int64) << 32) | (x1.to(torch.int64) & WORD)


def astype(x: Array, dtype: torch.dtype) -> Array:
    """A cast of int64 to uint64 that keeps the bits, or another cast."""
    return x.view(dtype) if dtype == torch.uint64 else x.to(dtype)


def _frexp(x: Array, form: Format) -> tuple[Array, Array]:
    return frexp_of_bits(x.view(_SIGNED[x.dtype]), form, lambda bits: bits.view(x.dtype), astype)


def sqrt(x: Array) -> Array:
    """The correctly rounded square root. PyTorch's own is off by one unit for 1 % of float64, 14 % of float32 on a CPU.

    One step of Newton's method with the exact residual, from the product of Dekker (Numerische Mathematik 18, 1971).
    """
    if x.dtype == torch.float32:
        # Correct although it rounds twice: float64 has more than 2 * 24 + 2 bits, which is enough for a square root.
        return x.to(torch.float64).sqrt().to(torch.float32)
    # Not torch.sqrt, which distributes even few elements over threads.
    root = x * x.rsqrt()
    # 2**27 + 1 splits root into two halves of 26 bits, whose products are exact: root**2 == square + error.
    scaled = root * 134217729.0
    high = scaled - (scaled - root)
    low = root - high
    square = root * root
    error = ((high * high - square) + high * low * 2.0) + low * low
    # x - square is exact, as the two are close, so the residual x - root**2 is known to full precision.
    return root + ((x - square) - error) / (root + root)


ARITHMETIC = Arithmetic(torch.where, sqrt, astype, as_dtype, _frexp)
