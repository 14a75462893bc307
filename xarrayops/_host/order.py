"""The order of random integers in host memory, by a sort of values, which is quicker than a sort of indices."""

from __future__ import annotations

from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


def order_of_bits(bits: Array) -> Array:
    """The indices that sort a vector of int64 stably.

    The last bits of each value are replaced by its index, and the values are sorted. Few random values have the same
    first bits; these are sorted again, by all of their bits.
    """
    width = max(bits.size - 1, 1).bit_length()
    packed = bits & -(1 << width)
    packed |= np.arange(bits.size)
    packed.sort()
    order = packed & ((1 << width) - 1)
    packed >>= width
    is_tied = packed[1:] == packed[:-1]
    if is_tied.any():
        starts = np.flatnonzero(is_tied)
        places = np.union1d(starts, starts + 1)
        tied = order[places]
        order[places] = tied[np.argsort(bits[tied], kind="stable")]
    return order
