"""Sets: the distinct values of each chunk are merged in a tree. The sizes of results are NaN until computed.

Dask's `unique` merges NaNs, which are distinct values in the standard, and fails on empty arrays.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, product
from typing import Any, NamedTuple

import numpy as np
from dask.delayed import delayed

from xarrayops.plugin import Array
from xarrayops_backends.dask import _blocks
from xarrayops_backends.dask._blocks import da


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


def _unique(x: Array) -> tuple[Array, Array, Array]:
    x = x if x.ndim else x[None]
    find, merge = delayed(_find, pure=True), delayed(_merge, pure=True)
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


def _find(block: Any, start: tuple[int, ...], shape: tuple[int, ...]) -> _Found:
    """The distinct values of one chunk; ``start`` is the index of its first element in the array of that shape."""
    values, first, counts = np.unique(block, return_index=True, return_counts=True, equal_nan=False)
    indices = np.zeros_like(first)
    for position, offset, extent in zip(np.unravel_index(first, block.shape), start, shape, strict=True):
        indices = indices * extent + position + offset
    return values, indices, counts


def _merge(parts: Sequence[_Found]) -> _Found:
    """Merge the distinct values of several chunks; sorting by flat index first keeps each first occurrence."""
    values, indices, counts = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    order = np.argsort(indices)
    values, indices, counts = values[order], indices[order], counts[order]
    merged, first, inverse = np.unique(values, return_index=True, return_inverse=True, equal_nan=False)
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
        positions[unequal] = nans[np.searchsorted(indices[nans], flat_indices[unequal])]
    return positions


def isin(x1: Any, x2: Any, /, *, invert: bool = False) -> Array:
    """Dask's isin compares every chunk of x1 with every chunk of x2."""
    x1, x2 = da.asarray(x1), da.asarray(x2)
    here, there = tuple(range(x1.ndim)), tuple(range(x1.ndim, x1.ndim + x2.ndim))
    return _blocks.gather(np.isin, here, x1, here, x2, there, dtype=np.bool_, invert=invert)
