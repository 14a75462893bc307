"""What records or replaces the values of tensors: gradients, transforms, compilers, dispatch modes and autocast."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Any

import torch
from torch.compiler import is_compiling

from xarrayops.plugin import Array

_tracing_state, _dispatch_modes = torch._C._get_tracing_state, torch._C._len_torch_dispatch_stack
_transform = torch._C._functorch.peek_interpreter_stack
_DEVICES = ("cpu", "cuda", "xpu", "mps", "xla", "hpu", "mtia", "privateuseone")
# The devices with autocast: torch.compile of PyTorch 2.9 does not trace the query.
_AUTOCAST = frozenset(name for name in _DEVICES if torch.amp.is_autocast_available(name))
PLAIN = frozenset((torch.Tensor, torch.nn.Parameter))
"""The classes of tensors that have memory of their own."""


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


def has_address(x: Array) -> bool:
    """Whether the address of x can be read; an active dispatch mode, such as a FLOP counter, does not prevent that."""
    return not is_compiling() and not _tracing_state() and has_memory(x)


def has_values(x: Array) -> bool:
    """Whether the values of x can be read: it is a plain tensor, and nothing is traced or transformed."""
    # The tests of `is_traced` and `transforms`, without two calls: each sum of float32 asks.
    return type(x) in PLAIN and not (is_compiling() or _tracing_state() or _dispatch_modes() or _transform())


def is_traced() -> bool:
    """Whether operations are traced, so that arrays have no values."""
    return bool(is_compiling() or _tracing_state() or _dispatch_modes())


def has_memory(x: Array) -> bool:
    """Whether x is a plain tensor with memory, not a wrapper."""
    # Subclasses, such as FakeTensor and DTensor, may have no memory; wrappers of torch.func hold another tensor.
    return type(x) in PLAIN and not torch._C._functorch.is_functorch_wrapped_tensor(x)
