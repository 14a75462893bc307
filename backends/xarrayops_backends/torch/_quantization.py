"""Quantisation: quotients that are rounded once on every device, and rows by one kernel on CUDA and HIP."""

from __future__ import annotations

import ctypes
import math
from functools import cache
from pathlib import Path

import torch

from xarrayops.plugin import Array, constant_while_tracing
from xarrayops_backends.torch import _tracing
from xarrayops_backends.torch._compilation import _is_exporting
from xarrayops_backends.torch._library import operator as _operator
from xarrayops_backends.torch._random import runtime_compiler as _runtime_compiler

_NAME = "xarrayops_quantized_rows"
_LIMIT, _THREADS, _MOST_ROWS = 127, 256, 1 << 15
_FORMATS = {torch.float32: ("float", "__fdiv_rn", 2.0**-62), torch.float64: ("double", "__ddiv_rn", 2.0**-510)}
"""The type in C, its quotient, and the least scale."""


def quotient(x: Array, y: Array, /) -> Array:
    """x / y. CUDA multiplies by 1 / y if y is a number on the CPU, and Inductor approximates quotients on GPUs."""
    if x.device.type != "cuda":
        return torch.divide(x, y)
    y = y.to(x.device)
    is_operator = torch.compiler.is_compiling() and not _is_exporting()
    return _quotient(x, y) if is_operator else torch.divide(x, y)


def quantized_rows(x: Array, /) -> tuple[Array, Array] | None:
    """By a norm and one kernel; None on other devices."""
    if x.device.type != "cuda" or not x.numel() or _tracing.transforms() or _is_exporting() or not _has_kernel(x):
        return None
    x = x.detach().contiguous()
    values, scales = _quantized(x, torch.linalg.vector_norm(x, math.inf, -1, keepdim=True))
    return values, scales


@constant_while_tracing
def _has_kernel(x: Array) -> bool:
    return _runtime_compiler.refusal(_source(x.dtype), _NAME, x.device) is None


@cache
def _source(dtype: torch.dtype) -> str:
    real, divide, least = _FORMATS[dtype]
    share = float(torch.tensor(1.0 / _LIMIT, dtype=dtype, device="cpu").item()).hex()
    constants = {"REAL": real, "DIVIDE": divide, "LEAST": least.hex(), "SHARE": share, "LIMIT": _LIMIT}
    defined = "".join(f"#define {name} {value}\n" for name, value in constants.items())
    return defined + Path(__file__).with_suffix(".cu").read_text(encoding="utf-8")


def _rows_now(x: Array, most: Array) -> tuple[Array, Array]:
    """The operator `quantized_rows`: the values and scales of the rows of x, whose greatest magnitudes are given."""
    values, scales = _shapes_of_rows(x, most)
    columns = x.shape[-1]
    rows = x.numel() // columns
    addresses = [ctypes.c_void_p(each.data_ptr()) for each in (x, most, values, scales)]
    grid = (min(1 << 10, -(-columns // _THREADS)), min(rows, _MOST_ROWS), 1)
    _runtime_compiler.kernel(_source(x.dtype), _NAME, x.device)(
        grid, (_THREADS, 1, 1), [*addresses, ctypes.c_longlong(rows), ctypes.c_longlong(columns)]
    )
    return values, scales


def _shapes_of_rows(x: Array, most: Array) -> tuple[Array, Array]:
    return torch.empty_like(x, dtype=torch.int8), torch.empty_like(most)


_quotient = _operator("quotient(Tensor x, Tensor y) -> Tensor", torch.divide)
_quantized = _operator("quantized_rows(Tensor x, Tensor most) -> (Tensor, Tensor)", _rows_now, fake=_shapes_of_rows)
