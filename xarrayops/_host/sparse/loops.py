"""The loops that numba compiles: positions of set bits, sorting by digits, products with dense arrays.

NumPy finds the positions of set bits item by item. Entries are sorted by digits of their indices, from one array into
another; the sort is stable. The compiler vectorizes products with dense arrays over the columns.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np

Array = np.ndarray[Any, Any]
# The row, the column and the bits of each entry.
Entries = tuple[Array, Array, Array]

compiled = numba.njit(nogil=True, cache=True)
# Fused multiply-add is allowed, but nothing that changes the results for NaN and infinity, and no reordering of sums.
contracted = numba.njit(nogil=True, cache=True, fastmath={"contract"})
# A de Bruijn sequence: shifted left by k bits, its upper six bits determine k.
FACTOR = np.uint64(0x03F79D71B4CB0A89)
SHIFT = np.uint64(58)
# A typed one: numba would promote uint64 and a signed 1 to float64.
ONE = np.uint64(1)
NUMBERS = np.zeros(64, np.intp)
NUMBERS[(FACTOR << np.arange(64, dtype=np.uint64)) >> SHIFT] = np.arange(64)
# The bits of a digit: the second-level cache can hold the ends of that many output streams.
DIGIT = 11


@compiled
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


@compiled
def count(keys: Array, shift: int, mask: int, counts: Array) -> None:
    """Add the number of occurrences of each digit to ``counts``."""
    for k in range(keys.size):
        counts[(keys[k] >> shift) & mask] += 1


@compiled
def scatter(keys: Array, shift: int, mask: int, places: Array, entries: Entries, to: Entries) -> None:
    """Move each entry to the next position of its digit; ``places`` holds these positions and is overwritten."""
    row, column, bits = entries
    to_row, to_column, to_bits = to
    for k in range(keys.size):
        digit = (keys[k] >> shift) & mask
        place = places[digit]
        places[digit] = place + 1
        to_row[place], to_column[place], to_bits[place] = row[k], column[k], bits[k]


@compiled
def place(
    entries: Entries, spare: Entries, columns: int, first: int, start: int, indptr: Array, to: tuple[Array, Array]
) -> int:
    """Compress the entries of the rows from ``first`` on, and count the duplicates.

    The entries are first sorted by column, digit by digit, between their arrays and ``spare``; with ``columns=1`` they
    are not. ``indptr`` is the part for these rows, ``start`` the position of their first entry.
    """
    shift, size = 0, entries[0].size
    # From the least digit upwards. Each pass is stable, so earlier digits decide where later ones are equal.
    while (columns - 1) >> shift:
        # Counts shifted by one: their cumulative sum is where each digit begins.
        places = np.zeros((1 << DIGIT) + 1, np.int64)
        count(entries[1], shift, (1 << DIGIT) - 1, places[1:])
        scatter(entries[1], shift, (1 << DIGIT) - 1, np.cumsum(places), entries, spare)
        # The two sets of arrays exchange their roles; no pass copies back.
        entries, spare = (spare[0][:size], spare[1][:size], spare[2][:size]), entries
        shift += DIGIT
    (row, column, bits), (to_column, to_bits) = entries, to
    # A last counting sort, by row, directly into the result. It is stable, so columns stay sorted within each row.
    places = np.zeros(indptr.size + 1, np.int64)
    for k in range(size):
        places[row[k] - first + 1] += 1
    for i in range(indptr.size):
        places[i + 1] += places[i]
        indptr[i] = start + places[i]
    repeated = 0
    for k in range(size):
        i = row[k] - first
        p = places[i]
        places[i] = p + 1
        to_column[p], to_bits[p] = column[k], bits[k]
        # Equal columns of a row are neighbours if the entries were sorted by column: compare with the one before,
        # unless this is the first of its row.
        repeated += start + p > indptr[i] and to_column[p - 1] == column[k]
    return repeated


@contracted
def spmm(indptr: Array, indices: Array, data: Array, dense: Array, out: Array) -> None:
    """Set ``out`` to the product of the rows of ``indptr`` with ``dense``.

    Four entries are added at a time, so that each row of the result is read and written a fourth as often.
    """
    width = dense.shape[1]
    for i in range(indptr.size - 1):
        start, stop = indptr[i], indptr[i + 1]
        # The last up to three entries of a row are added one at a time.
        fours = start + (stop - start) // 4 * 4
        for q in range(width):
            # Here and not before the loops, so that the row is in the cache when the first sum reads it.
            out[i, q] = 0
        for k in range(start, fours, 4):
            j0, j1, j2, j3 = indices[k], indices[k + 1], indices[k + 2], indices[k + 3]
            x0, x1, x2, x3 = data[k], data[k + 1], data[k + 2], data[k + 3]
            for q in range(width):
                # From left to right, as one entry at a time would: the result does not depend on the grouping by four.
                sum = out[i, q] + x0 * dense[j0, q] + x1 * dense[j1, q]
                out[i, q] = sum + x2 * dense[j2, q] + x3 * dense[j3, q]
        for k in range(fours, stop):
            j, x = indices[k], data[k]
            for q in range(width):
                out[i, q] += x * dense[j, q]
