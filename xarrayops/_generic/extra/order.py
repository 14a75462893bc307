"""Partial and lexicographic order, by complete sorts."""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType
from typing import Any

from xarrayops._generic.extra import common
from xarrayops.plugin.arrays import Array


def _checked(xp: ModuleType, x: Array, kth: Any, axis: int | None) -> tuple[Array, int]:
    x, axis = common.one_axis(xp, x, axis)
    for k in kth if isinstance(kth, (tuple, list)) else (kth,):
        if x.shape[axis] and not -x.shape[axis] <= common.whole("kth", k) < x.shape[axis]:
            raise ValueError(f"kth={k} is out of bounds for an axis of length {x.shape[axis]}")
    return x, axis


def partition(xp: ModuleType, x: Array, /, kth: Any, *, axis: int | None = -1) -> Array:
    """A sorted array is a partition at every element."""
    x, axis = _checked(xp, x, kth, axis)
    return xp.sort(x, axis=axis)


def argpartition(xp: ModuleType, x: Array, /, kth: Any, *, axis: int | None = -1) -> Array:
    """As `partition`."""
    x, axis = _checked(xp, x, kth, axis)
    return xp.argsort(x, axis=axis)


def require_count(x: Array, k: int, axis: int) -> int:
    """The non-negative axis; ValueError unless 0 <= k <= its length."""
    axis = common.normal_axis(axis, x.ndim)
    if not 0 <= common.whole("k", k) <= x.shape[axis]:
        why = "negative" if k < 0 else f"larger than the axis, which has {x.shape[axis]} elements"
        raise ValueError(f"k={k} is {why}")
    return axis


def topk(xp: ModuleType, x: Array, /, k: int, *, axis: int = -1, largest: bool = True) -> tuple[Array, Array]:
    """The first elements of a sort. NaNs sort to the end, so the ascending order is reversed for the greatest."""
    axis = require_count(x, k, axis)
    order = xp.argsort(x, axis=axis)
    n = x.shape[axis]
    order = xp.flip(common.part(order, axis, n - k, n), axis=axis) if largest else common.part(order, axis, 0, k)
    return xp.take_along_axis(x, order, axis=axis), order


def lexsort(xp: ModuleType, keys: Sequence[Array], /, *, axis: int = -1) -> Array:
    """Stable sorts, from the last to the first key in priority."""
    if len({tuple(key.shape) for key in keys}) != 1:
        raise ValueError(f"the keys must have one shape, but they have {[tuple(key.shape) for key in keys]}")
    axis = common.normal_axis(axis, keys[0].ndim)
    keys = [xp.astype(key, xp.uint8) if xp.isdtype(key.dtype, "bool") else key for key in keys]
    order = xp.argsort(keys[0], axis=axis, stable=True)
    for key in keys[1:]:
        chosen = xp.argsort(xp.take_along_axis(key, order, axis=axis), axis=axis, stable=True)
        order = xp.take_along_axis(order, chosen, axis=axis)
    return order
