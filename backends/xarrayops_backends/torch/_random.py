"""Random numbers: in host memory by the host's functions, elsewhere by Threefry-2x32-20 in int32, which wraps.

PyTorch has no additions and shifts of uint32 and uint64. In compiled functions for a CPU a draw is one operator: the
compilation of its hundreds of steps takes longer than that of the rest of the function.
"""

from __future__ import annotations

import math
from typing import Any

import torch
from torch.compiler import is_compiling

from xarrayops.plugin import Array, Call, constant_while_tracing
from xarrayops.plugin.backends import backend_by_name
from xarrayops.plugin.distributions import (
    Arithmetic,
    Format,
    frexp_of_bits,
    from_bits,
    multiply_shift,
    scaled,
    signed_int64,
)
from xarrayops.plugin.host import random_numbers
from xarrayops.plugin.random import GROUPS, PARITY, ROTATIONS, WORD, Draw, threefry
from xarrayops_backends.torch._compilation import _is_exporting
from xarrayops_backends.torch._dtypes import as_dtype

_torch: Any = torch  # some functions lack annotations

_STANDARD = ("uniform", "normal", "exponential")
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


def _host_draw(draw: Draw, key: Any, shape: tuple[int, ...], device: Any, /) -> Array:
    """In host memory, by the host's functions."""
    key = key_words(key) if isinstance(key, torch.Tensor) else key
    with torch._C.DisableTorchFunction():  # `xo.profile` counts only transfers of the program
        out = torch.empty(shape, dtype=as_dtype(draw.dtype), device="cpu")
        random_numbers.fill(out.numpy(), draw, key, random_numbers.loops_for(out.numel()))
    return out


def key_words(key: Array, /) -> tuple[int, int] | None:
    """As Python integers."""
    if not _is_in_host_memory(key, key.device):
        return None
    with torch._C.DisableTorchFunction():
        return tuple(key.tolist())


def _host_refusal(call: Call, /) -> str | None:
    _, key, _, device = call.args
    return None if _is_in_host_memory(key, device) else "it serves tensors whose values are in host memory"


def _is_in_host_memory(key: Any, device: Any) -> bool:
    """Whether the key and new tensors on a device have values that this process can read."""
    if is_compiling():
        return False
    for x in (torch.empty(0, device=device), key):
        if isinstance(x, torch.Tensor) and (type(x) is not torch.Tensor or x.device.type != "cpu" or _is_wrapped(x)):
            return False
    return True


def _is_wrapped(x: torch.Tensor) -> bool:
    """Whether torch.func transforms a tensor; a batch of keys has no one value."""
    return torch._C._functorch.is_functorch_wrapped_tensor(x)


def _operator_draw(draw: Draw, key: Any, shape: tuple[int, ...], device: Any, /) -> Array:
    """By one operator, and the conversion of its numbers."""
    if draw.kind in _STANDARD:
        return scaled(_ARITHMETIC, draw, _drawn(key, draw.kind, draw.dtype, shape))
    return from_bits(_ARITHMETIC, draw, _drawn(key, "bits", f"int{draw.bits}", shape))


def _operator_refusal(call: Call, /) -> str | None:
    _, key, _, device = call.args
    is_served = _has_operator(key) and device.type == "cpu"
    return None if is_served else "it serves functions that are compiled or batched for a CPU"


def _has_operator(key: Any) -> bool:
    """Whether operators serve a key: an exported program must not need this package, and a GPU fuses all steps."""
    if not isinstance(key, torch.Tensor) or key.device.type != "cpu" or _is_exporting() or _exports():
        return False
    return is_compiling() or _is_wrapped(key)


@constant_while_tracing
def _exports() -> bool:
    """Whether `torch.export` traces. Dynamo calls this function itself: older versions trace a constant True."""
    return torch.compiler.is_exporting()


def _draw(draw: Draw, key: Any, shape: tuple[int, ...], device: Any, /) -> Array:
    """All elements in one step: each step is a kernel launch, or a part of the graph."""
    device = torch.get_default_device() if device is None else device
    index = torch.arange(math.prod(shape), dtype=torch.int64, device=device)
    return from_bits(_ARITHMETIC, draw, _bits(_steps(_key_words(key)), index, draw.bits)).reshape(shape)


def random_permutation(key: Any, size: int, device: Any, /) -> Array:
    """By a stable sort of the bits."""
    if _is_in_host_memory(key, device):
        key = key_words(key) if isinstance(key, torch.Tensor) else key
        return torch.from_numpy(random_numbers.permutation(key, size))
    bits = backend_by_name("torch").functions["random_draw"](Draw("bits", "int64"), key, (size,), device)
    return torch.argsort(bits, stable=True)


def random_keys(key: Any, counters: Array, /) -> Array:
    """In int64, because keys are few."""
    return (_keys if _has_operator(key) else _direct_keys)(key, counters)


def _direct_keys(key: Any, counters: Array) -> Array:
    """For a batch of keys, (..., 2), the first axes of the counters are those of the batch."""
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


def _bits(steps: list[tuple[Array, ...]], index: Array, bits: int) -> Array:
    """The random bits of elements: 64 as int64, 32 as int32."""
    # The casts keep the lower 32 bits.
    x0, x1 = (index >> 32).to(torch.int32), index.to(torch.int32)
    for step in steps:
        if len(step) == 2:
            x0, x1 = x0 + step[0], x1 + step[1]
            continue
        factor, shift, mask = step
        x0 += x1
        # PyTorch vectorises the product, and not a left shift.
        upper = x1 * factor
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
RANDOM_DRAW_CANDIDATES = [
    ("host", _host_draw, _host_refusal),
    ("operator", _operator_draw, _operator_refusal),
    ("one_step", _draw, lambda call: None),
]


def _draw_standard(key: Array, kind: str, dtype: str, shape: list[int]) -> Array:
    """The operator `_drawn`: standard numbers for each of the keys (..., 2), of shape ``(..., *shape)``."""
    out = torch.empty((*key.shape[:-1], *shape), dtype=as_dtype(dtype))
    draw, loops = Draw(kind, dtype), random_numbers.loops_for(math.prod(shape))
    keys = key.reshape(-1, 2).tolist()
    for words, each in zip(keys, out.reshape(len(keys), *shape), strict=True):
        random_numbers.fill(each.numpy(), draw, tuple(words), loops)
    return out


def _shape_of_drawn(key: Array, kind: str, dtype: str, shape: list[int]) -> Array:
    return key.new_empty((*key.shape[:-1], *shape), dtype=as_dtype(dtype))


def _drawn_of_batch(info: Any, in_dims: tuple[Any, ...], key: Array, *options: Any) -> tuple[Array, int]:
    return _drawn(key.movedim(in_dims[0], 0), *options), 0


def _keys_of_batch(info: Any, in_dims: tuple[Any, ...], *arrays: Array) -> tuple[Array, int]:
    batches = [
        x.expand(info.batch_size, *x.shape) if axis is None else x.movedim(axis, 0)
        for x, axis in zip(arrays, in_dims, strict=True)
    ]
    return _keys(*batches), 0


def _operators() -> tuple[Any, Any]:
    """The operators, defined once in a process."""
    if not hasattr(torch.ops.xarrayops, "drawn"):
        library = _torch.library.Library("xarrayops", "FRAGMENT")
        tags = (torch.Tag.pt2_compliant_tag,)
        library.define("drawn(Tensor key, str kind, str dtype, SymInt[] shape) -> Tensor", tags=tags)
        library.define("keys(Tensor key, Tensor counters) -> Tensor", tags=tags)
        library.impl("drawn", _draw_standard, "CPU")
        library.impl("keys", _direct_keys, "CPU")
        torch.library.register_fake("xarrayops::drawn", _shape_of_drawn, lib=library)
        torch.library.register_fake("xarrayops::keys", _direct_keys, lib=library)
        torch.library.register_vmap("xarrayops::drawn", _drawn_of_batch, lib=library)
        torch.library.register_vmap("xarrayops::keys", _keys_of_batch, lib=library)
        _torch.ops.xarrayops.drawn.library = library  # without it the operators would end with this module
    return torch.ops.xarrayops.drawn.default, torch.ops.xarrayops.keys.default


_drawn, _keys = _operators()


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
