"""Functions that reshape, join and move elements."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from xarrayops.plugin import Array
from xarrayops_backends.dask import _blocks
from xarrayops_backends.dask._blocks import compat, da


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
    if x.shape[axis] == 0:
        return x.copy()
    if isinstance(repeats, (int, np.integer)):
        return da.repeat(x, int(repeats), axis)
    index = tuple(range(x.ndim))
    repeats = da.broadcast_to(repeats, (x.shape[axis],))
    return _blocks.gather(
        np.repeat, index, x, index, repeats, (axis,), dtype=x.dtype, axis=axis, adjust_chunks={axis: lambda _: math.nan}
    )


def roll(x: Array, /, shift: int | tuple[int, ...], *, axis: int | tuple[int, ...] | None = None) -> Array:
    """Dask's roll requires one shift per axis, and fails on empty arrays if axis is None."""
    if x.size == 0:
        return x.copy()
    if isinstance(axis, tuple) and isinstance(shift, int):
        shift = (shift,) * len(axis)
    if axis is None:
        return reshape(da.roll(reshape(x, (-1,)), shift, axis=0), x.shape)
    return da.roll(x, shift, axis=axis)


def diff(
    x: Array, /, *, axis: int = -1, n: int = 1, prepend: Array | None = None, append: Array | None = None
) -> Array:
    """Dask's diff computes the arrays to prepend and append, instead of staying lazy."""
    if n and (prepend is not None or append is not None):
        x = da.concatenate([part for part in (prepend, x, append) if part is not None], axis=axis)
    return da.diff(x, n=n, axis=axis)
