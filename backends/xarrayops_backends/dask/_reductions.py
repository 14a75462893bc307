"""Reductions beyond the standard in one pass: each chunk gives partial results, which a tree merges."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from xarrayops.plugin import Array
from xarrayops.plugin.backends import backend_by_name, backend_of
from xarrayops.plugin.generic import common, elementwise, nans
from xarrayops_backends.dask import _blocks
from xarrayops_backends.dask._blocks import da

_Axes = common.Axes


def nan_variance(x: Array, /, *, axis: _Axes = None, correction: float = 0.0, keepdims: bool = False) -> Array:
    """The sum of squares of Dask's function, which cannot divide by 0, with NaN where the numbers are too few."""
    xp = backend_by_name("dask").namespace
    options: dict[str, Any] = {"axis": common.checked_axes(axis, x.ndim), "keepdims": keepdims}
    x = _blocks.without_empty_chunks(common.floating(xp, x))
    if x.dtype.kind != "f" or not x.size:
        return nans.nanvar(xp, x, correction=correction, **options)
    count = da.sum(~da.isnan(x), **options).astype(x.dtype)
    squares = da.nanvar(x, ddof=-1, **options) * (count + 1)
    return (squares / da.where(count > correction, count - correction, np.nan)).astype(x.dtype)


def nan_deviation(x: Array, /, *, axis: _Axes = None, correction: float = 0.0, keepdims: bool = False) -> Array:
    """The root of the variance."""
    return da.sqrt(nan_variance(x, axis=axis, correction=correction, keepdims=keepdims))


def merged_logsumexp(x: Array, /, *, axis: _Axes = None, keepdims: bool = False) -> Array:
    """The function of the results of chunks."""
    xp = backend_by_name("dask").namespace
    x, axis = _blocks.without_empty_chunks(common.floating(xp, x)), common.checked_axes(axis, x.ndim)
    if x.dtype.kind != "f" or not x.size or axis == ():
        return elementwise.logsumexp(xp, x, axis=axis, keepdims=keepdims)
    wide = common.doubled(xp, x[:0]).dtype
    first = partial(_logsumexp, dtype=wide)
    total = da.reduction(x, first, _logsumexp, axis=axis, keepdims=keepdims, dtype=wide)
    return common.astype(xp, total, x.dtype)


def _logsumexp(chunk: Any, axis: Any, keepdims: bool, dtype: Any = None) -> Any:
    chunk = chunk if dtype is None else chunk.astype(dtype, copy=False)
    with np.errstate(divide="ignore"):  # the chunk may have only -inf
        return backend_of(chunk).functions["logsumexp"](chunk, axis=axis, keepdims=keepdims)
