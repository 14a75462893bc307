"""The memory of GPUs as PyTorch's allocator has it, and the switches that decide on precision."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import torch


def free_bytes(device: torch.device, /) -> int | None:
    """What the driver has left, and what the allocator keeps without using it."""
    if device.type != "cuda":
        return None
    free, _ = torch.cuda.mem_get_info(device)
    return int(free + torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device))


def release_memory(device: torch.device, /) -> None:
    """What the allocator keeps without using it; where CUDA was never started, there is nothing."""
    if device.type == "cuda" and torch.cuda.is_initialized():  # type: ignore[no-untyped-call]
        torch.cuda.empty_cache()


def peak_bytes(device: torch.device, call: Callable[[], Any], /) -> int | None:
    """As the allocator counts the bytes of its blocks in use."""
    if device.type != "cuda":
        return None
    torch.cuda.synchronize(device)
    torch.cuda.reset_peak_memory_stats(device)
    before = torch.cuda.memory_allocated(device)
    call()
    return int(torch.cuda.max_memory_allocated(device) - before)


def precision_switches() -> dict[str, str]:
    """Those of CUDA's products and of cuDNN: TF32, and sums in the dtype of their terms.

    ``allow_tf32`` raises where somebody used the newer names before, so the newer names are asked.
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
    """The value of a switch; None where this version of PyTorch has none of that name, or refuses to say."""
    with warnings.catch_warnings():  # PyTorch 2.9 warns whoever reads a switch by its older name
        warnings.simplefilter("ignore")
        try:
            return ask()
        except (AttributeError, RuntimeError):
            return None
