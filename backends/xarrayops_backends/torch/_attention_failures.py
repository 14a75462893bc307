"""Which errors of PyTorch's kernels say that there is no code for a call, so that another kernel serves it."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import wraps

import torch

from xarrayops.plugin import Array, Attention, NotServed
from xarrayops_backends.torch import _attention_modes as modes

NO_CODE = ("no execution plan", "cudnn frontend error", "no available kernel", "forward unsupported")
"""What is said before anything was computed: of a graph that cuDNN cannot plan (pytorch#140930), or of a call that the
public function, or a FlashAttention that the user has registered, cannot serve."""
FAULTS = ("execution_failed", "alloc_failed", "out of memory", "cuda error")
"""What is said of a device that is short of memory, or no longer sound."""
Serve = Callable[[Attention], tuple[Array, Array | None]]


def or_next(serve: Serve) -> Serve:
    """serve, which raises `NotServed` where PyTorch says that it has no code for the call."""

    @wraps(serve)
    def serve_or_refuse(a: Attention, /) -> tuple[Array, Array | None]:
        try:
            return serve(a)
        except Exception as error:
            if not says_no_code(error):
                raise
            raise NotServed(str(error).partition("\n")[0]) from error

    serve_or_refuse.is_traced = modes.is_traced  # type: ignore[attr-defined]
    return serve_or_refuse


def says_no_code(error: Exception) -> bool:
    """Whether the error says no more than that there is no code for the call."""
    if isinstance(error, (torch.OutOfMemoryError, torch.AcceleratorError)):
        return False
    text = str(error).lower()
    if any(words in text for words in FAULTS):
        return False
    return _is_of_compiler(error) or any(words in text for words in NO_CODE)


def _is_of_compiler(error: Exception) -> bool:
    """Whether PyTorch's compiler has made no program of a call; where it was not imported, it has raised nothing."""
    compiler = sys.modules.get("torch._dynamo.exc")
    if compiler is None:
        return False
    return isinstance(error, (compiler.FailOnRecompileLimitHit, compiler.TorchDynamoException))
