"""The loops that sort entries by digits of their indices, from one array into another. The sort is stable."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np

Array = np.ndarray[Any, Any]

compiled = numba.njit(nogil=True, cache=True)

# The bits of a digit: the second-level cache can hold the ends of that many output streams.
DIGIT = 11


@compiled
def count(keys: Array, shift: int, mask: int, counts: Array) -> None:
    """Add the number of occurrences of each digit to ``counts``."""
    for k in range(keys.size):
        counts[(keys[k] >> shift) & mask] += 1


@compiled
def scatter(
    keys: Array,
    shift: int,
    mask: int,
    places: Array,
    row: Array,
    column: Array,
    bits: Array,
    to_row: Array,
    to_column: Array,
    to_bits: Array,
) -> None:
    """Move each entry to the next position of its digit; ``places`` holds these positions and is overwritten."""
    for k in range(keys.size):
        digit = (keys[k] >> shift) & mask
        place = places[digit]
        places[digit] = place + 1
        to_row[place], to_column[place], to_bits[place] = row[k], column[k], bits[k]


@compiled
def place(
    row: Array,
    column: Array,
    bits: Array,
    spare: tuple[Array, Array, Array],
    columns: int,
    first: int,
    start: int,
    indptr: Array,
    to_column: Array,
    to_bits: Array,
) -> int:
    """Compress the entries of the rows from ``first`` on, and count the duplicates.

    The entries are first sorted by column, digit by digit, between their arrays and ``spare``; with ``columns=1`` they
    are not. ``indptr`` is the part for these rows, ``start`` the position of their first entry.
    """
    to = (spare[0], spare[1], spare[2])
    shift, size = 0, row.size
    # From the least digit upwards. Each pass is stable, so earlier digits decide where later ones are equal.
    while (columns - 1) >> shift:
        # Counts shifted by one: their cumulative sum is where each digit begins.
        places = np.zeros((1 << DIGIT) + 1, np.int64)
        count(column, shift, (1 << DIGIT) - 1, places[1:])
        scatter(column, shift, (1 << DIGIT) - 1, np.cumsum(places), row, column, bits, to[0], to[1], to[2])
        # The two sets of arrays exchange their roles; no pass copies back.
        row, column, bits, to = to[0][:size], to[1][:size], to[2][:size], (row, column, bits)
        shift += DIGIT
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
