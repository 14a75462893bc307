"""Selecting and searching elements."""

from __future__ import annotations

from typing import Any

import numpy as np

from xarrayops.plugin import Array
from xarrayops_backends.dask import _blocks
from xarrayops_backends.dask._blocks import compat, da


def take(x: Array, indices: Array, /, *, axis: int | None = None) -> Array:
    """Dask's take declares a wrong shape for a single index, and warns for complex numbers."""
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
    """Dask's searchsorted has no sorter and takes no scalars: https://github.com/dask/dask/pull/7696."""
    if sorter is not None:
        x1 = take(x1, sorter)
    x2 = _blocks.without_empty_chunks(da.asarray(x2))
    positions = da.searchsorted(_blocks.without_empty_chunks(x1), x2 if x2.ndim else x2[None], side=side)
    return positions if x2.ndim else positions[0]
