"""Random numbers: Threefry-2x32-20 in int32, which wraps; on a CPU in blocks that fit the cache.

PyTorch has no additions and shifts of uint32 and uint64.
"""

from __future__ import annotations

from math import prod
from typing import Any

import torch

from xarrayops.plugin import Array
from xarrayops.plugin.random import (
    GROUPS,
    PARITY,
    ROTATIONS,
    WORD,
    Arithmetic,
    Draw,
    Format,
    frexp_of_bits,
    from_bits,
    threefry,
)
from xarrayops_backends.torch._dtypes import as_dtype

BLOCK = 1 << 15
"""The number of elements of one step on a CPU: the highest that PyTorch does not distribute over threads."""
TRANSCENDENTAL = 1 << 14
"""The number of elements of one step for normal and exponential numbers, which have more temporary arrays."""
_SIGNED = {torch.float32: torch.int32, torch.float64: torch.int64}


def trace_state() -> str | None:
    """Whether torch.compile traces. Dynamo follows the count of a generator, but the graph has the numbers' key."""
    return "torch.compile" if torch.compiler.is_compiling() else None


def _draw(draw: Draw, key: Any, shape: tuple[int, ...], device: Any, /) -> Array:
    """All elements in one step, or block by block on a CPU."""
    device = torch.get_default_device() if device is None else device
    size, words = prod(shape), _key_words(key)
    if device.type != "cpu" or size <= BLOCK or torch.compiler.is_compiling():
        index = torch.arange(size, dtype=torch.int64, device=device)
        return from_bits(_arithmetic(device), draw, _bits(words, index, draw.bits)).reshape(shape)
    out = torch.empty(size, dtype=as_dtype(draw.dtype), device=device)
    block = TRANSCENDENTAL if draw.kind in ("normal", "exponential") else BLOCK
    for start in range(0, size, block):
        index = torch.arange(start, min(start + block, size), device=device)
        out[start : start + block] = from_bits(_arithmetic(device), draw, _bits(words, index, draw.bits))
    return out.reshape(shape)


def random_keys(key: Any, counters: Array, /) -> Array:
    """In int64: keys are few."""
    x1 = counters.to(torch.int64)
    words = threefry(_key_words(key), torch.zeros_like(x1), x1)
    return torch.stack(words, dim=-1).to(torch.uint32)


def _key_words(key: Any) -> tuple[Any, Any]:
    """The words of a key: Python integers, or tensors without axes in int64."""
    return key if isinstance(key, tuple) else key.to(torch.int64).unbind()


def _int32(word: Any) -> Array:
    """A word with the same bits in int32, without axes. A Python integer would be converted in each step."""
    signed = (word ^ 0x80000000) - 0x80000000
    return signed.to(torch.int32) if isinstance(signed, torch.Tensor) else torch.tensor(signed, dtype=torch.int32)


_TURNS = [
    [tuple(map(_int32, (1 << turn, 32 - turn, (1 << turn) - 1))) for turn in ROTATIONS[group % 2]]
    for group in range(GROUPS)
]
"""By group and round: the factor for the upper part of a rotated word, the shift for the lower part, and its mask."""


def _bits(key: tuple[Any, Any], index: Array, bits: int) -> Array:
    """The random bits of elements: 64 as int64, 32 as int32."""
    words = (*key, key[0] ^ key[1] ^ PARITY)
    x0 = (index >> 32).to(torch.int32) + _int32(words[0])
    x1 = index.to(torch.int32) + _int32(words[1])
    upper = None if torch.compiler.is_compiling() else torch.empty_like(x1)
    for group, turns in enumerate(_TURNS):
        for factor, shift, mask in turns:
            x0 += x1
            upper = torch.mul(x1, factor, out=upper)  # vectorised, unlike a left shift
            x1 >>= shift
            x1 &= mask  # the shift repeats the sign
            x1 |= upper
            x1 ^= x0
        x0 += _int32(words[(group + 1) % 3])
        x1 += _int32((words[(group + 2) % 3] + group + 1) & WORD)
    if bits == 32:
        return x0 ^ x1
    joined = x0.to(torch.int64)
    joined <<= 32
    x1 = x1.to(torch.int64)
    x1 &= WORD
    joined |= x1
    return joined


def _arithmetic(device: torch.device) -> Arithmetic:
    """Rare cases are computed alone on a CPU only: a GPU would wait for their number."""
    places = None if device.type != "cpu" or torch.compiler.is_compiling() else _places
    return Arithmetic(torch.where, _sqrt, _astype, as_dtype, _frexp, places=places)


def _places(mask: Array) -> Array:
    return mask.nonzero()[:, 0]


def _astype(x: Array, dtype: torch.dtype) -> Array:
    return x.view(dtype) if dtype == torch.uint64 else x.to(dtype)


def _frexp(x: Array, form: Format) -> tuple[Array, Array]:
    return frexp_of_bits(x.view(_SIGNED[x.dtype]), form, lambda bits: bits.view(x.dtype), _astype)


def _sqrt(x: Array) -> Array:
    """The correctly rounded square root. PyTorch's own is off by one unit for 1 % of float64, 14 % of float32 on a CPU.

    One step of Newton's method with the exact residual, from the product of Dekker (Numerische Mathematik 18, 1971).
    """
    if x.dtype == torch.float32:
        return x.to(torch.float64).sqrt().to(torch.float32)
    root = x * x.rsqrt()  # torch.sqrt distributes few elements over threads
    scaled = root * 134217729.0
    high = scaled - (scaled - root)
    low = root - high
    square = root * root
    error = ((high * high - square) + high * low * 2.0) + low * low
    return root + ((x - square) - error) / (root + root)


RANDOM_DRAW_CANDIDATES = [("blocks", _draw, lambda call: None)]


def native_generator(seed: int, device: Any, /) -> torch.Generator:
    """`torch.Generator`."""
    return torch.Generator(torch.get_default_device() if device is None else device).manual_seed(seed - (1 << 63))


def native_draw(generator: torch.Generator, draw: Draw, shape: tuple[int, ...], device: Any, /) -> Array:
    """By the functions of random numbers of PyTorch."""
    where: dict[str, Any] = {"generator": generator, "device": device, "dtype": as_dtype(draw.dtype)}
    match draw.kind:
        case "permutation":
            return torch.randperm(draw.width, **where)
        case "bits":
            bits = torch.empty(shape, dtype=torch.int64, device=device).random_(-(1 << 63), None, generator=generator)
            return _astype(bits, where["dtype"])
        case "integers":
            return _native_integers(generator, draw, shape, device).to(where["dtype"])
        case "uniform":
            return torch.rand(shape, **where)
        case "normal":
            x = torch.randn(shape, **where)
        case _:
            x = torch.empty(shape, dtype=where["dtype"], device=device).exponential_(generator=generator)
    return x.mul_(draw.scale).add_(draw.loc)


def _native_integers(generator: torch.Generator, draw: Draw, shape: tuple[int, ...], device: Any) -> Array:
    """As int64. PyTorch's own function takes limits of int64."""
    if draw.width > WORD or draw.low + draw.width > 1 << 63:
        raise NotImplementedError
    return torch.randint(draw.low, draw.low + draw.width, shape, generator=generator, device=device)
