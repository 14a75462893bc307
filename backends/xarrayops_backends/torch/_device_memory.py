"""The memory of GPUs, from PyTorch's allocator, and the switches that affect precision."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import torch


def free_bytes(device: torch.device, /) -> int | None:
    """The free memory that the driver reports, plus the unused memory that the allocator keeps."""
    if device.type != "cuda":
        return None
    free, _ = torch.cuda.mem_get_info(device)
    return int(free + torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device))


def release_memory(device: torch.device, /) -> None:
    """Free the unused memory that the allocator keeps; without a CUDA context there is none."""
    if device.type == "cuda" and torch.cuda.is_initialized():  # type: ignore[no-untyped-call]
        torch.cuda.empty_cache()


def peak_bytes(device: torch.device, call: Callable[[], Any], /) -> int | None:
    """The peak of the allocator's bytes in use."""
    if device.type != "cuda":
        return None
    torch.cuda.synchronize(device)
    torch.cuda.reset_peak_memory_stats(device)
    before = torch.cuda.memory_allocated(device)
    call()
    return int(torch.cuda.max_memory_allocated(device) - before)


def precision_switches() -> dict[str, str]:
    """The switches of matrix products on CUDA and of cuDNN: TF32, and reduced-precision sums.

    This reads the newer names, because ``allow_tf32`` raises once any code has used them.
    """
    matmul, cudnn = torch.backends.cuda.matmul, torch.backends.cudnn
    known = {
        "float32_matmul_precision": torch.get_float32_matmul_precision,
        "cuda.matmul.fp32_precision": lambda: matmul.fp32_precision,
        "cuda.matmul.allow_fp16_reduced_precision_reduction": lambda: matmul.allow_fp16_reduced_precision_reduction,
        "cuda.matmul.allow_bf16_reduced_precision_reduction": lambda: matmul.allow_bf16_reduced_precision_reduction,
        "cudnn.conv.fp32_precision": lambda: cudnn.conv.fp32_precision,  # type: ignore[attr-defined]
    }
    return {name: str(asked) for name, ask in known.items() if (asked := _asked(ask)) is not None}


def _asked(ask: Callable[[], Any]) -> Any:
    """The value of a switch; None if this version of PyTorch lacks the name, or raises."""
    with warnings.catch_warnings():  # PyTorch 2.9 warns about reads of the older names
        warnings.simplefilter("ignore")
        try:
            return ask()
        except (AttributeError, RuntimeError):
            return None
