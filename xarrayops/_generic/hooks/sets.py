"""Distinct elements or slices. The generic function sorts stably."""

from __future__ import annotations

import math
from functools import reduce
from types import ModuleType

from xarrayops.plugin.arrays import Array


def unique(
    xp: ModuleType, x: Array, /, *, return_index: bool, return_inverse: bool, return_counts: bool, axis: int | None
) -> Array | tuple[Array, ...]:
    """The sorted distinct elements of x, or its distinct slices along an axis, as in `xarrayops.unique`.

    One array, or a tuple of the values and the requested results: indices, inverse and counts.
    """
    # All results derive from the rank of each element or slice among the distinct ones.
    items = xp.reshape(x, (-1,)) if axis is None else xp.moveaxis(x, axis, 0)
    n = items.shape[0]
    ranks = _row_ranks(xp, xp.reshape(items, (n, math.prod(items.shape[1:]))), equal_nan=axis is None)
    order = xp.argsort(ranks, stable=True)
    starts = xp.nonzero(_differs(xp, xp.take(ranks, order, axis=0)))[0]
    indices = xp.take(order, starts, axis=0)
    found = [xp.take(items, indices, axis=0) if axis is None else xp.take(x, indices, axis=axis)]
    if return_index:
        found.append(indices)
    if return_inverse:
        found.append(xp.reshape(ranks, x.shape) if axis is None else ranks)
    if return_counts:
        end = xp.full((1,), n, dtype=starts.dtype, device=x.device)
        found.append(xp.diff(starts, append=end))
    return tuple(found) if len(found) > 1 else found[0]


def _row_ranks(xp: ModuleType, rows: Array, *, equal_nan: bool) -> Array:
    """The rank of each row in lexicographic order. Neighbouring columns are merged until one is left."""
    keys = _keys(xp, rows, equal_nan=equal_nan)
    while keys.shape[1] != 1:
        if keys.shape[1] % 2 or not keys.shape[1]:  # an additional column of zeros does not change the order
            column = xp.zeros((keys.shape[0], 1), dtype=keys.dtype, device=keys.device)
            keys = xp.concat([keys, column], axis=1)
        if keys.shape[1] > 1:
            keys = _ranks(xp, keys[:, ::2], keys[:, 1::2])
    return keys[:, 0]


def _keys(xp: ModuleType, rows: Array, *, equal_nan: bool) -> Array:
    """Integers that order the rows as NumPy does: complex numbers by real, then imaginary part, and NaNs last.

    Rows with NaN are distinct, unless ``equal_nan``; then all NaNs are equal.
    """
    if xp.isdtype(rows.dtype, ("bool", "integral")):
        return _ranks(xp, xp.astype(rows, xp.uint8) if xp.isdtype(rows.dtype, "bool") else rows)
    is_complex = xp.isdtype(rows.dtype, "complex floating")
    parts = (xp.real(rows), xp.imag(rows)) if is_complex else (rows,)
    unordered = xp.isnan(rows)
    hidden = [unordered if equal_nan else xp.isnan(part) for part in parts]
    numbers = [xp.where(h, xp.zeros_like(p), p) for h, p in zip(hidden, parts, strict=True)]
    keys = [*(xp.astype(h, xp.uint8) for h in hidden), *numbers]
    n, columns = rows.shape
    ranks = xp.reshape(xp.stack([_ranks(xp, key) for key in keys], axis=2), (n, columns * len(keys)))
    if equal_nan:
        return ranks
    number = xp.arange(1, n + 1, dtype=ranks.dtype, device=rows.device)
    distinct = xp.where(xp.any(unordered, axis=1), number, xp.zeros_like(number))
    return xp.concat([ranks, xp.reshape(distinct, (n, 1))], axis=1)


def _ranks(xp: ModuleType, *keys: Array) -> Array:
    """The rank of each element within its column, by the first key, then by the next."""
    order = xp.argsort(keys[-1], axis=0, stable=True)
    for key in keys[-2::-1]:
        chosen = xp.argsort(xp.take_along_axis(key, order, axis=0), axis=0, stable=True)
        order = xp.take_along_axis(order, chosen, axis=0)
    begins = reduce(xp.logical_or, (_differs(xp, xp.take_along_axis(key, order, axis=0)) for key in keys))
    ranks = xp.cumulative_sum(xp.astype(begins, order.dtype), axis=0) - 1
    return xp.take_along_axis(ranks, xp.argsort(order, axis=0, stable=True), axis=0)


def _differs(xp: ModuleType, ordered: Array) -> Array:
    """Whether each row differs from the one before it; the first one does."""
    first = xp.ones((min(ordered.shape[0], 1), *ordered.shape[1:]), dtype=xp.bool, device=ordered.device)
    if not ordered.shape[0]:
        return first
    return xp.concat([first, xp.not_equal(ordered[1:, ...], ordered[:-1, ...])], axis=0)
