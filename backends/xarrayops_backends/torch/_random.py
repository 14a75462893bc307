"""Random numbers: Threefry-2x32-20 in int32, which wraps; on a CPU in blocks that fit the cache.

PyTorch has no additions and shifts of uint32 and uint64.
"""

from __future__ import annotations

import math
from typing import Any

import torch
from torch.compiler import is_compiling

from xarrayops.plugin import Array
from xarrayops.plugin.generic import Arithmetic, Format, frexp_of_bits, from_bits, multiply_shift, signed_int64
from xarrayops.plugin.host import order
from xarrayops.plugin.random import GROUPS, PARITY, ROTATIONS, WORD, Draw, threefry
from xarrayops_backends.torch._dtypes import as_dtype

# The number of elements of one step on a CPU: the highest that PyTorch does not distribute over threads.
_BLOCK = 1 << 15
# The number of elements of one step for normal and exponential numbers, which have more temporary arrays.
_TRANSCENDENTAL = 1 << 14
_SIGNED = {torch.float32: torch.int32, torch.float64: torch.int64}


def trace_state() -> Any:
    """Whether torch.compile traces, or which levels of `torch.func.vmap` are active."""
    if is_compiling():
        return "torch.compile"
    functorch: Any = torch._C._functorch
    if functorch.peek_interpreter_stack() is None:
        return None
    stack = functorch.get_interpreter_stack()
    return [level.level() for level in stack if level.key() == functorch.TransformType.Vmap] or None


def _draw(draw: Draw, key: Any, shape: tuple[int, ...], device: Any, /) -> Array:
    """All elements in one step, or block by block on a CPU."""
    device = torch.get_default_device() if device is None else device
    size = math.prod(shape)
    block = _TRANSCENDENTAL if draw.kind in ("normal", "exponential") else _BLOCK
    index = torch.arange(min(size, block), dtype=torch.int64, device=device)
    is_plain = _is_in_host_memory(index)
    # The key is read once, without a wait, and its schedule becomes constants. A wrapped key has no one value.
    if is_plain and isinstance(key, torch.Tensor):
        is_plain = not torch._C._functorch.is_functorch_wrapped_tensor(key)
        key = tuple(key.tolist()) if is_plain else key
    steps = _steps(_key_words(key))
    if not is_plain:
        # Devices and tracers get all elements in one step: each step is a kernel launch, or a part of the graph.
        index = index if size <= block else torch.arange(size, dtype=torch.int64, device=device)
        return from_bits(_ARITHMETIC, draw, _bits(steps, index, draw.bits)).reshape(shape)
    out = torch.empty(size, dtype=as_dtype(draw.dtype), device=device)
    # One temporary array for all steps, where each left shift would allocate its own.
    space = torch.empty(len(index), dtype=torch.int32)
    # The number of rare cases depends on values, which only arrays in host memory give without a wait.
    arithmetic = _ARITHMETIC._replace(places=_places)
    for start in range(0, size, block):
        part = index[: size - start] + start
        out[start : start + block] = from_bits(arithmetic, draw, _bits(steps, part, draw.bits, space[: len(part)]))
    return out.reshape(shape)


def _is_in_host_memory(x: Any) -> bool:
    """Whether x has values that this process can read."""
    return type(x) is torch.Tensor and x.device.type == "cpu" and not is_compiling()


def random_permutation(key: Any, size: int, device: Any, /) -> Array:
    """By a stable sort. On a CPU NumPy sorts the same memory, in a tenth of the time of torch.sort."""
    bits = _draw(Draw("bits", "int64"), key, (size,), device)
    if _is_in_host_memory(bits) and not torch._C._functorch.is_functorch_wrapped_tensor(bits):
        return torch.from_numpy(order.order_of_bits(bits.numpy()))
    return torch.argsort(bits, stable=True)


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


def _steps(key: tuple[Any, Any]) -> list[tuple[Array, ...]]:
    """The constants of each step: two summands; or the factor, the shift and the mask that rotate a word."""
    words = (*key, key[0] ^ key[1] ^ PARITY)
    # A left shift by n is a product with 2**n, which wraps.
    turns = [[tuple(map(_int32, (1 << n, 32 - n, (1 << n) - 1))) for n in numbers] for numbers in ROTATIONS]
    steps: list[tuple[Array, ...]] = [(_int32(words[0]), _int32(words[1]))]
    for group in range(GROUPS):
        steps += turns[group % 2]
        steps.append((_int32(words[(group + 1) % 3]), _int32((words[(group + 2) % 3] + group + 1) & WORD)))
    return steps


def _bits(steps: list[tuple[Array, ...]], index: Array, bits: int, space: Array | None = None) -> Array:
    """The random bits of elements: 64 as int64, 32 as int32. ``space`` is for a temporary array."""
    # The casts keep the lower 32 bits.
    x0, x1 = (index >> 32).to(torch.int32), index.to(torch.int32)
    for step in steps:
        if len(step) == 2:
            x0, x1 = x0 + step[0], x1 + step[1]
            continue
        factor, shift, mask = step
        x0 += x1
        # PyTorch vectorises the product, and not a left shift.
        upper = torch.mul(x1, factor, out=space)
        # The right shift of a signed number repeats the sign; the mask removes it.
        x1 >>= shift
        x1 &= mask
        x1 |= upper
        x1 ^= x0
    if bits == 32:
        return x0 ^ x1
    joined = x0.to(torch.int64)
    joined <<= 32
    x1 = x1.to(torch.int64)
    # The cast to int64 extends the sign into the upper word.
    x1 &= WORD
    joined |= x1
    return joined


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


_ARITHMETIC = Arithmetic(torch.where, _sqrt, _astype, as_dtype, _frexp)
RANDOM_DRAW_CANDIDATES = [("blocks", _draw, lambda call: None)]


def native_generator(seed: int, device: Any, /) -> torch.Generator:
    """`torch.Generator`."""
    return torch.Generator(torch.get_default_device() if device is None else device).manual_seed(seed - (1 << 63))


def native_draw(generator: torch.Generator, draw: Draw, shape: tuple[int, ...], device: Any, /) -> Array:
    """By PyTorch's functions for random numbers."""
    where: dict[str, Any] = {"generator": generator, "device": device, "dtype": as_dtype(draw.dtype)}
    match draw.kind:
        case "permutation":
            return torch.randperm(draw.width, **where)
        case "bits":
            return _astype(_native_bits(generator, shape, device), where["dtype"])
        case "integers":
            return _native_integers(generator, draw, shape, device).to(where["dtype"])
        case "uniform":
            return torch.rand(shape, **where)
        case "normal":
            x = torch.randn(shape, **where)
        case _:
            x = torch.empty(shape, dtype=where["dtype"], device=device).exponential_(generator=generator)
    return x.mul_(draw.scale).add_(draw.loc)


def _native_bits(generator: torch.Generator, shape: tuple[int, ...], device: Any) -> Array:
    """64 bits as int64."""
    return torch.empty(shape, dtype=torch.int64, device=device).random_(-(1 << 63), None, generator=generator)


def _native_integers(generator: torch.Generator, draw: Draw, shape: tuple[int, ...], device: Any) -> Array:
    """As int64. PyTorch's own function takes limits that are int64, and their difference too."""
    if draw.width < 1 << 63 and draw.low + draw.width < 1 << 63:
        return torch.randint(draw.low, draw.low + draw.width, shape, generator=generator, device=device)
    return multiply_shift(_native_bits(generator, shape, device), draw.width) + signed_int64(draw.low)
