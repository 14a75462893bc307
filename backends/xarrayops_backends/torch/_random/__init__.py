"""Random numbers: in host memory by the host's functions, on devices of CUDA and HIP by one kernel.

There, and in compiled functions for a CPU, a draw is one operator. Elsewhere it is the steps of Threefry-2x32-20.
"""

from __future__ import annotations

from typing import Any

import torch
from torch.compiler import is_compiling

from xarrayops.plugin import Array, Call, constant_while_tracing
from xarrayops.plugin.backends import backend_by_name
from xarrayops.plugin.distributions import multiply_shift, signed_int64
from xarrayops.plugin.host import random_numbers
from xarrayops.plugin.random import Draw
from xarrayops_backends.torch._compilation import _is_exporting
from xarrayops_backends.torch._dtypes import as_dtype
from xarrayops_backends.torch._random import kernels as _kernels, operators as _operators, steps as _steps
from xarrayops_backends.torch._tracing import transforms as _transforms


def trace_state() -> Any:
    """Whether torch.compile traces, or which levels of `torch.func.vmap` are active."""
    if is_compiling():
        return "torch.compile"
    if not _transforms():
        return None
    functorch: Any = torch._C._functorch
    stack = functorch.get_interpreter_stack()
    return [level.level() for level in stack if level.key() == functorch.TransformType.Vmap] or None


def key_words(key: Array, /) -> tuple[int, int] | None:
    """As Python integers."""
    return _python_words(key) if _operators.is_in_host_memory(key) else None


def _python_words(key: Any) -> tuple[int, int]:
    """The words of a key that is in host memory."""
    if isinstance(key, tuple):
        return key
    with torch._C.DisableTorchFunction():  # `xo.profile` counts only transfers of the program
        return tuple(key.tolist())


def _host_draw(draw: Draw, key: Any, shape: tuple[int, ...], device: Any, /) -> Array:
    """In host memory, by the host's functions."""
    return _operators.filled(draw, [_python_words(key)], shape)[0]


def _host_refusal(call: Call, /) -> str | None:
    _, key, _, device = call.args
    return None if _is_in_host_memory(key, device) else "it serves tensors whose values are in host memory"


def _is_in_host_memory(key: Any, device: Any) -> bool:
    """Whether the key and new tensors on a device are in host memory."""
    arrays = (torch.empty(0, device=device), key)
    return _operators.is_in_host_memory(*(x for x in arrays if isinstance(x, torch.Tensor)))


def _operator_refusal(call: Call, /) -> str | None:
    draw, key, _, device = call.args
    device = torch.get_default_device() if device is None else device
    if device.type == "cuda":
        exported = "an exported program must not need it"
        return exported if _is_exported() else _kernels.refusal(draw.kind, draw.dtype, device)
    is_served = _has_operator(key) and device.type == "cpu"
    return None if is_served else "it serves devices of CUDA and HIP, and compiled or batched functions for a CPU"


def _has_operator(key: Any) -> bool:
    """Whether operators serve a key."""
    if not isinstance(key, torch.Tensor) or key.device.type not in ("cpu", "cuda") or _is_exported():
        return False
    return key.device.type == "cuda" or is_compiling() or _operators.is_wrapped(key)


def _is_exported() -> bool:
    """Whether a program is exported, which must not need this package."""
    return _is_exporting() or _exports()


@constant_while_tracing
def _exports() -> bool:
    """Whether `torch.export` traces. Dynamo calls this function itself: older versions trace a constant True."""
    return torch.compiler.is_exporting()


RANDOM_DRAW_CANDIDATES = [
    ("host", _host_draw, _host_refusal),
    ("operator", _operators.draw_by_operator, _operator_refusal),
    ("one_step", _steps.draw_in_one_step, lambda call: None),
]


def random_permutation(key: Any, size: int, device: Any, /) -> Array:
    """By a stable sort of the bits."""
    if _is_in_host_memory(key, device):
        return torch.from_numpy(random_numbers.permutation(_python_words(key), size))
    bits = backend_by_name("torch").functions["random_draw"](Draw("bits", "int64"), key, (size,), device)
    return torch.argsort(bits, stable=True)


def random_keys(key: Any, counters: Array, /) -> Array:
    """By one operator in compiled functions."""
    return (_operators.keys_of if _has_operator(key) else _steps.keys_of_counters)(key, counters)


def beta_numbers(dtype: str, shapes: Array, normals: Array, exponentials: Array, /) -> Array:
    """In compiled functions by one operator on every device: the compilation of its steps takes minutes."""
    function = _operators.beta_of if is_compiling() and not _is_exported() else _operators.beta_now
    return function(dtype, shapes.detach(), normals, exponentials)


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
            return _steps.astype(_native_bits(generator, shape, device), where["dtype"])
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
