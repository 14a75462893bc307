"""The parts of a precision policy that PyTorch/XLA does not support."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Any

import torch
import torch_xla.core.xla_model as xm

from xarrayops.errors import Unsupported
from xarrayops.plugin import Array, unsupported

rounded = unsupported(
    "XLA may skip a cast to a narrower dtype whose result is widened again, and PyTorch/XLA has no barrier",
    instead='xo.astype before the block, or xo.convert(x, "jax")',
)


def product_precision(products: str, /, *arrays: Array) -> AbstractContextManager[Any]:
    """On the CPU, XLA multiplies as IEEE float32; on a TPU as ``torch_xla.backends`` says for the whole program."""
    if (
        products == "ieee"
        and xm.xla_device_hw(arrays[0].device) != "CPU"
        and arrays[0].dtype in (torch.float32, torch.complex64)
    ):
        raise Unsupported(
            "PyTorch/XLA multiplies float32 on this device as torch_xla.backends.set_mat_mul_precision says. "
            'Instead: set "highest" there in the program, without this block'
        )
    return nullcontext()
