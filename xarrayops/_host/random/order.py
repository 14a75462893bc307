"""Argsort of random integers in host memory, by a sort of values, which is faster than a sort of indices."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


def order_of_bits(bits: Array, loops: ModuleType | None) -> Array:
    """The indices that sort a vector of int64 stably.

    The last bits of each value are replaced by its index, and the values are sorted. Few random values have the same
    first bits; these are sorted again, by all of their bits. ``loops`` are the compiled loops, or None.
    """
    # This number of bits holds every index. The random bits that they replace only order values with equal upper bits.
    width = max(bits.size - 1, 1).bit_length()
    # Unsigned, with the sign bit inverted, so that negative values stay first.
    packed = (bits & -(1 << width)) ^ -(1 << 63)
    packed |= np.arange(bits.size)
    packed = _sorted(packed.view(np.uint64), loops)
    order = (packed & np.uint64((1 << width) - 1)).view(np.int64)
    packed >>= np.uint64(width)
    # Equal upper bits: these elements are in the order of their indices, which is not yet the order of their values.
    is_tied = packed[1:] == packed[:-1]
    if is_tied.any():
        starts = np.flatnonzero(is_tied)
        places = np.union1d(starts, starts + 1)
        # One stable sort of all ties: the upper bits keep each group in its place, and equal values stay in the order
        # of their indices.
        tied = order[places]
        order[places] = tied[np.argsort(bits[tied], kind="stable")]
    return order


def _sorted(keys: Array, loops: ModuleType | None) -> Array:
    """The sorted keys. Overwrites ``keys``."""
    if loops is None:
        keys.sort()
        return keys
    spare = np.empty_like(keys)
    # By the upper 24 bits, from the least digit on. The keys are random, so few then are out of place, and not far.
    for shift in (40, 48, 56):
        loops.sort_by_digit(keys, shift, spare)
        keys, spare = spare, keys
    loops.insertion_sort(keys)
    return keys
