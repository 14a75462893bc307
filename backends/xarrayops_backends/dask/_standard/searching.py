"""Selecting and searching elements."""

from __future__ import annotations

from typing import Any

import numpy as np

from xarrayops.plugin import Array
from xarrayops_backends.dask import _blocks
from xarrayops_backends.dask._blocks import compat, da
from xarrayops_backends.dask._standard.manipulation import reshape
from xarrayops_backends.numpy import _standard as _numpy


def take(x: Array, indices: Array, /, *, axis: int | None = None) -> Array:
    """Dask's take declares a wrong shape for a single index, and warns for complex numbers."""
    if axis is None:
        x, axis = reshape(x, (-1,)), 0
    axis = _blocks.axis_from_front(x, axis)
    here = tuple(range(x.ndim))
    there = tuple(range(x.ndim, x.ndim + indices.ndim))
    out = (*here[:axis], *there, *here[axis + 1 :])
    return _blocks.gather(np.take, out, x, here, indices, there, dtype=x.dtype, axis=axis)


def take_along_axis(x: Array, indices: Array, /, *, axis: int = -1) -> Array:
    """NumPy's function on whole axes; Dask has none."""
    axis = _blocks.axis_from_front(x, axis)
    out = tuple(range(x.ndim))
    here = (*out[:axis], x.ndim, *out[axis + 1 :])
    return _blocks.gather(np.take_along_axis, out, x, here, indices, out, dtype=x.dtype, axis=axis)


def nonzero(x: Array, /) -> tuple[Array, ...]:
    """Dask's nonzero fails on empty arrays. The result's size is NaN until it is computed."""
    if x.ndim == 0:
        raise ValueError("x must have at least one dimension")
    if x.size == 0:
        return tuple(da.zeros((0,), dtype=np.intp) for _ in x.shape)
    return tuple(compat.nonzero(_blocks.without_empty_chunks(x)))


def sort(x: Array, /, *, axis: int | None = -1, descending: bool = False, stable: bool = True) -> Array:
    """The NumPy backend's function on whole axes."""
    return _along_whole_axis(_numpy.sort, x, axis, x.dtype, descending=descending, stable=stable)


def argsort(x: Array, /, *, axis: int | None = -1, descending: bool = False, stable: bool = True) -> Array:
    """The NumPy backend's function on whole axes."""
    return _along_whole_axis(_numpy.argsort, x, axis, np.intp, descending=descending, stable=stable)


def _along_whole_axis(kernel: Any, x: Array, axis: int | None, dtype: Any, **options: Any) -> Array:
    """The kernel on chunks that span the axis; the result has the chunks of x."""
    if axis is None:
        x, axis = reshape(x, (-1,)), 0
    axis = _blocks.axis_from_front(x, axis)
    meta = _blocks.meta(x, dtype, x.ndim)
    result = da.map_blocks(kernel, x.rechunk({axis: -1}), axis=axis, dtype=dtype, meta=meta, **options)
    return result.rechunk(x.chunks)


def searchsorted(x1: Array, x2: Any, /, *, side: str = "left", sorter: Array | None = None) -> Array:
    """Dask's searchsorted has no sorter and takes no scalars: https://github.com/dask/dask/pull/7696."""
    if sorter is not None:
        x1 = take(x1, sorter)
    x2 = _blocks.without_empty_chunks(da.asarray(x2))
    positions = da.searchsorted(_blocks.without_empty_chunks(x1), x2 if x2.ndim else x2[None], side=side)
    return positions if x2.ndim else positions[0]
