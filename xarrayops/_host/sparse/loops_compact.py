"""The compiled loop of compaction: the positions of set bits, which NumPy finds item by item."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np

Array = np.ndarray[Any, Any]

FACTOR = np.uint64(0x03F79D71B4CB0A89)
"""A de Bruijn sequence: shifted left by k bits, its upper six bits determine k."""
SHIFT = np.uint64(58)
ONE = np.uint64(1)
NUMBERS = np.zeros(64, np.intp)
NUMBERS[(FACTOR << np.arange(64, dtype=np.uint64)) >> SHIFT] = np.arange(64)


@numba.njit(nogil=True, cache=True)
def set_bits(words: Array, count: int) -> Array:
    """The positions of the ``count`` bits that are set; the lowest bit of the first word has position 0.

    Each step takes the lowest remaining bit of a word, so bits that are not set cost no step.
    """
    numbers, k = np.empty(count, np.intp), 0
    for i in range(words.size):
        word = words[i]
        while word:
            numbers[k] = 64 * i + NUMBERS[((word & -word) * FACTOR) >> SHIFT]
            word &= word - ONE
            k += 1
    return numbers
