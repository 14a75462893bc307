"""Reductions whose results in PyTorch/XLA are wrong."""

from __future__ import annotations

from collections.abc import Callable

import torch

from xarrayops.plugin import Array
from xarrayops_backends.torch._standard import statistics as _statistics

_Axes = int | tuple[int, ...] | None


def _extremum(reduce: Callable[..., Array], x: Array, axis: _Axes, keepdims: bool) -> Array:
    """Reduce all axes if axis is None, and propagate NaN; torch.amax and torch.amin on XLA do neither."""
    axis = tuple(range(x.ndim)) if axis is None else axis
    out = reduce(x, axis=axis, keepdims=keepdims)
    if not x.is_floating_point() or axis == ():
        return out
    return torch.where(_statistics.any(torch.isnan(x), axis=axis, keepdims=keepdims), torch.nan, out)


def max(x: Array, /, *, axis: _Axes = None, keepdims: bool = False) -> Array:
    """On XLA, torch.amax reduces no axis if none is given, and drops NaN."""
    return _extremum(_statistics.max, x, axis, keepdims)


def min(x: Array, /, *, axis: _Axes = None, keepdims: bool = False) -> Array:
    """On XLA, torch.amin reduces no axis if none is given, and drops NaN."""
    return _extremum(_statistics.min, x, axis, keepdims)


def mean(x: Array, /, *, axis: _Axes = None, keepdims: bool = False) -> Array:
    """XLA has no mean for complex numbers."""
    if not x.is_complex():
        return _statistics.mean(x, axis=axis, keepdims=keepdims)
    return torch.complex(*(_statistics.mean(part, axis=axis, keepdims=keepdims) for part in (x.real, x.imag)))


def count_nonzero(x: Array, /, *, axis: _Axes = None, keepdims: bool = False) -> Array:
    """On XLA, torch.count_nonzero returns the dtype of x, and supports no negative axis."""
    return _statistics.sum(torch.ne(x, 0), axis=axis, keepdims=keepdims)
