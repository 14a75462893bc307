"""Products of sparse tensors, and their gradients by the same products.

Two functions, each linear in both operands, are the gradients of each other: the product of a sparse and a dense
matrix, and a dense product sampled at the entries of a sparse matrix. So they provide derivatives of any order, and no
gradient ever needs memory for a whole dense product.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from xarrayops.plugin import Array
from xarrayops.plugin.backends import backend_by_name
from xarrayops.plugin.host import sparse as host
from xarrayops.plugin.sparse import Container, Parts
from xarrayops_backends.torch._dtypes import result_type
from xarrayops_backends.torch._sparse import entries
from xarrayops_backends.torch._sparse.parts import differentiable, holds, parts, wrap


def matmul(a: Container | Array, b: Container | Array, /) -> Container | Array:
    """The product by the compressed operand; if the dense operand is first, by the transposes."""
    if holds(a):
        return _of_sparse(a, b) if holds(b) else _dense_product(_compressed(a), b)
    transposed = _transposed(_compressed(b))
    return _dense_product(transposed, a) if a.ndim == 1 else _dense_product(transposed, a.mT).mT.contiguous()


def sddmm(a: Array, b: Array, pattern: Container, /) -> Container:
    """The product sampled at the entries of the pattern; no gradient flows to the pattern's values."""
    p = parts(pattern.detach())
    structure = p if p.format in ("csr", "csc") and entries.is_canonical(p) else _by_rows(p)
    structure = structure._replace(sorted=True, unique=True)
    dtype = result_type(a, b)
    found = structure._replace(data=_samples(a.to(dtype), b.to(dtype), structure))
    return wrap(found if p.format == structure.format else entries.to_parts(entries.of_parts(found), p.format, p.block))


def _dense_product(p: Parts, dense: Array) -> Array:
    dtype = result_type(p.data, dense)
    columns = (dense.unsqueeze(1) if dense.ndim == 1 else dense).to(dtype)
    out = _product(p.data.to(dtype), columns, p)
    return out.reshape(-1) if dense.ndim == 1 else out


def _of_sparse(a: Container, b: Container) -> Container:
    """PyTorch's product of two coo tensors, with its gradients."""
    first, second = differentiable(a), differentiable(b)
    dtype = result_type(first.data, second.data)
    format = "csr" if first.format == "bsr" else first.format
    if not _has_kernels(dtype):
        e = entries.product(*(_by_rows(p._replace(data=p.data.to(dtype))) for p in (first, second)))
        return wrap(entries.to_parts(e, format))
    left, right = (
        wrap(entries.to_parts(entries.of_parts(p._replace(data=p.data.to(_computation_dtype(dtype)))), "coo"))
        for p in (first, second)
    )
    out = parts(torch.sparse.mm(left, right).coalesce())
    return wrap(entries.to_parts(entries.of_parts(out._replace(data=out.data.to(dtype))), format))


def _compressed(s: Container) -> Parts:
    """A matrix as csr or csc, with sorted indices if its values need a gradient."""
    p = differentiable(s)
    fits = p.format in ("csr", "csc") and (not p.data.requires_grad or entries.is_canonical(p))
    return p if fits else _by_rows(p)


def _by_rows(p: Parts) -> Parts:
    known = bool(p.sorted and p.unique) and p.format == "coo"
    return entries.to_parts(entries.of_parts(p), "csr", known=known)


def _transposed(p: Parts) -> Parts:
    return p._replace(format="csr" if p.format == "csc" else "csc", shape=p.shape[::-1])


class _Product(torch.autograd.Function):
    """``s @ dense``, as a function of the values of s and the dense matrix."""

    @staticmethod
    def forward(ctx: Any, values: Array, dense: Array, p: Parts) -> Array:
        ctx.p = p._replace(data=values.detach())
        ctx.save_for_backward(values, dense)
        return _multiplied(ctx.p, dense.detach())

    @staticmethod
    def backward(ctx: Any, gradient: Array) -> tuple[Array | None, Array | None, None]:
        values, dense = ctx.saved_tensors
        return (
            # For out = s @ dense: d(values) = (d_out @ dense^H) at the entries of s, and d(dense) = s^H @ d_out. Both
            # call the Functions again, so they have gradients too.
            _samples(gradient, dense.mH, ctx.p) if ctx.needs_input_grad[0] else None,
            _product(values.conj_physical(), gradient, _transposed(ctx.p)) if ctx.needs_input_grad[1] else None,
            None,
        )


class _Sampled(torch.autograd.Function):
    """The elements of ``a @ b`` at the indices of canonical parts."""

    @staticmethod
    def forward(ctx: Any, a: Array, b: Array, p: Parts) -> Array:
        ctx.p = p._replace(data=p.data.detach())
        ctx.save_for_backward(a, b)
        return _sampled(a.detach(), b.detach(), ctx.p)

    @staticmethod
    def backward(ctx: Any, gradient: Array) -> tuple[Array | None, Array | None, None]:
        a, b = ctx.saved_tensors
        return (
            # For out = (a @ b) at the entries: with the sparse matrix G of the gradients, d(a) = G @ b^H and d(b) = a^H
            # @ G = (G^T @ conj(a))^T.
            _product(gradient, b.mH, ctx.p) if ctx.needs_input_grad[0] else None,
            _product(gradient, a.conj(), _transposed(ctx.p)).mT if ctx.needs_input_grad[1] else None,
            None,
        )


_product: Callable[..., Array] = _Product.apply
_samples: Callable[..., Array] = _Sampled.apply


def _computation_dtype(dtype: torch.dtype) -> torch.dtype:
    """The dtype of the computation: float32 for narrower floats, which PyTorch's products and NumPy do not support."""
    return torch.float32 if dtype.is_floating_point and dtype.itemsize < 4 else dtype


def _has_kernels(dtype: torch.dtype) -> bool:
    """Whether PyTorch's products of sparse tensors on accelerators support the dtype."""
    return dtype.is_floating_point or dtype.is_complex


def _multiplied(p: Parts, dense: Array) -> Array:
    """The product by the host kernels in host memory, and by PyTorch elsewhere."""
    if not dense.is_cpu:
        return wrap(p) @ dense if _has_kernels(dense.dtype) else entries.dense_product(p, dense)
    dtype = _computation_dtype(dense.dtype)
    s = wrap(p._replace(data=p.data.to(dtype)))
    return host.matmul(backend_by_name("torch").sparse, s, dense.to(dtype)).to(dense.dtype)


def _sampled(a: Array, b: Array, p: Parts) -> Array:
    """The sampled product by the host kernels in host memory, and elsewhere by PyTorch, which supports csr only."""
    if p.format == "csc":
        return _sampled(b.mT, a.mT, _transposed(p))
    if not (a.is_cpu or _has_kernels(a.dtype)):
        return entries.samples(p, a, b)
    dtype = _computation_dtype(a.dtype)
    sample = _sampled_on_host if a.is_cpu else _sampled_natively
    return sample(a.to(dtype), b.to(dtype), p).values().to(a.dtype)


def _sampled_on_host(a: Array, b: Array, p: Parts) -> Container:
    return host.sddmm(backend_by_name("torch").sparse, a, b, wrap(p))


def _sampled_natively(a: Array, b: Array, p: Parts) -> Container:
    # The function adds beta times the values of its first operand. Zeros are neutral even where 0 times NaN would be
    # added.
    nothing = wrap(p._replace(data=a.new_zeros(p.data.shape)))
    return torch.sparse.sampled_addmm(nothing, a, b, beta=0.0)
