"""The modes of a call (gradients, transforms of torch.func, compilation, autocast) and what each of them excludes."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import Any

import torch
from torch.compiler import is_compiling
from torch.utils.checkpoint import checkpoint

from xarrayops.plugin import Array, Attention, constant_while_tracing

_tracing_state, _dispatch_modes = torch._C._get_tracing_state, torch._C._len_torch_dispatch_stack
_transform = torch._C._functorch.peek_interpreter_stack
_DEVICES = ("cpu", "cuda", "xpu", "mps", "xla", "hpu", "mtia", "privateuseone")
# The GPUs of AMD for which PyTorch's fused kernels are built and tested.
AMD = ("gfx90a", "gfx942", "gfx950")
# The devices with autocast: torch.compile of PyTorch 2.9 does not trace the query.
_AUTOCAST = frozenset(name for name in _DEVICES if torch.amp.is_autocast_available(name))


def refusal(a: Attention, *, has_softcap: bool = False) -> str | None:
    """Why no fused attention kernel can serve the call: their only derivative is the gradient."""
    if a.softcap is not None and not has_softcap:
        return "it does not support a softcap"
    if (stranger := elsewhere(a)) is not None:
        return stranger
    if not a.q.numel() or not a.k.numel() or not a.v.numel():
        return "it does not accept empty arrays"
    if a.return_lse and requires_grad(a):
        return "its logsumexp has no gradient"
    if a.bias is not None and a.bias.requires_grad and torch.is_grad_enabled():
        return "it does not give a gradient of the bias"
    if is_compiling():
        return None
    # -1 outside of forward mode. There is no public way to ask.
    if torch.autograd.forward_ad._current_level >= 0:
        return "it has no forward-mode derivative"
    if transforms():
        levels = [level.key() for level in torch._C._functorch.get_interpreter_stack()]
        if levels != [torch._C._functorch.TransformType.Grad]:
            return "of the transforms of torch.func it supports only grad, not nested"
    return None


def elsewhere(a: Attention) -> str | None:
    """Raise if an argument is on another device than q: the kernels would read its address on the device of q."""
    place = a.q.device
    for name in ("k", "v", "mask", "bias"):
        x = getattr(a, name)
        if x is not None and x.device != place:
            return f"{name} is on {x.device}, and q on {place}. Instead: xo.to_device({name}, {str(place)!r})"
    return None


def on_one_device(a: Attention) -> Attention:
    """The call with lengths and offsets on the device of q: callers may keep them on the CPU."""
    given = {name: getattr(a, name) for name in ("q_lengths", "kv_lengths", "offset")}
    moved: dict[str, Any] = {
        name: x.to(a.q.device, non_blocking=True) for name, x in given.items() if isinstance(x, torch.Tensor)
    }
    return a._replace(**moved)


def requires_grad(a: Attention) -> bool:
    """Whether the call needs gradients."""
    if not torch.is_grad_enabled():
        return False
    return a.q.requires_grad or a.k.requires_grad or a.v.requires_grad or (a.bias is not None and a.bias.requires_grad)


def recomputed(a: Attention, block: Callable[..., Any]) -> Callable[..., Any]:
    """The function, whose gradient recomputes inner values; transforms of torch.func do not support its hooks."""
    if not requires_grad(a) or (not is_compiling() and transforms()):
        return block
    return partial(checkpoint, block, use_reentrant=False, preserve_rng_state=False)


def is_followed(*arrays: Array | None) -> bool:
    """Whether gradients, transforms or a compiler record the values, so that none may be overwritten."""
    if is_compiling() or transforms() or torch.autograd.forward_ad._current_level >= 0:
        return True
    return torch.is_grad_enabled() and any(x is not None and x.requires_grad for x in arrays)


def is_batched(*gradients: Array) -> bool:
    """Whether vmap computes several gradients at once; it cannot write into an array without its batch axis."""
    return transforms() or any("Batched" in str(torch._C._dispatch_keys(x)) for x in gradients)


def transforms() -> bool:
    """Whether a transform of torch.func is active."""
    return _transform() is not None


def unrounded(x: Array) -> AbstractContextManager[Any]:
    """A context without autocast, which would compute products in a lower precision than the caller's dtype."""
    device = x.device.type
    if device in _AUTOCAST and torch.is_autocast_enabled(device):
        return torch.autocast(device, enabled=False)
    return nullcontext()


def has_lengths(a: Attention) -> bool:
    """Whether batch rows have lengths."""
    return a.kv_lengths is not None or a.q_lengths is not None


def can_read_lengths(a: Attention) -> bool:
    """Whether the lengths can be read without a wait; then padding is not computed."""
    lengths = [x for x in (a.q_lengths, a.kv_lengths) if x is not None]
    return bool(a.q.shape[0]) and not is_traced() and all(_is_plain(x) and x.is_cpu for x in lengths)


def has_address(x: Array) -> bool:
    """Whether the address of x can be read; an active dispatch mode, such as a FLOP counter, does not prevent that."""
    return not is_compiling() and not _tracing_state() and _is_plain(x)


def has_values(x: Array) -> bool:
    """Whether the values of x can be read: it is a plain tensor, and nothing is traced or transformed."""
    # The tests of `is_traced` and `transforms`, without two calls: each sum of float32 asks.
    return type(x) in PLAIN and not (is_compiling() or _tracing_state() or _dispatch_modes() or _transform())


def is_traced() -> bool:
    """Whether operations are traced, so that arrays have no values."""
    return bool(is_compiling() or _tracing_state() or _dispatch_modes())


def _is_plain(x: Array) -> bool:
    """Whether x is a plain tensor with memory, not a wrapper."""
    # Subclasses, such as FakeTensor and DTensor, may have no memory; wrappers of torch.func hold another tensor.
    return type(x) in PLAIN and not torch._C._functorch.is_functorch_wrapped_tensor(x)


PLAIN = frozenset((torch.Tensor, torch.nn.Parameter))


@constant_while_tracing
def generation(device: torch.device) -> int:
    """The major compute capability of an NVIDIA GPU; 0 for AMD's, whose numbers mean others, and without a GPU."""
    if torch.version.hip or not torch.cuda.is_available():
        return 0
    return torch.cuda.get_device_capability(device)[0]


@constant_while_tracing
def too_old(device: torch.device) -> str | None:
    """Why a GPU is too old for fused kernels in half precision; None if it is not."""
    if torch.version.hip:
        name = torch.cuda.get_device_properties(device).gcnArchName.partition(":")[0]
        return None if name in AMD else f"it serves {', '.join(AMD)}, not {name}"
    major = generation(device)
    return None if major >= 8 else f"it serves compute capability 8.0 and later, not {major}"


@constant_while_tracing
def cudnn_version() -> int:
    """The version of cuDNN, 0 without one; torch.compile does not trace PyTorch's function for it."""
    return torch.backends.cudnn.version() or 0  # type: ignore[no-untyped-call]


@constant_while_tracing
def is_switched_on(kernel: str) -> bool:
    """Whether the user allows that kernel: ``torch.backends.cuda.enable_*_sdp`` and ``sdpa_kernel``."""
    return bool(getattr(torch.backends.cuda, f"{kernel}_sdp_enabled")())
