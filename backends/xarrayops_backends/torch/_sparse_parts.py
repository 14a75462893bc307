"""Sparse tensors and their parts: coo and the compressed layouts, as PyTorch has them.

PyTorch hands a gradient to a compressed tensor's values in the order of sorted indices, so that one of unsorted values
is wrong without a word; it refuses duplicates, complex values, and, for csc and bsr, two uses. So a tensor that we make
knows the values it was made over, and what xarrayops computes from it is computed from them.
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
from xarrayops_backends.torch import _sparse_entries as entries
from xarrayops_backends.torch._linalg import SPARSE_LAYOUTS

_LAYOUTS = {"csr": torch.sparse_csr, "csc": torch.sparse_csc, "bsr": torch.sparse_bsr}
_FORMATS = {layout: format for format, layout in _LAYOUTS.items()}

with warnings.catch_warnings():  # that the layout is in beta state, PyTorch says once in a process: here, unheard
    warnings.simplefilter("ignore")
    torch.empty((0, 0), layout=torch.sparse_csr)


def holds(x: Any, /) -> bool:
    """Tensors of sparse layouts, those that we serve and bsc."""
    return isinstance(x, torch.Tensor) and x.layout in SPARSE_LAYOUTS


def parts(s: Container, /) -> Parts:
    """The tensors of which a sparse tensor consists; its values with the gradient that flows to it.

    Without one they are no views of it, which PyTorch neither conjugates nor traces.
    """
    if s.layout is torch.sparse_coo:
        return _coo(s)
    format = _FORMATS.get(s.layout)
    if format is None:
        raise Unsupported(f"a tensor of layout {s.layout} is none of coo, csr, csc, bsr. Instead: x.to_dense()")
    by_columns = format == "csc"
    indptr, indices = (s.ccol_indices(), s.row_indices()) if by_columns else (s.crow_indices(), s.col_indices())
    made = _making(s)
    data = made.data if made else s.values() if s.requires_grad else s.values().data
    if indptr.ndim != 1 or data.ndim != (3 if format == "bsr" else 1):
        raise Unsupported(
            f"a {format} tensor {tuple(s.shape)} with values {tuple(data.shape)} is a batch, or has dense axes. "
            "Instead: its matrices one by one, as s[i], or s.to_dense()"
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
    """PyTorch looks at no index; a gradient flows to the values as they were given."""
    data = p.data.resolve_conj().resolve_neg()
    return _over(data, p) if data.requires_grad else _made(data, p)


def _made(data: Array, p: Parts) -> Container:
    """PyTorch counts the elements of the whole, which may be more than it has numbers for."""
    if prod(p.shape) >= 1 << 63:
        raise Unsupported(f"PyTorch has no tensor of shape {p.shape}: too many elements to count. Instead: SciPy's")
    if p.format == "coo":
        known = bool(p.sorted and p.unique)
        return torch.sparse_coo_tensor(p.coords, data, p.shape, check_invariants=False, is_coalesced=known)
    return torch.sparse_compressed_tensor(
        p.indptr, p.indices, data, p.shape, layout=_LAYOUTS[p.format], check_invariants=False
    )


def differentiable(s: Container) -> Parts:
    """The parts of a tensor that takes part in a gradient.

    Duplicates of a coo tensor of PyTorch's making are summed before. A compressed one in disorder is refused, unless it
    is the leaf to which its gradient belongs.
    """
    if s.layout is torch.sparse_coo and s.requires_grad and _making(s) is None:
        s = s.coalesce()
    p = parts(s)
    foreign = s.requires_grad and not s.is_leaf and _making(s) is None
    if foreign and p.format != "coo" and not entries.is_canonical(p):
        raise Unsupported(
            f"PyTorch gives the values of a {p.format} tensor in disorder, or with duplicates, a wrong gradient. "
            f"Instead: xo.sparse.from_parts({p.format!r}, indptr, indices, data, shape=..., check=False)"
        )
    return p


def _making(s: Container) -> Any:
    """How `wrap` made a tensor to whose values a gradient flows, or None."""
    node = s.grad_fn
    return node if getattr(node, "_forward_cls", None) is _Wrapped else None


class _Wrapped(torch.autograd.Function):
    """A sparse tensor over values; what PyTorch's own functions send back is looked up at their places."""

    @staticmethod
    def forward(ctx: Any, data: Array, p: Parts) -> Container:
        ctx.data, ctx.structure = data, p._replace(data=data.detach())
        return _made(data, p)

    @staticmethod
    def backward(ctx: Any, gradient: Array | Container) -> tuple[Array, None]:
        places = entries.of_parts(ctx.structure).places
        if not holds(gradient):
            return gradient.reshape(-1)[places].reshape(ctx.structure.data.shape), None
        if gradient.layout is not torch.sparse_coo and len(places.unique()) < len(places):
            raise Unsupported(
                f"PyTorch's own functions give no sure gradient to the duplicates of a {ctx.structure.format} tensor. "
                "Instead: those of xarrayops, or xo.sparse.from_parts(..., canonicalize=True)"
            )
        sent = entries.canonical(entries.of_parts(parts(gradient)))
        return entries.values_at(sent, places).reshape(ctx.structure.data.shape), None


class _Separate(torch.autograd.Function):
    """The values of a coo tensor that may have duplicates, to each of which PyTorch can give no gradient of its own."""

    @staticmethod
    def forward(ctx: Any, s: Container) -> Array:
        return s._values()

    @staticmethod
    def backward(ctx: Any, gradient: Array) -> None:
        raise Unsupported("PyTorch gives no gradient to each of the duplicates of a coo tensor. Instead: s.coalesce()")


_over: Callable[..., Container] = _Wrapped.apply
_separate: Callable[..., Array] = _Separate.apply
