"""Set functions, for NaN and complex numbers too."""

from __future__ import annotations

from typing import Any

import array_api_compat.torch as aac
import torch
from array_api_compat.torch import UniqueAllResult, UniqueCountsResult, UniqueInverseResult

from xarrayops.plugin import Array
from xarrayops.plugin.generic import complex_order
from xarrayops_backends.torch._dtypes import _can_hold, _pair
from xarrayops_backends.torch._standard.searching import argsort
from xarrayops_backends.torch._standard.wide import WIDE, _bits, _by_bits, _rank, _unrank


def _grouped(x: Array) -> tuple[Array, Array, Array]:
    """The flat elements sorted, their permutation, and where a new value begins; NaN differs from NaN."""
    flat = x.reshape(-1)
    order = argsort(flat)
    ordered = _by_bits(torch.take_along_dim, flat, order)
    first = torch.ones(ordered.shape, dtype=torch.bool, device=x.device)
    first[1:] = ordered[1:] != ordered[:-1]
    return ordered, order, first


def _counted(first: Array) -> Array:
    """The number of elements of each group, from the marks of group starts."""
    begins = torch.nonzero(first).squeeze(-1)
    return torch.diff(begins, append=torch.full((1,), first.numel(), device=first.device))


def _inverse(order: Array, first: Array, shape: tuple[int, ...]) -> Array:
    """The group index of each element, in the original order."""
    inverse = torch.empty_like(order)
    inverse[order] = torch.cumsum(first, 0, dtype=torch.int64) - 1
    return inverse.reshape(shape)


def unique_all(x: Array, /) -> UniqueAllResult:
    """torch.unique gives no indices (pytorch#36748); a stable sort finds the first occurrence of each value."""
    ordered, order, first = _grouped(x)
    values = _by_bits(torch.masked_select, ordered, first)
    return UniqueAllResult(values, order[first], _inverse(order, first, x.shape), _counted(first))


def unique_counts(x: Array, /) -> UniqueCountsResult:
    """torch.unique does not count NaN (pytorch#94106) and rejects complex numbers."""
    if not x.is_floating_point() and not x.is_complex():
        ranks, counts = torch.unique(_rank(x), return_counts=True)
        return UniqueCountsResult(_unrank(ranks, x.dtype), counts)
    ordered, _, first = _grouped(x)
    return UniqueCountsResult(ordered[first], _counted(first))


def unique_inverse(x: Array, /) -> UniqueInverseResult:
    """torch.unique rejects complex numbers, and handles NaN inconsistently."""
    if not x.is_floating_point() and not x.is_complex():
        ranks, inverse = torch.unique(_rank(x), return_inverse=True)
        return UniqueInverseResult(_unrank(ranks, x.dtype), inverse)
    ordered, order, first = _grouped(x)
    return UniqueInverseResult(ordered[first], _inverse(order, first, x.shape))


def unique_values(x: Array, /) -> Array:
    """torch.unique rejects complex numbers, and wide integers on CUDA."""
    if not x.is_complex():
        return _unrank(torch.unique(_rank(x)), x.dtype)
    ordered, _, first = _grouped(x)
    return ordered[first]


def isin(x1: Any, x2: Any, /, *, invert: bool = False) -> Array:
    """torch.isin does not promote and rejects bool, complex and wide unsigned integers."""
    for number, other in ((x1, x2), (x2, x1)):
        if type(number) is int and not _can_hold(other.dtype, number):  # PyTorch would raise
            return torch.full(getattr(x1, "shape", ()), invert, dtype=torch.bool, device=other.device)
    x1, x2 = _pair(x1, x2)
    if x1.is_complex():
        return complex_order.isin(aac, x1, x2, invert=invert)
    if x1.dtype is torch.bool:
        x1, x2 = x1.to(torch.uint8), x2.to(torch.uint8)
    elif x1.dtype in WIDE:
        x1, x2 = _bits(x1), _bits(x2)
    return torch.isin(x1, x2, invert=invert)
