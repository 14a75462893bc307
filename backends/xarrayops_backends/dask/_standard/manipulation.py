"""Functions that reshape, join, move, select and search elements."""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np

from xarrayops.plugin import Array
from xarrayops.plugin.arrays import shifts_and_axes
from xarrayops.plugin.generic import common
from xarrayops_backends.dask import _blocks
from xarrayops_backends.dask._blocks import compat, da
from xarrayops_backends.dask._windows import differences as _differences


def reshape(x: Array, /, shape: Any, *, copy: bool | None = None) -> Array:
    """Dask's reshape fails on empty arrays, and regroups some axes only through one dimension."""
    shape = (shape,) if isinstance(shape, int) else tuple(shape)
    if copy is False and shape != x.shape:
        raise ValueError(
            "a Dask array cannot be reshaped without a copy, because its chunks change. Instead: copy=None"
        )
    if x.size == 0:
        known = math.prod(s for s in shape if s != -1)
        shape = tuple(0 if s == -1 and known else s for s in shape)
        if -1 in shape or math.prod(shape):
            raise ValueError(f"cannot reshape an array of shape {x.shape} into {shape}")
        return da.empty(shape, dtype=x.dtype, meta=_blocks.meta(x, x.dtype, len(shape)))
    known = math.prod(s for s in shape if s != -1)
    if -1 in shape and (not known or x.size % known):
        raise ValueError(f"cannot reshape an array of shape {x.shape} into {shape}")
    x = _blocks.without_empty_chunks(x)
    try:
        result = da.reshape(x, shape)
    except NotImplementedError:
        result = da.reshape(da.reshape(x, (-1,)), shape)
    return result.copy() if copy else result


def concat(arrays: Any, /, *, axis: int | None = 0) -> Array:
    """With axis=None Dask's concat flattens by its own reshape, which has the limits described in `reshape`."""
    if axis is None:
        arrays, axis = [reshape(x, (-1,)) for x in arrays], 0
    return compat.concat(arrays, axis=axis)


def repeat(x: Array, repeats: Any, /, *, axis: int | None = None) -> Array:
    """Dask's repeat takes one integer only. If repeats is an array, the result's size is NaN until it is computed."""
    if axis is None:
        x, axis = reshape(x, (-1,)), 0
    axis = _blocks.axis_from_front(x, axis)
    is_one = isinstance(repeats, (int, np.integer))
    repeats = int(repeats) if is_one else da.broadcast_to(repeats, (x.shape[axis],))
    if x.shape[axis] == 0:
        return x.copy()
    if is_one:
        return da.repeat(x, repeats, axis)
    index = tuple(range(x.ndim))
    return _blocks.gather(
        np.repeat, index, x, index, repeats, (axis,), dtype=x.dtype, axis=axis, adjust_chunks={axis: lambda _: math.nan}
    )


def roll(x: Array, /, shift: int | tuple[int, ...], *, axis: int | tuple[int, ...] | None = None) -> Array:
    """Dask's roll requires one shift per axis, and fails on empty arrays if axis is None."""
    shifts, axes = shifts_and_axes(shift, axis)
    if x.size == 0:
        return x.copy()
    if axis is None:
        return reshape(da.roll(reshape(x, (-1,)), shifts, axis=(0,)), x.shape)
    return da.roll(x, shifts, axis=axes)


def diff(x: Array, /, *, axis: int = -1, n: int = 1, prepend: Any = None, append: Any = None) -> Array:
    """Dask's diff computes the arrays to prepend and append, instead of staying lazy."""
    axis, n = operator.index(axis), operator.index(n)
    if n and (prepend is not None or append is not None):
        x = da.concatenate([part for part in (prepend, x, append) if part is not None], axis=axis)
    axis = _blocks.axis_from_front(x, axis)
    if (n < 2 and x.dtype != np.bool_) or n < 1 or math.isnan(x.shape[axis]) or x.shape[axis] <= n:
        return da.diff(x, n=n, axis=axis)
    return _differences(x, n, axis)


def take(x: Array, indices: Array, /, *, axis: int | None = None) -> Array:
    """Dask's take declares a wrong shape for a single index, and warns for complex numbers."""
    if indices.dtype.kind not in "iub":
        raise TypeError(f"indices must have an integer dtype, but it is {indices.dtype}")
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


def searchsorted(x1: Array, x2: Any, /, *, side: str = "left", sorter: Array | None = None) -> Array:
    """Dask's searchsorted has no sorter and takes no scalars: https://github.com/dask/dask/pull/7696.

    For no elements it computes another shape.
    """
    common.require_vector("the sorted array", x1)
    if sorter is not None:
        x1 = take(x1, sorter)
    x2 = _blocks.without_empty_chunks(da.asarray(x2))
    if x2.size == 0:
        return da.zeros(x2.shape, dtype=np.intp, chunks=x2.chunks)
    positions = da.searchsorted(_blocks.without_empty_chunks(x1), x2 if x2.ndim else x2[None], side=side)
    return positions if x2.ndim else positions[0]
