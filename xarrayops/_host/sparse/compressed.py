"""The compressed sparse matrix of the host kernels."""

from __future__ import annotations

from typing import Any

import numpy as np

from xarrayops.plugin.arrays import Record

Array = np.ndarray[Any, Any]

INT32_MAX = 2**31 - 1


class Compressed(Record):
    """A matrix compressed along its rows. With rows and columns swapped, it describes one compressed along its columns.

    ``indptr`` (rows + 1,) and ``indices`` (nnz,) have the same dtype, int32 or int64; row i has the entries from
    ``indptr[i]`` up to ``indptr[i + 1]``.
    """

    indptr: Array
    indices: Array
    data: Array
    rows: int
    columns: int


def index_dtype(*extents: int) -> np.dtype[Any]:
    """The narrowest index dtype, int32 or int64, that can hold these extents and numbers of entries."""
    return np.dtype(np.int32 if max(extents, default=0) <= INT32_MAX else np.int64)
