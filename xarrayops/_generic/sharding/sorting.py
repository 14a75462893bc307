"""A sort of blocks along an axis, by merges of two blocks in the order of Batcher's network (Knuth, 5.2.2M)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import ModuleType

from xarrayops._generic.extra import common
from xarrayops.plugin.arrays import Array


def network(count: int) -> Iterator[list[int]]:
    """The partner of each block in each step; a block without one is its own. The first of two keeps the least."""
    p = top = 1 << max(count - 1, 0).bit_length() >> 1
    while p:
        q, r, d = top, 0, p
        while d > 0:
            partners = [*range(count)]
            for i in range(count - d):
                if i & p == r:
                    partners[i], partners[i + d] = i + d, i
            yield partners
            q, r, d = q >> 1, p, q - p
        p >>= 1


def merged(
    xp: ModuleType, sort: Callable[[Array], Array], block: Array, other: Array, axis: int, *, is_first: bool
) -> Array:
    """The elements that a block keeps when it meets its partner.

    The last block may be shorter than the others: as if it ended with the greatest elements, it keeps these.
    """
    both = sort(xp.concat([block, other], axis=axis))
    n, whole = block.shape[axis], both.shape[axis]
    return common.part(both, axis, 0, n) if is_first else common.part(both, axis, whole - n, whole)
