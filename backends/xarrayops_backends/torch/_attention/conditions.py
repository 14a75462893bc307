"""What the gradients, the lengths, the device and the switches of a call exclude."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch.compiler import is_compiling
from torch.utils.checkpoint import checkpoint

from xarrayops.plugin import Attention, constant_while_tracing
from xarrayops_backends.torch import _tracing

# The GPUs of AMD for which PyTorch's fused kernels are built and tested.
AMD = ("gfx90a", "gfx942", "gfx950")


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
    if _tracing.transforms():
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
    if not requires_grad(a) or (not is_compiling() and _tracing.transforms()):
        return block
    return partial(checkpoint, block, use_reentrant=False, preserve_rng_state=False)


def has_lengths(a: Attention) -> bool:
    """Whether batch rows have lengths."""
    return a.kv_lengths is not None or a.q_lengths is not None


def can_read_lengths(a: Attention) -> bool:
    """Whether the lengths can be read without a wait; then padding is not computed."""
    lengths = [x for x in (a.q_lengths, a.kv_lengths) if x is not None]
    return bool(a.q.shape[0]) and not _tracing.is_traced() and all(_tracing.has_memory(x) and x.is_cpu for x in lengths)


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
