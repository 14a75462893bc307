"""Set functions, for NaN and complex numbers too."""

from __future__ import annotations

from typing import Any

import array_api_compat.torch as aac
import torch
from array_api_compat.torch import UniqueAllResult, UniqueCountsResult, UniqueInverseResult
from torch.compiler import is_compiling

from xarrayops.plugin import Array
from xarrayops.plugin.backends import backend_by_name
from xarrayops.plugin.generic import HOOKS, complex_order
from xarrayops_backends.torch import _tracing
from xarrayops_backends.torch._dtypes import _can_hold, _pair
from xarrayops_backends.torch._standard.searching import argsort
from xarrayops_backends.torch._standard.wide import WIDE, _bits, _by_bits, _rank, _unrank


def _suits(x: Array) -> bool:
    """Whether torch.unique serves x: it has no gradient, and merges some NaNs."""
    if x.requires_grad:
        return False
    if not x.is_floating_point():
        return not x.is_complex()
    return not (is_compiling() or _tracing.transforms() or torch.isnan(x).any())


def _grouped(x: Array, *, equal_nan: bool = False) -> tuple[Array, Array, Array]:
    """The flat elements sorted, their permutation, and where a new value begins; NaN differs from NaN by default."""
    flat = x.reshape(-1)
    order = argsort(flat)
    ordered = _by_bits(torch.take_along_dim, flat, order)
    first = torch.ones(ordered.shape, dtype=torch.bool, device=x.device)
    first[1:] = ordered[1:] != ordered[:-1]
    if equal_nan:
        first[1:] &= (ordered[:-1] == ordered[:-1]) | (ordered[1:] == ordered[1:])
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
    if _suits(x):
        ranks, counts = torch.unique(_rank(x), return_counts=True)
        return UniqueCountsResult(_unrank(ranks, x.dtype), counts)
    ordered, _, first = _grouped(x)
    return UniqueCountsResult(ordered[first], _counted(first))


def unique_inverse(x: Array, /) -> UniqueInverseResult:
    """torch.unique rejects complex numbers, and handles NaN inconsistently."""
    if _suits(x):
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


def unique(
    x: Array, /, *, return_index: bool, return_inverse: bool, return_counts: bool, axis: int | None
) -> Array | tuple[Array, ...]:
    """torch.unique, which keeps each NaN and has no indices (pytorch#36748); for these a stable sort."""
    options = {"return_inverse": return_inverse, "return_counts": return_counts}
    if axis is not None or x.is_complex():
        return HOOKS["unique"](backend_by_name("torch").namespace, x, return_index=return_index, **options, axis=axis)
    if not return_index and _suits(x):
        found = torch.unique(_rank(x), **options)
        if not (return_inverse or return_counts):
            return _unrank(found, x.dtype)
        return _unrank(found[0], x.dtype), *found[1:]
    _, order, first = _grouped(x, equal_nan=x.is_floating_point())
    index = order[first]
    found = [_by_bits(torch.take, x, index)]
    if return_index:
        found.append(index)
    if return_inverse:
        found.append(_inverse(order, first, x.shape))
    if return_counts:
        found.append(_counted(first))
    return tuple(found) if len(found) > 1 else found[0]


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
