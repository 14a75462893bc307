"""A compressed sparse matrix as the host kernels see it."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

Array = np.ndarray[Any, Any]

INT32_MAX = 2**31 - 1


class Compressed(NamedTuple):
    """A matrix of so many rows and columns, compressed along its rows; with the two in turn, along its columns.

    ``indptr`` (rows + 1,) and ``indices`` (nnz,) have one dtype, int32 or int64; row i holds the entries from
    ``indptr[i]`` up to ``indptr[i + 1]``.
    """

    indptr: Array
    indices: Array
    data: Array
    rows: int
    columns: int


def index_dtype(*extents: int) -> np.dtype[Any]:
    """The dtype of indices that all these numbers, extents and counts of entries, fit into: int32 as long as it can."""
    return np.dtype(np.int32 if max(extents, default=0) <= INT32_MAX else np.int64)
