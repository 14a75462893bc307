"""Sums, products, moments and extrema."""

from __future__ import annotations

from collections.abc import Callable
from operator import index
from typing import Any

import array_api_compat.torch as aac
import torch

from xarrayops.plugin import Array
from xarrayops.plugin.generic import complex_order
from xarrayops_backends.torch._dtypes import _DOUBLE_OF, _accumulator, _refuse_sparse
from xarrayops_backends.torch._precision import has_overflowed as _has_overflowed
from xarrayops_backends.torch._standard.wide import UNORDERED, WIDE, _bits, _rank, _unrank

Axes = int | tuple[int, ...] | None
_Function = Callable[..., Array]
_UNTESTED = WIDE | {torch.uint8}
"""torch.all and torch.any return uint8 for uint8, and do not support wide unsigned integers."""
SEARCHED = 1 << 17
"""The number of elements from which a search for a position on a CPU is done by blocks."""
BLOCK = 64
"""The elements of such a block."""


_SCANNED_AS = {torch.float16: torch.float32, torch.bfloat16: torch.float32}
"""On CPUs PyTorch accumulates float32 in float64, and half types in float32, one number after the other."""
_SCANNED_ON_CUDA = _DOUBLE_OF
"""There it accumulates in the dtype itself, and columns one number after the other."""


def _as_axes(axis: Any) -> Any:
    """The axes as Python integers. Others, such as NumPy's, have no length and compare elementwise."""
    if axis is None or type(axis) is int:
        return axis
    return tuple(map(index, axis)) if isinstance(axis, (tuple, list)) else index(axis)


def _over(reduce: _Function, x: Array, axis: Axes, keepdims: bool, **kwargs: Any) -> Array:
    """Extend a reduction of one axis to any axes: PyTorch's prod and others support one only (pytorch#56586)."""
    if isinstance(axis, int):
        return reduce(x, axis, keepdim=keepdims, **kwargs)
    axes = tuple(range(x.ndim)) if axis is None else tuple(a % x.ndim if -x.ndim <= a < x.ndim else a for a in axis)
    rest = [a for a in range(x.ndim) if a not in axes]
    flat = torch.permute(x, (*rest, *axes)).reshape([x.shape[a] for a in rest] + [-1 if x.numel() else _count(x, axes)])
    out = reduce(flat, -1, **kwargs)
    return out.reshape([1 if a in axes else x.shape[a] for a in range(x.ndim)]) if keepdims else out


def _count(x: Array, axes: tuple[int, ...]) -> int:
    """The number of elements that each result of a reduction combines."""
    count = 1
    for a in axes:
        count *= x.shape[a]
    return count


_INEXACT = {*_DOUBLE_OF, torch.float64, torch.complex128}


def sum(x: Array, /, *, axis: Axes = None, dtype: Any = None, keepdims: bool = False) -> Array:
    """torch.sum treats axis=() as all axes (pytorch#29137) and returns int64 for unsigned integers."""
    if x.layout is not torch.strided:  # a test in a wrapper would double the cost of the call
        _refuse_sparse("sum", x)
    if axis is not None:
        axis = _as_axes(axis)
    own = x.dtype
    if dtype in (None, own) and own in _INEXACT and (axis is None or axis != ()):
        total = torch.sum(x, axis, keepdim=keepdims)
        if own not in _DOUBLE_OF or not _has_overflowed(total):
            return total
        return torch.sum(x, axis, keepdim=keepdims, dtype=_DOUBLE_OF[own]).to(own)
    if dtype in _SCANNED_AS and dtype is not x.dtype:  # PyTorch casts before it adds
        return sum(x if x.is_floating_point() else x.to(torch.float32), axis=axis, keepdims=keepdims).to(dtype)
    work, dtype = _accumulator(x.dtype, dtype)
    out = torch.sum(x.to(work) if x.dtype in WIDE else x, axis, keepdim=keepdims, dtype=work) if axis != () else x
    return out.to(dtype, copy=out is x)


def prod(x: Array, /, *, axis: Axes = None, dtype: Any = None, keepdims: bool = False) -> Array:
    """torch.prod supports one axis only (pytorch#56586) and returns int64 for unsigned integers."""
    axis = _as_axes(axis)
    work, dtype = _accumulator(x.dtype, dtype)
    if axis is None and not keepdims:
        return torch.prod(x.to(work) if x.dtype in WIDE else x, dtype=work).to(dtype)
    return _over(torch.prod, x.to(work) if x.dtype in WIDE else x, axis, keepdims, dtype=work).to(dtype)


_SUMMED = 2**20
"""The number of float16 numbers whose sum in float32, with an error below n / 2**24, stays within 4 eps log2(n)."""


def _is_summed_in_single(x: Array, axis: int) -> bool:
    """Whether torch.cumsum sums a row in float32 within the bound; without a cast it takes a third of the time.

    float32 would overflow for bfloat16.
    """
    is_half_on_cpu = x.dtype is torch.float16 and x.is_cpu and not torch.compiler.is_compiling()
    return is_half_on_cpu and x.ndim > 0 and x.shape[axis] <= _SUMMED


def _cumulative(scan: _Function, identity: int, x: Array, axis: int | None, dtype: Any, include_initial: bool) -> Array:
    if axis is None:
        if x.ndim > 1:
            raise ValueError(f"axis is required for an array of {x.ndim} dimensions")
        x, axis = x if x.ndim else x.reshape(-1), 0
    work, dtype = _accumulator(x.dtype, dtype)
    if x.is_cuda:
        work = _SCANNED_ON_CUDA.get(work, work)
    elif scan is not torch.cumsum or work is not x.dtype or not _is_summed_in_single(x, axis):
        work = _SCANNED_AS.get(work, work)
    out = scan(x if x.dtype is work else x.to(work), axis)
    if include_initial:
        shape = list(x.shape)
        shape[axis] = 1
        out = torch.cat([torch.full(shape, identity, dtype=work, device=x.device), out], axis)
    return out if out.dtype is dtype else out.to(dtype)


def cumulative_sum(x: Array, /, *, axis: int | None = None, dtype: Any = None, include_initial: bool = False) -> Array:
    """torch.cumsum has no initial value, requires an axis and returns int64 for unsigned integers."""
    return _cumulative(torch.cumsum, 0, x, axis, dtype, include_initial)


def cumulative_prod(x: Array, /, *, axis: int | None = None, dtype: Any = None, include_initial: bool = False) -> Array:
    """torch.cumprod has no initial value, requires an axis and returns int64 for unsigned integers."""
    return _cumulative(torch.cumprod, 1, x, axis, dtype, include_initial)


def mean(x: Array, /, *, axis: Axes = None, keepdims: bool = False) -> Array:
    """torch.mean takes axis=() for all axes (pytorch#29137)."""
    axis = _as_axes(axis)
    return torch.mean(x.unsqueeze(-1), -1) if axis == () else torch.mean(x, axis, keepdim=keepdims)


def var(x: Array, /, *, axis: Axes = None, correction: float = 0.0, keepdims: bool = False) -> Array:
    """torch.var takes axis=() for all axes (pytorch#29137)."""
    return _moment(torch.var, x, axis, correction, keepdims)


def std(x: Array, /, *, axis: Axes = None, correction: float = 0.0, keepdims: bool = False) -> Array:
    """torch.std takes axis=() for all axes (pytorch#29137)."""
    return _moment(torch.std, x, axis, correction, keepdims)


def _moment(native: _Function, x: Array, axis: Axes, correction: float, keepdims: bool) -> Array:
    axis = _as_axes(axis)
    if axis == ():
        return native(x.unsqueeze(-1), -1, correction=correction)
    return native(x, axis, correction=correction, keepdim=keepdims)


def _extremum(reduce: _Function, of_complex: _Function, x: Array, axis: Axes, keepdims: bool) -> Array:
    axis = _as_axes(axis)
    if axis == ():
        return x.clone()
    axis = () if axis is None else axis
    try:
        if x.dtype in UNORDERED:
            if x.is_complex():
                return of_complex(aac, x, axis=None if axis == () else axis, keepdims=keepdims)
            return _unrank(reduce(_rank(x), axis, keepdim=keepdims), x.dtype)
        return reduce(x, axis, keepdim=keepdims)
    except (IndexError, RuntimeError) as error:
        raise _of_no_elements(x, axis, error) from None


def _of_no_elements(x: Array, axis: Any, error: Exception) -> Exception:
    """The error of a maximum or minimum: ValueError, as in other libraries, if there are no elements."""
    if x.numel():
        return error
    return ValueError(
        f"an empty array of shape {tuple(x.shape)} has no maximum or minimum along axis {None if axis == () else axis}"
    )


def max(x: Array, /, *, axis: Axes = None, keepdims: bool = False) -> Array:
    """torch.max returns a pair and supports one axis (pytorch#58745); torch.amax treats axis=() as all axes."""
    return _extremum(torch.amax, complex_order.max, x, axis, keepdims)


def min(x: Array, /, *, axis: Axes = None, keepdims: bool = False) -> Array:
    """torch.min returns a pair and supports one axis (pytorch#58745); torch.amin treats axis=() as all axes."""
    return _extremum(torch.amin, complex_order.min, x, axis, keepdims)


def argmax(x: Array, /, *, axis: int | None = None, keepdims: bool = False) -> Array:
    """torch.argmax does not support wide unsigned integers, complex numbers and booleans."""
    return _position(torch.argmax, torch.amax, complex_order.argmax, x, axis, keepdims)


def argmin(x: Array, /, *, axis: int | None = None, keepdims: bool = False) -> Array:
    """torch.argmin does not support wide unsigned integers, complex numbers and booleans."""
    return _position(torch.argmin, torch.amin, complex_order.argmin, x, axis, keepdims)


def _position(
    find: _Function, reduce: _Function, of_complex: _Function, x: Array, axis: int | None, keepdims: bool
) -> Array:
    try:
        if x.dtype in UNORDERED:
            if x.is_complex():
                return of_complex(aac, x, axis=axis, keepdims=keepdims)
            x = _rank(x)
        if x.is_cpu and not torch.compiler.is_compiling() and x.numel() >= SEARCHED:
            return _by_blocks(find, reduce, _comparable(x), axis, keepdims)
        return find(_comparable(x), axis, keepdim=keepdims)
    except (IndexError, RuntimeError) as error:
        raise _of_no_elements(x, axis, error) from None


def _by_blocks(find: _Function, reduce: _Function, x: Array, axis: int | None, keepdims: bool) -> Array:
    """The first position of NaN, or else of the extremum. PyTorch searches element by element, but reduces by vectors.

    So the extrema of blocks are computed first; the search is among them and in one block.
    """
    rows = x.reshape(-1) if axis is None else x.movedim(axis, -1)
    extent = rows.shape[-1]
    if extent < 4 * BLOCK or rows.stride(-1) != 1:
        return find(x, axis, keepdim=keepdims)
    whole = extent // BLOCK * BLOCK
    extrema = reduce(rows[..., :whole].unflatten(-1, (-1, BLOCK)), -1)
    if whole < extent:
        extrema = torch.cat([extrema, reduce(rows[..., whole:], -1, keepdim=True)], -1)
    start = (find(extrema, -1, keepdim=True) * BLOCK).clamp_max(extent - BLOCK)
    position = start + find(torch.gather(rows, -1, start + torch.arange(BLOCK, device=x.device)), -1, keepdim=True)
    if axis is None:
        return position.reshape((1,) * x.ndim if keepdims else ())
    return position.movedim(-1, axis) if keepdims else position.squeeze(-1)


def _comparable(x: Array) -> Array:
    """x, with integers for booleans."""
    return x.to(torch.uint8) if x.dtype is torch.bool else x


def _test(reduce: _Function, x: Array, axis: Axes, keepdims: bool) -> Array:
    axis = _as_axes(axis)
    if axis == () or x.dtype in _UNTESTED:
        x = torch.ne(x, 0)
    return x if axis == () else reduce(x, axis, keepdim=keepdims)


def all(x: Array, /, *, axis: Axes = None, keepdims: bool = False) -> Array:
    """torch.all treats axis=() as all axes and returns uint8 for uint8."""
    return _test(torch.all, x, axis, keepdims)


def any(x: Array, /, *, axis: Axes = None, keepdims: bool = False) -> Array:
    """torch.any treats axis=() as all axes and returns uint8 for uint8."""
    return _test(torch.any, x, axis, keepdims)


def count_nonzero(x: Array, /, *, axis: Axes = None, keepdims: bool = False) -> Array:
    """torch.count_nonzero has no keepdims, treats axis=() as all axes and supports no wide unsigned integers."""
    axis = _as_axes(axis)
    if not keepdims and axis != ():
        return torch.count_nonzero(_bits(x), axis)
    return torch.ne(x, 0).to(torch.int64) if axis == () else torch.sum(torch.ne(x, 0), axis, keepdim=keepdims)
