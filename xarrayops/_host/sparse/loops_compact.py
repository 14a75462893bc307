"""The compiled loop of compaction: the positions of set bits, which NumPy finds item by item."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np

Array = np.ndarray[Any, Any]

# A de Bruijn sequence: shifted left by k bits, its upper six bits determine k.
FACTOR = np.uint64(0x03F79D71B4CB0A89)
SHIFT = np.uint64(58)
# A typed one: numba would promote uint64 and a signed 1 to float64.
ONE = np.uint64(1)
NUMBERS = np.zeros(64, np.intp)
NUMBERS[(FACTOR << np.arange(64, dtype=np.uint64)) >> SHIFT] = np.arange(64)


@numba.njit(nogil=True, cache=True)
def set_bits(words: Array, count: int) -> Array:
    """The positions of the ``count`` bits that are set; the lowest bit of the first word has position 0.

    Each step takes the lowest remaining bit of a word, so bits that are not set cost no step.
    """
    # No bound is checked in the loop: the caller has counted the bits of these very words.
    numbers, k = np.empty(count, np.intp), 0
    for i in range(words.size):
        word = words[i]
        while word:
            # word & -word is the lowest bit alone, 2**b. Times the sequence it is a shift by b, and the upper six bits
            # look b up.
            numbers[k] = 64 * i + NUMBERS[((word & -word) * FACTOR) >> SHIFT]
            # Clears the lowest bit.
            word &= word - ONE
            k += 1
    return numbers
