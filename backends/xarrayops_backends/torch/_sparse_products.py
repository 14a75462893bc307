"""Products of sparse tensors, and their gradients by the same products.

Two functions, each linear in both operands, are each other's gradients: the product with a dense matrix, and the
elements of a dense product at the places of a sparse matrix. So derivatives of any order are theirs, and nothing of the
size of the dense product of a gradient is ever made.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from xarrayops.plugin import Array
from xarrayops.plugin.backends import backend_by_name
from xarrayops.plugin.sparse import Container, Parts, host
from xarrayops_backends.torch import _sparse_entries as entries
from xarrayops_backends.torch._dtypes import result_type
from xarrayops_backends.torch._sparse_parts import differentiable, holds, parts, wrap


def matmul(a: Container | Array, b: Container | Array, /) -> Container | Array:
    """By the compressed operand; a dense one on the left is taken from the other side."""
    if holds(a):
        return _of_sparse(a, b) if holds(b) else _times(_compressed(a), b)
    turned = _turned(_compressed(b))
    return _times(turned, a) if a.ndim == 1 else _times(turned, a.mT).mT.contiguous()


def sddmm(a: Array, b: Array, pattern: Container, /) -> Container:
    """The pattern counts as it is: no gradient flows to its values."""
    p = parts(pattern.detach())
    places = p if p.format in ("csr", "csc") and entries.is_canonical(p) else _by_rows(p)
    places = places._replace(sorted=True, unique=True)
    dtype = result_type(a, b)
    found = places._replace(data=_samples(a.to(dtype), b.to(dtype), places))
    return wrap(found if p.format == places.format else entries.to_parts(entries.of_parts(found), p.format, p.block))


def _times(p: Parts, dense: Array) -> Array:
    dtype = result_type(p.data, dense)
    columns = (dense.unsqueeze(1) if dense.ndim == 1 else dense).to(dtype)
    out = _product(p.data.to(dtype), columns, p)
    return out.reshape(-1) if dense.ndim == 1 else out


def _of_sparse(a: Container, b: Container) -> Container:
    """PyTorch's own, of coo and with its gradients."""
    first, second = differentiable(a), differentiable(b)
    dtype = result_type(first.data, second.data)
    left, right = (
        wrap(entries.to_parts(entries.of_parts(p._replace(data=p.data.to(_calculated(dtype)))), "coo"))
        for p in (first, second)
    )
    out = parts(torch.sparse.mm(left, right).coalesce())
    format = "csr" if first.format == "bsr" else first.format
    return wrap(entries.to_parts(entries.of_parts(out._replace(data=out.data.to(dtype))), format))


def _compressed(s: Container) -> Parts:
    """A matrix by rows or columns; in order where a gradient for its values needs that."""
    p = differentiable(s)
    fits = p.format in ("csr", "csc") and (not p.data.requires_grad or entries.is_canonical(p))
    return p if fits else _by_rows(p)


def _by_rows(p: Parts) -> Parts:
    known = bool(p.sorted and p.unique) and p.format == "coo"
    return entries.to_parts(entries.of_parts(p), "csr", known=known)


def _turned(p: Parts) -> Parts:
    return p._replace(format="csr" if p.format == "csc" else "csc", shape=p.shape[::-1])


class _Product(torch.autograd.Function):
    """``s @ dense`` by the values of s and a dense matrix."""

    @staticmethod
    def forward(ctx: Any, values: Array, dense: Array, p: Parts) -> Array:
        ctx.p = p._replace(data=values.detach())
        ctx.save_for_backward(values, dense)
        return _multiplied(ctx.p, dense.detach())

    @staticmethod
    def backward(ctx: Any, gradient: Array) -> tuple[Array | None, Array | None, None]:
        values, dense = ctx.saved_tensors
        return (
            _samples(gradient, dense.mH, ctx.p) if ctx.needs_input_grad[0] else None,
            _product(values.conj_physical(), gradient, _turned(ctx.p)) if ctx.needs_input_grad[1] else None,
            None,
        )


class _Sampled(torch.autograd.Function):
    """The elements of ``a @ b`` at the places of canonical parts."""

    @staticmethod
    def forward(ctx: Any, a: Array, b: Array, p: Parts) -> Array:
        ctx.p = p._replace(data=p.data.detach())
        ctx.save_for_backward(a, b)
        return _sampled(a.detach(), b.detach(), ctx.p)

    @staticmethod
    def backward(ctx: Any, gradient: Array) -> tuple[Array | None, Array | None, None]:
        a, b = ctx.saved_tensors
        return (
            _product(gradient, b.mH, ctx.p) if ctx.needs_input_grad[0] else None,
            _product(gradient, a.conj(), _turned(ctx.p)).mT if ctx.needs_input_grad[1] else None,
            None,
        )


_product: Callable[..., Array] = _Product.apply
_samples: Callable[..., Array] = _Sampled.apply


def _calculated(dtype: torch.dtype) -> torch.dtype:
    """float32 for narrower ones, which PyTorch's products and NumPy lack."""
    return torch.float32 if dtype.is_floating_point and dtype.itemsize < 4 else dtype


def _multiplied(p: Parts, dense: Array) -> Array:
    """By the host kernels in host memory, else by PyTorch's."""
    if not dense.is_cpu:
        return wrap(p) @ dense
    dtype = _calculated(dense.dtype)
    s = wrap(p._replace(data=p.data.to(dtype)))
    return host.matmul(backend_by_name("torch").sparse, s, dense.to(dtype)).to(dense.dtype)


def _sampled(a: Array, b: Array, p: Parts) -> Array:
    """By the host kernels in host memory, else by PyTorch's, which takes csr alone."""
    if p.format == "csc":
        return _sampled(b.mT, a.mT, _turned(p))
    dtype = _calculated(a.dtype)
    sample = _sampled_on_host if a.is_cpu else _sampled_natively
    return sample(a.to(dtype), b.to(dtype), p).values().to(a.dtype)


def _sampled_on_host(a: Array, b: Array, p: Parts) -> Container:
    return host.sddmm(backend_by_name("torch").sparse, a, b, wrap(p))


def _sampled_natively(a: Array, b: Array, p: Parts) -> Container:
    nothing = wrap(p._replace(data=a.new_zeros(p.data.shape)))
    return torch.sparse.sampled_addmm(nothing, a, b, beta=0.0)
