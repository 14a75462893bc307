"""Set operations on the distinct elements of arrays.

Elements are searched among all elements of the other array, whose size is known even while torch.compile traces.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any

from xarrayops._generic.extra import common
from xarrayops.plugin.arrays import Array


def _flat(xp: ModuleType, x1: Array, x2: Array) -> tuple[Array, Array]:
    return common.alike(xp, xp.reshape(x1, (-1,)), xp.reshape(x2, (-1,)))


def _is_in(xp: ModuleType, x: Array, other: Array) -> Array:
    """Whether each element is in the other array; NaN never is."""
    if other.shape[0] == 0:
        return xp.zeros(x.shape, dtype=xp.bool, device=common.device_of(x))
    if xp.isdtype(x.dtype, "bool"):
        x, other = xp.astype(x, xp.uint8), xp.astype(other, xp.uint8)
    ordered = xp.sort(other)
    place = xp.searchsorted(ordered, x)
    place = xp.minimum(place, xp.full_like(place, other.shape[0] - 1))
    return xp.equal(xp.take(ordered, place, axis=0), x)


def intersect1d(
    xp: ModuleType, x1: Array, x2: Array, /, *, assume_unique: bool = False, return_indices: bool = False
) -> Any:
    """The distinct elements of the first array that are in the second."""
    x1, x2 = _flat(xp, x1, x2)
    if not return_indices:
        found = xp.unique(x1)
        return found[_is_in(xp, found, x2)]
    (first, of_first), (second, of_second) = (xp.unique(x, return_index=True) for x in (x1, x2))
    in_second = _is_in(xp, first, x2)
    return first[in_second], of_first[in_second], of_second[_is_in(xp, second, x1)]


def union1d(xp: ModuleType, x1: Array, x2: Array, /) -> Array:
    """The distinct elements of both."""
    return xp.unique(xp.concat([xp.reshape(x1, (-1,)), xp.reshape(x2, (-1,))]))


def setdiff1d(xp: ModuleType, x1: Array, x2: Array, /, *, assume_unique: bool = False) -> Array:
    """The elements of the first array that are not in the second."""
    found = xp.reshape(x1, (-1,)) if assume_unique else xp.unique(xp.reshape(x1, (-1,)))
    return found[~_is_in(xp, *_flat(xp, found, x2))]


def setxor1d(xp: ModuleType, x1: Array, x2: Array, /, *, assume_unique: bool = False) -> Array:
    """Both differences, in order."""
    x1, x2 = _flat(xp, x1, x2)
    only = [each[~_is_in(xp, each, other)] for each, other in ((xp.unique(x1), x2), (xp.unique(x2), x1))]
    return xp.sort(xp.concat(only))
