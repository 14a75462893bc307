"""The candidates of attention, best first: the fused kernels, then blocks of queries, which serve all calls.

Errors of PyTorch's kernels that mean a call is not implemented lead to the next candidate.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import wraps

import torch

from xarrayops.plugin import Array, Attention, Call, NotServed
from xarrayops.plugin.candidates import always
from xarrayops_backends.torch import _tracing
from xarrayops_backends.torch._attention import alignment, blocks, cpu, cuda, export, flash, flex, package

# Messages of errors before any computation: cuDNN cannot plan a graph (pytorch#140930), or the public function, or a
# FlashAttention that the user has registered, cannot serve a call.
NO_CODE = ("no execution plan", "cudnn frontend error", "no available kernel", "forward unsupported")
# Messages of errors of a device that is out of memory, or in an error state.
FAULTS = ("execution_failed", "alloc_failed", "out of memory", "cuda error")
Serve = Callable[[Attention], tuple[Array, Array | None]]


def or_next(serve: Serve) -> Serve:
    """The function, which raises `NotServed` if PyTorch has not implemented the call."""

    @wraps(serve)
    def serve_or_refuse(a: Attention, /) -> tuple[Array, Array | None]:
        try:
            return serve(a)
        except Exception as error:
            if not says_no_code(error):
                raise
            raise NotServed(str(error).partition("\n")[0]) from error

    serve_or_refuse.is_traced = _tracing.is_traced  # type: ignore[attr-defined]
    return serve_or_refuse


def says_no_code(error: Exception) -> bool:
    """Whether the error only means that the call is not implemented."""
    if isinstance(error, (torch.OutOfMemoryError, torch.AcceleratorError)):
        return False
    text = str(error).lower()
    # A failing device is not a missing kernel: the next candidate would fail too, or hide the fault.
    if any(words in text for words in FAULTS):
        return False
    return _is_of_compiler(error) or any(words in text for words in NO_CODE)


def _is_of_compiler(error: Exception) -> bool:
    """Whether the error is a failure of torch.compile; if Dynamo was not imported, it is not."""
    compiler = sys.modules.get("torch._dynamo.exc")
    if compiler is None:
        return False
    return isinstance(error, (compiler.FailOnRecompileLimitHit, compiler.TorchDynamoException))


def _flash_refusal(call: Call) -> str | None:
    q = call.args[0].q
    if q.is_cpu:
        return cpu.refusal(call)
    return flash.flash_refusal(call) if q.is_cuda else f"it serves the CPU and CUDA, not {q.device.type}"


def _flash(a: Attention, /) -> tuple[Array, Array | None]:
    return cpu.attention(a) if a.q.is_cpu else flash.flash(a)


def _flash_copies(call: Call) -> tuple[str, ...]:
    return () if call.args[0].q.is_cpu else alignment.copies(call)


_flash.copies = _flash_copies  # type: ignore[attr-defined]


ATTENTION_CANDIDATES = [
    ("sdpa", export.attention, export.refusal),
    ("sdpa-cudnn", or_next(cuda.cudnn), cuda.cudnn_refusal),
    ("flash-attn", or_next(package.attention), package.refusal),
    ("sdpa-flash", or_next(_flash), _flash_refusal),
    ("sdpa-efficient", or_next(cuda.efficient), cuda.efficient_refusal),
    ("flex", or_next(flex.attention), flex.refusal),
    ("blocked", blocks.attention, always),
]
