"""PyTorch's sparse tensors and their parts: coo and the compressed layouts.

PyTorch returns the gradient of a compressed tensor's values in the order of sorted indices, so it is silently wrong for
unsorted indices. PyTorch also refuses duplicates, complex values, and, for csc and bsr, a second use. Therefore a
sparse tensor created here remembers its original values, and xarrayops computes from these values.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from math import prod
from typing import Any

import torch

from xarrayops.errors import Unsupported
from xarrayops.plugin import Array
from xarrayops.plugin.sparse import Container, Parts
from xarrayops_backends.torch._dtypes import _SPARSE_LAYOUTS
from xarrayops_backends.torch._sparse import entries

_LAYOUTS = {"csr": torch.sparse_csr, "csc": torch.sparse_csc, "bsr": torch.sparse_bsr}
_FORMATS = {layout: format for format, layout in _LAYOUTS.items()}

# Triggers, and silences, the warnings "beta state" and "invariant checks are implicitly disabled", which PyTorch gives
# once in a process: not in a user's call.
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    torch.empty((0, 0), layout=torch.sparse_csr)
    torch.sparse_coo_tensor(torch.empty((1, 0), dtype=torch.int64), torch.empty(0), (0,), check_invariants=False)


def holds(x: Any, /) -> bool:
    """Whether x is a tensor of a sparse layout, including bsc, which is not supported."""
    return isinstance(x, torch.Tensor) and x.layout in _SPARSE_LAYOUTS


def parts(s: Container, /) -> Parts:
    """The parts of a sparse tensor. Its values are differentiable if the tensor is.

    Without a gradient they are not views of the tensor, because PyTorch can neither conjugate nor trace such views.
    """
    if s.layout is torch.sparse_coo:
        return _coo(s)
    format = _FORMATS.get(s.layout)
    if format is None:
        raise Unsupported(f"the layout {s.layout} is not supported; coo, csr, csc and bsr are. Instead: x.to_dense()")
    by_columns = format == "csc"
    indptr, indices = (s.ccol_indices(), s.row_indices()) if by_columns else (s.crow_indices(), s.col_indices())
    made = _making(s)
    data = made.data if made else s.values() if s.requires_grad else s.values().data
    if indptr.ndim != 1 or data.ndim != (3 if format == "bsr" else 1):
        raise Unsupported(
            f"a {format} tensor {tuple(s.shape)} with values {tuple(data.shape)} has batch or dense axes. "
            "Instead: its matrices one by one, such as s[i], or s.to_dense()"
        )
    block = (int(data.shape[1]), int(data.shape[2])) if format == "bsr" else None
    known = (None, None) if not made else (made.structure.sorted, made.structure.unique)
    return Parts(format, tuple(s.shape), data, indices.data, indptr.data, None, block, *known)


def _coo(s: Container) -> Parts:
    known, made = s.is_coalesced() or None, _making(s)
    if made or not s.requires_grad:
        data = made.data if made else s._values()
    else:
        data = s.values() if known else _separate(s)
    if data.ndim != 1:
        dense = f"dense axes {tuple(data.shape[1:])}"
        raise Unsupported(f"a coo tensor {tuple(s.shape)} with {dense} is a hybrid. Instead: s.to_dense().to_sparse()")
    return Parts("coo", tuple(s.shape), data, coords=s._indices(), sorted=known, unique=known)


def wrap(p: Parts, /) -> Container:
    """A sparse tensor of the parts. PyTorch does not check the indices; gradients flow to the given values."""
    data = p.data.resolve_conj().resolve_neg()
    return _over(data, p) if data.requires_grad else _made(data, p)


def _made(data: Array, p: Parts) -> Container:
    """A sparse tensor. PyTorch needs the number of elements of the shape as an int64."""
    if prod(p.shape) >= 1 << 63:
        raise Unsupported(
            f"PyTorch has no tensors of shape {p.shape}, with 2**63 elements or more. Instead: a SciPy container"
        )
    if p.format == "coo":
        known = bool(p.sorted and p.unique)
        return torch.sparse_coo_tensor(p.coords, data, p.shape, check_invariants=False, is_coalesced=known)
    indptr, indices = p.indptr, p.indices
    if not data.is_cpu:  # PyTorch passes their pointers to cuSPARSE without the strides
        indptr, indices, data = (x.contiguous() for x in (indptr, indices, data))
    return torch.sparse_compressed_tensor(
        indptr, indices, data, p.shape, layout=_LAYOUTS[p.format], check_invariants=False
    )


def differentiable(s: Container) -> Parts:
    """The parts of a tensor, safe to differentiate.

    A coo tensor that PyTorch created is coalesced first. A compressed tensor that PyTorch created is refused if its
    entries are unsorted or have duplicates, unless the tensor is a leaf.
    """
    s = coalesced(s)
    p = parts(s)
    # A leaf has no function to receive its gradient: it is returned in the tensor's own structure.
    foreign = s.requires_grad and not s.is_leaf and _making(s) is None
    if foreign and p.format != "coo" and not entries.is_canonical(p):
        raise Unsupported(
            f"PyTorch computes a wrong gradient for a {p.format} tensor with unsorted indices or duplicates. "
            f"Instead: xo.sparse.from_parts({p.format!r}, indptr, indices, data, shape=..., check=False)"
        )
    return p


def coalesced(s: Container) -> Container:
    """The tensor, coalesced if it is a coo tensor that PyTorch created and that needs a gradient."""
    is_foreign = s.layout is torch.sparse_coo and s.requires_grad and _making(s) is None
    return s.coalesce() if is_foreign else s


def _making(s: Container) -> Any:
    """The autograd node of a tensor that `wrap` created over differentiable values, or None."""
    node = s.grad_fn
    return node if getattr(node, "_forward_cls", None) is _Wrapped else None


class _Wrapped(torch.autograd.Function):
    """A sparse tensor over values. Gradients from PyTorch's functions are looked up at the indices of the values."""

    @staticmethod
    def forward(ctx: Any, data: Array, p: Parts) -> Container:
        ctx.data, ctx.structure = data, p._replace(data=data.detach())
        return _made(data, p)

    @staticmethod
    def backward(ctx: Any, gradient: Array | Container) -> tuple[Array, None]:
        flat = entries.of_parts(ctx.structure).flat
        # A dense gradient is read at each index: duplicates get the same number, which is correct, as both are added.
        if not holds(gradient):
            return gradient.reshape(-1)[flat].reshape(ctx.structure.data.shape), None
        # PyTorch's compressed kernels give sorted gradients for unsorted indices. Without duplicates they can be looked
        # up by index; with duplicates it is unknown which gradient belongs to which entry.
        if gradient.layout is not torch.sparse_coo and len(flat.unique()) < len(flat):
            raise Unsupported(
                f"PyTorch computes no reliable gradient for a {ctx.structure.format} tensor with duplicates. "
                "Instead: functions of xarrayops, or xo.sparse.from_parts(..., canonicalize=True)"
            )
        sent = entries.canonical(entries.of_parts(parts(gradient)))
        return entries.values_at(sent, flat).reshape(ctx.structure.data.shape), None


class _Separate(torch.autograd.Function):
    """The values of a coo tensor that may have duplicates. PyTorch has no separate gradients for duplicates."""

    @staticmethod
    def forward(ctx: Any, s: Container) -> Array:
        return s._values()

    @staticmethod
    def backward(ctx: Any, gradient: Array) -> None:
        raise Unsupported("PyTorch has no separate gradients for the duplicates of a coo tensor. Instead: s.coalesce()")


_over: Callable[..., Container] = _Wrapped.apply
_separate: Callable[..., Array] = _Separate.apply
