"""Exact products of 8-bit integers by ``torch._int_mm``, which oneDNN and cuBLAS serve."""

from __future__ import annotations

from functools import reduce
from typing import Any

import torch

from xarrayops.plugin import Array, Call, constant_while_tracing
from xarrayops.plugin.products import exact_terms

_FUNCTORCH: Any = torch._C._functorch
# On CUDA it takes more than 16 rows, and multiples of 8 terms and columns (keras#19207).
_CUDA_ROWS, _CUDA_STEP = 16, 8


def _int_mm(x1: Array, x2: Array, /) -> Array:
    """As many terms at a time as float32 sums exactly: some kernels of oneDNN convert sums to float32 and back."""
    terms = exact_terms("int8", "int8")
    starts = range(0, x1.shape[1], terms)
    # Partial products are exact in float32, so sums of int32 are too, up to the limit that the caller has checked.
    return reduce(
        torch.add, (torch._int_mm(_compact(x1[:, i : i + terms]), _compact(x2[i : i + terms])) for i in starts)
    )


def _compact(x: Array) -> Array:
    """In C order, also in the strides of axes with one element: oneDNN reads those, and gives wrong results."""
    return x.contiguous().reshape(-1).reshape(x.shape)


def _int_mm_refusal(call: Call) -> str | None:
    x1, x2 = call.args
    if x1.ndim != 2 or x2.ndim != 2 or x1.dtype is not torch.int8 or x2.dtype is not torch.int8:
        return "it takes two matrices of int8"
    if not torch.compiler.is_compiling() and _FUNCTORCH.peek_interpreter_stack() is not None:
        return "torch.vmap has no rule for it"
    (rows, terms), columns = x1.shape, x2.shape[1]
    if not rows * terms * columns:
        return "a matrix is empty"
    if x1.is_cuda:
        if rows <= _CUDA_ROWS or terms % _CUDA_STEP or columns % _CUDA_STEP:
            return f"on CUDA it takes more than {_CUDA_ROWS} rows, and multiples of {_CUDA_STEP} terms and columns"
        return None
    if not x1.is_cpu:
        return "it serves the CPU and CUDA"
    if torch.compiler.is_compiling() and 1 in (rows, terms):
        return "compiled code does not check the strides of axes with one element, which it depends on"
    return None if _has_vnni() else "without AVX-512 VNNI it is slow, and sums may saturate"


@constant_while_tracing
def _has_vnni() -> bool:
    """Whether oneDNN adds products of 8 bits in 32 bits; without the instructions, pairs are added in 16 bits."""
    capabilities: Any = getattr(torch.cpu, "get_capabilities", dict)()
    return bool(capabilities.get("avx512_vnni"))


MATMUL_INT32_CANDIDATES = [("int_mm", _int_mm, _int_mm_refusal)]
