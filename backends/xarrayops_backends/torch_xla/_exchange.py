"""Exchange: every value is copied through the CPU."""

from __future__ import annotations

from typing import Any

import torch
import torch_xla

from xarrayops.plugin import Array, Memory
from xarrayops_backends.torch import _exchange
from xarrayops_backends.torch_xla._guard import COMPLEX128


def memory(x: Array, /) -> Memory | None:
    """None: XLA does not expose memory addresses."""
    return None


def alias_refusal(memory: Memory, /, *, forced: bool) -> str | None:
    """Never alias: from_dlpack of PyTorch/XLA supports the CPU only, and its result would not be on the device."""
    return "PyTorch/XLA cannot share memory; values are copied through the CPU"


def import_refusal(dtype: str, /) -> str | None:
    """complex128 would arrive without its imaginary parts."""
    return str(COMPLEX128) if dtype == "complex128" else _exchange.import_refusal(dtype)


def export_refusal(x: Array, /) -> str | None:
    """complex128 would arrive without its imaginary parts."""
    return str(COMPLEX128) if x.dtype is torch.complex128 else _exchange.export_refusal(x)


def from_numpy(a: Any, device: Any, /) -> Array:
    """A copy through the CPU."""
    return _exchange._sent(_exchange.from_numpy(a, torch.device("cpu")), device or torch_xla.device())
