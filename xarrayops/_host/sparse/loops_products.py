"""The loops of products with dense arrays; the compiler vectorizes them over the columns."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np

Array = np.ndarray[Any, Any]

# Fused multiply-add is allowed, but nothing that changes the results for NaN and infinity, and no reordering of sums.
contracted = numba.njit(nogil=True, cache=True, fastmath={"contract"})


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
