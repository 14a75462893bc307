"""Selection of rows and columns, and concatenation, of canonical compressed matrices. The values are moved as bits."""

from __future__ import annotations

from typing import Any

import numpy as np

from xarrayops._host.sparse.compressed import Compressed, index_dtype
from xarrayops._host.sparse.order import as_scipy, bits, canonicalized

Array = np.ndarray[Any, Any]


def take(c: Compressed, places: Array, axis: int) -> Compressed:
    """The rows (axis 0) or columns (axis 1) at these places, which are within bounds and may be repeated."""
    lengths = np.diff(c.indptr) if axis == 0 else np.bincount(c.indices, minlength=c.columns)
    wide = np.result_type(c.indices, index_dtype(int(lengths.take(places).sum(dtype=np.int64)), places.size))
    source = c._replace(indptr=c.indptr.astype(wide, copy=False), indices=c.indices.astype(wide, copy=False))
    found = as_scipy(source, bits(c.data))
    made = found[places] if axis == 0 else found[:, places]
    selected = Compressed(made.indptr, made.indices, made.data.view(c.data.dtype), *made.shape)
    return canonicalized(selected) if axis else selected


def concat(matrices: list[Compressed], axis: int) -> Compressed:
    """The matrices one below the other (axis 0) or side by side (axis 1), in the dtype of NumPy's promotion."""
    from scipy.sparse import hstack, vstack

    dtype = np.result_type(*(c.data for c in matrices))
    moved = [as_scipy(c, bits(c.data.astype(dtype, copy=False))) for c in matrices]
    made = (hstack if axis else vstack)(moved, format="csr")
    return Compressed(made.indptr, made.indices, made.data.view(dtype), *made.shape)


def diagonal(c: Compressed) -> Array:
    """The diagonal, of the dtype of the values."""
    return as_scipy(c, bits(c.data)).diagonal().view(c.data.dtype)
