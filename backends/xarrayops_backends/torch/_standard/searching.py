"""Functions that search, and that select elements by index."""

from __future__ import annotations

import math
from typing import Any, Literal

import array_api_compat.torch as aac
import torch

from xarrayops.plugin import Array
from xarrayops.plugin.generic import complex_order
from xarrayops_backends.torch import _tracing
from xarrayops_backends.torch._dtypes import _pair
from xarrayops_backends.torch._standard.wide import UNORDERED, WIDE, _bits, _by_bits, _rank, _unrank

_INDICES = (torch.int32, torch.int64)


def searchsorted(
    x1: Array, x2: Any, /, *, side: Literal["left", "right"] = "left", sorter: Array | None = None
) -> Array:
    """torch.searchsorted does not promote, lacks wide integers and gives wrong positions among NaN, which sort last."""
    if x1.ndim != 1:
        raise ValueError(f"the sorted array must be a vector, but its shape is {tuple(x1.shape)}")
    if getattr(x2, "dtype", None) is not x1.dtype:
        x1, x2 = _pair(x1, x2)
    sorter = None if sorter is None else sorter.to(torch.int64)
    if x1.dtype in UNORDERED:
        if x1.is_complex():
            return complex_order.searchsorted(aac, x1, x2, side=side, sorter=sorter)
        x1, x2 = _rank(x1), _rank(x2)
    x2 = x2.contiguous()  # else PyTorch copies it with a warning
    if not _may_end_in_nan(x1, sorter):
        return torch.searchsorted(x1, x2, side=side, sorter=sorter)
    numbers = torch.sum(x1 == x1)
    bounds = torch.nan_to_num(x1, math.inf, math.inf, -math.inf)
    found = torch.minimum(torch.searchsorted(bounds, x2, side=side, sorter=sorter), numbers)
    return found if side == "left" else torch.where(torch.isnan(x2), x1.shape[-1], found)


def _may_end_in_nan(x: Array, sorter: Array | None) -> bool:
    """Whether a sorted vector may have NaN: True if the check would wait for a GPU or break a trace."""
    if not x.is_floating_point() or not x.numel():
        return False
    if torch.compiler.is_compiling() or not x.is_cpu:
        return True
    try:
        return math.isnan(x[-1 if sorter is None else sorter[-1]].item())
    except RuntimeError:  # a fake or a batched tensor, which has no values to read
        return True


def nonzero(x: Array, /) -> tuple[Array, ...]:
    """torch.nonzero returns one matrix, accepts 0-d arrays and lacks wide unsigned integers."""
    if x.ndim == 0:
        raise ValueError("nonzero does not take zero-dimensional arrays")
    return torch.nonzero(_bits(x), as_tuple=True)


def argsort(x: Array, /, *, axis: int | None = -1, descending: bool = False, stable: bool = True) -> Array:
    """torch.argsort is not stable by default, has no axis=None and no order of complex numbers and wide integers."""
    if axis is None:
        x, axis = x.reshape(-1), 0
    if x.is_complex():
        return complex_order.argsort(aac, x, axis=axis, descending=descending)
    return torch.argsort(_rank(x), dim=axis, descending=descending, stable=stable)


def sort(x: Array, /, *, axis: int | None = -1, descending: bool = False, stable: bool = True) -> Array:
    """torch.sort has no axis=None and no order of complex numbers and wide integers."""
    if axis is None:
        x, axis = x.reshape(-1), 0
    if x.is_complex():
        return complex_order.sort(aac, x, axis=axis, descending=descending)
    ranks = torch.sort(_rank(x), dim=axis, descending=descending, stable=stable).values
    return _unrank(ranks, x.dtype) if x.dtype in WIDE else ranks


def _from_start(indices: Array, extent: int) -> Array:
    """Indices as PyTorch's gathers require them: int64, none negative (pytorch#146211)."""
    if indices.is_floating_point() or indices.is_complex():
        raise IndexError(f"the indices must be integers, not {indices.dtype}")
    indices = indices.to(torch.int64)
    return torch.add(indices, indices < 0, alpha=extent)


def take(x: Array, indices: Array, /, *, axis: int | None = None) -> Array:
    """torch.take flattens; torch.index_select rejects negative, narrow and multi-dimensional indices."""
    if axis is None:
        x, axis = x.reshape(-1), 0
    if x.is_cuda and indices.dtype in _INDICES and not _tracing.is_followed(x):
        # It takes negative indices. Its gradient is slower.
        return _by_bits(torch.ops.aten.index.Tensor, x, [None] * (axis % x.ndim) + [indices])
    indices, axis = _from_start(indices, x.shape[axis]), axis % x.ndim
    chosen = _by_bits(torch.index_select, x, axis, indices.reshape(-1))
    return chosen if indices.ndim == 1 else chosen.reshape((*x.shape[:axis], *indices.shape, *x.shape[axis + 1 :]))


def take_along_axis(x: Array, indices: Array, /, *, axis: int = -1) -> Array:
    """torch.take_along_dim silently wraps indices that are out of bounds, and torch.gather does not broadcast."""
    indices, axis = _from_start(indices, x.shape[axis]), axis % x.ndim
    others, of_indices = ((*y.shape[:axis], 1, *y.shape[axis + 1 :]) for y in (x, indices))
    if others != of_indices:
        shape = torch.broadcast_shapes(others, of_indices)  # type: ignore[no-untyped-call]
        x, indices = (y.expand(*shape[:axis], y.shape[axis], *shape[axis + 1 :]) for y in (x, indices))
    return _by_bits(torch.gather, x, axis, indices)
