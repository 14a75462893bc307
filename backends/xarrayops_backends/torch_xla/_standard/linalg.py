"""Linear algebra that is wrong or missing in PyTorch/XLA."""

from __future__ import annotations

import math
from typing import Any

import torch
from array_api_compat.torch import linalg as aac_linalg

from xarrayops.errors import Unsupported
from xarrayops.plugin import Array, unsupported
from xarrayops_backends.torch._dtypes import _pair
from xarrayops_backends.torch._standard import linalg as _linalg
from xarrayops_backends.torch._standard.statistics import sum as _sum
from xarrayops_backends.torch._standard.wide import WIDE
from xarrayops_backends.torch_xla._standard.corrections import abs as _abs, multiply as _multiply

ON_CPU = 'the CPU: xo.convert(x, "torch", device="cpu") before the call'

linalg_svd = unsupported(
    "PyTorch/XLA (2.9) returns wrong shapes for stacks, single precision for float64, and supports no complex numbers",
    instead=ON_CPU,
)
linalg_pinv = unsupported(
    "PyTorch/XLA (2.9) computes it by svd, in single precision and for real matrices only", instead=ON_CPU
)


def linalg_eigh(x: Array, /) -> Any:
    """XLA stops its iteration at the accuracy of single precision."""
    if x.dtype is torch.float64:
        raise Unsupported(f"PyTorch/XLA (2.9) computes eigenvectors in single precision. Instead: {ON_CPU}")
    return torch.linalg.eigh(x)


def linalg_svdvals(x: Array, /) -> Array:
    """XLA returns a wrong shape for stacks, and supports real matrices only.

    A complex matrix is served by a real matrix of twice the size, which has each singular value twice.
    """
    if x.is_complex():
        rows = torch.cat((x.real, -x.imag), -1), torch.cat((x.imag, x.real), -1)
        return linalg_svdvals(torch.cat(rows, -2))[..., ::2]
    if x.ndim == 2:
        return torch.linalg.svdvals(x)
    count = math.prod(x.shape[:-2])
    each = [torch.linalg.svdvals(matrix) for matrix in x.reshape(count, *x.shape[-2:])]
    shape = (*x.shape[:-2], min(x.shape[-2:]))
    return torch.stack(each).reshape(shape) if each else x.new_empty(shape)


def linalg_inv(x: Array, /) -> Array:
    """XLA's inverse of a complex matrix is wrong, but its solve is correct. XLA does not check for square matrices."""
    if x.ndim < 2 or x.shape[-1] != x.shape[-2]:
        raise ValueError(f"inv requires square matrices, not an array of shape {tuple(x.shape)}")
    if not x.is_complex():
        return torch.linalg.inv(x)
    return torch.linalg.solve(x, torch.eye(x.shape[-1], dtype=x.dtype, device=x.device).expand(x.shape))


def linalg_slogdet(x: Array, /) -> Any:
    """XLA treats the sign of a complex determinant as real."""
    if not x.is_complex():
        return torch.linalg.slogdet(x)
    factors, pivots = torch.linalg.lu_factor(x)
    diagonal = torch.diagonal(factors, dim1=-2, dim2=-1)
    swapped = pivots != torch.arange(1, x.shape[-1] + 1, dtype=pivots.dtype, device=x.device)
    sizes = _abs(diagonal)
    phases = torch.where(sizes == 0, 0.0, diagonal * torch.where(sizes == 0, 1.0, sizes).reciprocal())
    sign = torch.prod(phases, -1) * torch.where(swapped, -1.0, 1.0).prod(-1).to(phases.dtype)
    return torch.return_types.linalg_slogdet((sign, torch.log(sizes).sum(-1)))  # type: ignore[attr-defined]


def linalg_vector_norm(x: Array, /, *, axis: Any = None, keepdims: bool = False, ord: Any = 2) -> Array:
    """XLA has norms for real numbers only."""
    return aac_linalg.vector_norm(_abs(x) if x.is_complex() else x, axis=axis, keepdims=keepdims, ord=ord)


def linalg_matrix_norm(x: Array, /, *, keepdims: bool = False, ord: Any = "fro") -> Array:
    """XLA has norms for real matrices only, and norms from singular values drop the stack dimensions."""
    if ord not in (2, -2, "nuc"):
        return torch.linalg.matrix_norm(_abs(x) if x.is_complex() else x, ord=ord, keepdim=keepdims)
    values = linalg_svdvals(x)
    out = values.sum(-1) if ord == "nuc" else values[..., 0 if ord == 2 else -1]
    return out[..., None, None] if keepdims else out


def linalg_matrix_rank(x: Array, /, *, rtol: Any = None) -> Array:
    """XLA drops the stack dimensions."""
    values = linalg_svdvals(x)
    if rtol is None:
        rtol = max(x.shape[-2:]) * torch.finfo(values.dtype).eps
    limit = values[..., :1] * (rtol[..., None] if isinstance(rtol, torch.Tensor) else rtol)
    return torch.sum(values > limit, -1)


def linalg_outer(x1: Array, x2: Array, /) -> Array:
    """XLA cannot multiply wide unsigned integers."""
    x1, x2 = _pair(x1, x2)
    if x1.dtype not in WIDE:
        return _linalg.linalg_outer(x1, x2)
    return _multiply(x1.unsqueeze(1), x2)


def vecdot(x1: Array, x2: Array, /, *, axis: int = -1) -> Array:
    """XLA cannot multiply wide unsigned integers."""
    x1, x2 = _pair(x1, x2)
    if x1.dtype not in WIDE or x1.shape[axis] != x2.shape[axis]:
        return _linalg.vecdot(x1, x2, axis=axis)
    return _sum(_multiply(x1, x2), axis=axis, dtype=x1.dtype)
