"""Sets: the distinct values of each chunk are merged in a tree. The sizes of results are NaN until computed.

Dask's `unique` merges NaNs, which are distinct values in the standard, and fails on empty arrays.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import accumulate, product
from typing import Any, NamedTuple

import numpy as np
from dask.delayed import delayed

from xarrayops.plugin import Array
from xarrayops_backends.dask import _blocks
from xarrayops_backends.dask._blocks import da
from xarrayops_backends.numpy import _standard as _numpy


class _UniqueAll(NamedTuple):
    values: Array
    indices: Array
    inverse_indices: Array
    counts: Array


class _UniqueCounts(NamedTuple):
    values: Array
    counts: Array


class _UniqueInverse(NamedTuple):
    values: Array
    inverse_indices: Array


_FAN_IN = 8
_Found = tuple[Any, Any, Any]
"""Sorted distinct values, the flat index of each first occurrence in the whole array (C order), and the counts."""


def unique_all(x: Array, /) -> tuple[Array, Array, Array, Array]:
    """See the docstring of this module."""
    values, indices, counts = _unique(x)
    return _UniqueAll(values, indices, _inverse(x, values, indices), counts)


def unique_counts(x: Array, /) -> tuple[Array, Array]:
    """See the docstring of this module."""
    values, _, counts = _unique(x)
    return _UniqueCounts(values, counts)


def unique_inverse(x: Array, /) -> tuple[Array, Array]:
    """See the docstring of this module."""
    values, indices, _ = _unique(x)
    return _UniqueInverse(values, _inverse(x, values, indices))


def unique_values(x: Array, /) -> Array:
    """See the docstring of this module."""
    return _unique(x)[0]


def unique(
    x: Array, /, *, return_index: bool, return_inverse: bool, return_counts: bool, axis: int | None
) -> Array | tuple[Array, ...]:
    """All NaNs are one value. With an axis, NumPy's function on the whole array."""
    if axis is None:
        values, indices, counts = _unique(x, equal_nan=True)
        inverse = _inverse(x, values, indices) if return_inverse else None
    else:
        values, indices, inverse, counts = _unique_slices(x, _blocks.axis_from_front(x, axis))
    asked = ((indices, return_index), (inverse, return_inverse), (counts, return_counts))
    found = (values, *(each for each, is_asked in asked if is_asked))
    return found if len(found) > 1 else values


def _unique_slices(x: Array, axis: int) -> tuple[Array, Array, Array, Array]:
    whole = x.rechunk(-1).to_delayed(optimize_graph=False).ravel()[0]
    found = delayed(np.unique, pure=True)(whole, True, True, True, axis)
    shape = (*x.shape[:axis], np.nan, *x.shape[axis + 1 :])
    values = da.from_delayed(found[0], shape, meta=_blocks.meta(x, x.dtype, x.ndim))
    indices, inverse, counts = (
        da.from_delayed(found[i], (size,), meta=_blocks.meta(x, np.intp, 1))
        for i, size in enumerate((np.nan, x.shape[axis], np.nan), 1)
    )
    return values, indices, inverse, counts


def _unique(x: Array, *, equal_nan: bool = False) -> tuple[Array, Array, Array]:
    x = x if x.ndim else x[None]
    find, merge = (delayed(partial(f, equal_nan=equal_nan), pure=True) for f in (_find, _merge))
    starts = product(*(tuple(accumulate(c, initial=0))[:-1] for c in x.chunks))
    blocks = x.to_delayed(optimize_graph=False).ravel()
    parts = [find(block, start, x.shape) for block, start in zip(blocks, starts, strict=True)]
    while len(parts) > 1:
        parts = [merge(parts[i : i + _FAN_IN]) for i in range(0, len(parts), _FAN_IN)]
    dtypes = (x.dtype, np.intp, np.intp)
    values, indices, counts = (
        da.from_delayed(parts[0][i], (np.nan,), meta=_blocks.meta(x, dtype, 1)) for i, dtype in enumerate(dtypes)
    )
    return values, indices, counts


def _distinct(x: Any, *, equal_nan: bool) -> Any:
    """The sorted distinct values of NumPy's array, the index of each, the inverse and the counts."""
    if equal_nan:
        return _numpy.unique(x, return_index=True, return_inverse=True, return_counts=True, axis=None)
    return np.unique(x, True, True, True, equal_nan=False)


def _find(block: Any, start: tuple[int, ...], shape: tuple[int, ...], *, equal_nan: bool) -> _Found:
    """The distinct values of one chunk; ``start`` is the index of its first element in the array of that shape."""
    values, first, _, counts = _distinct(block, equal_nan=equal_nan)
    indices = np.zeros_like(first)
    for position, offset, extent in zip(np.unravel_index(first, block.shape), start, shape, strict=True):
        indices = indices * extent + position + offset
    return values, indices, counts


def _merge(parts: Sequence[_Found], *, equal_nan: bool) -> _Found:
    """Merge the distinct values of several chunks; sorting by flat index first keeps each first occurrence."""
    values, indices, counts = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    order = np.argsort(indices)
    values, indices, counts = values[order], indices[order], counts[order]
    merged, first, inverse, _ = _distinct(values, equal_nan=equal_nan)
    totals = np.zeros_like(counts, shape=merged.shape)
    np.add.at(totals, inverse, counts)
    return merged, indices[first], totals


def _inverse(x: Array, values: Array, indices: Array) -> Array:
    y = x if x.ndim else x[None]
    axes = tuple(range(y.ndim))
    positions = _blocks.gather(
        _look_up, axes, y, axes, _blocks.flat_positions(y), axes, values, (y.ndim,), indices, (y.ndim,), dtype=np.intp
    )
    return positions if x.ndim else positions[0]


def _look_up(x: Any, flat_indices: Any, values: Any, indices: Any) -> Any:
    """The index of each element among the values; a NaN can be recognised by its flat index only."""
    positions = np.searchsorted(values, x)
    unequal = x != x
    if unequal.any():
        nans = np.flatnonzero(values != values)
        nans = nans[np.argsort(indices[nans])]
        positions[unequal] = nans[np.searchsorted(indices[nans], flat_indices[unequal], side="right") - 1]
    return positions


def isin(x1: Any, x2: Any, /, *, invert: bool = False) -> Array:
    """Dask's isin compares every chunk of x1 with every chunk of x2."""
    x1, x2 = da.asarray(x1), da.asarray(x2)
    here, there = tuple(range(x1.ndim)), tuple(range(x1.ndim, x1.ndim + x2.ndim))
    return _blocks.gather(np.isin, here, x1, here, x2, there, dtype=np.bool_, invert=invert)
