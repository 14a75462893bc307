"""Selection of rows and columns, and concatenation, of canonical compressed matrices. The values are moved as bits."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import accumulate
from typing import Any

import numpy as np

from xarrayops._host import threads
from xarrayops._host.sparse.check import are_canonical
from xarrayops._host.sparse.compressed import Compressed, index_dtype
from xarrayops._host.sparse.order import SPREAD_ENTRIES, as_scipy, bits, canonicalized, from_coo, ranges, to_dense
from xarrayops.plugin.sparse import Parts

Array = np.ndarray[Any, Any]


class NotCanonical(ValueError):
    """The pointers or the indices of a selected row are not canonical."""


def take_across(c: Compressed, places: Array) -> Compressed:
    """The columns at these positions, which are within bounds and may be repeated."""
    # The number of entries of the result, before it is made: repeated columns can exceed int32 although c does not.
    lengths = np.bincount(c.indices, minlength=c.columns)
    wide = np.result_type(c.indices, index_dtype(int(lengths.take(places).sum(dtype=np.int64)), places.size))
    source = c._replace(indptr=c.indptr.astype(wide, copy=False), indices=c.indices.astype(wide, copy=False))
    made = as_scipy(source, bits(c.data))[:, places]
    return canonicalized(Compressed(made.indptr, made.indices, made.data.view(c.data.dtype), *made.shape))


def take_lines(c: Compressed, places: Array) -> Compressed:
    """The rows at these positions, which are within bounds and may be repeated.

    No other row is read, so the time depends only on the size of the result. A row that is not canonical raises
    `NotCanonical`.
    """
    # SciPy's loop behind s[rows]. Called directly, it writes to parts of one result, so threads can share the rows.
    from scipy.sparse._sparsetools import csr_row_index

    begins, ends = c.indptr.take(places), c.indptr[1:].take(places)
    lengths = ends - begins
    # The loop does not check pointers, so those that it reads are checked before.
    if places.size and (lengths.min() < 0 or begins.min() < 0 or ends.max() > len(c.indices)):
        raise NotCanonical
    count = int(lengths.sum(dtype=np.int64))
    wide = np.result_type(c.indices, index_dtype(count, places.size))
    indptr, indices, data = np.zeros(places.size + 1, wide), np.empty(count, wide), np.empty(count, c.data.dtype)
    np.cumsum(lengths, out=indptr[1:])
    pointers, columns = c.indptr.astype(wide, copy=False), c.indices.astype(wide, copy=False)
    values, made, lines = bits(c.data), bits(data), places.astype(wide, copy=False)

    def copy(some: Iterable[tuple[int, int]]) -> None:
        for first, last in some:
            # Disjoint parts of the result for each range of rows.
            part = slice(indptr[first], indptr[last])
            csr_row_index(last - first, lines[first:last], pointers, columns, values, indices[part], made[part])

    pieces = threads.thread_count() if count >= SPREAD_ENTRIES else 1
    threads.run(copy, ranges(lambda line: int(indptr[line]), places.size, pieces))
    # After the copy, because then the indices of the result are cached, and no others need to be checked.
    if not are_canonical(indptr, indices, c.columns):
        raise NotCanonical
    return Compressed(indptr, indices, data, places.size, c.columns)


def concat(matrices: list[Compressed], axis: int) -> Compressed:
    """The matrices one below the other (axis 0) or side by side (axis 1), in the dtype of NumPy's promotion."""
    from scipy.sparse import hstack, vstack

    dtype = np.result_type(*(c.data for c in matrices))
    moved = [as_scipy(c, bits(c.data.astype(dtype, copy=False))) for c in matrices]
    made = (hstack if axis else vstack)(moved, format="csr")
    return Compressed(made.indptr, made.indices, made.data.view(dtype), *made.shape)


def concat_coo(matrices: list[Parts], axis: int) -> Parts:
    """The same for coo matrices, from their entries alone. Along axis 1 these are not sorted."""
    ends = list(accumulate((p.shape[axis] for p in matrices), initial=0))
    shape = (ends[-1], matrices[0].shape[1]) if axis == 0 else (matrices[0].shape[0], ends[-1])
    if ends[-1] > np.iinfo(np.int64).max:
        raise OverflowError(f"axis {axis} of the result has {ends[-1]} lines, more than an index of int64 can name")
    index = index_dtype(*shape)
    moved = [[x.astype(index, copy=False) for x in p.coords] for p in matrices]
    for lines, end in zip(moved, ends, strict=False):
        lines[axis] = lines[axis] + index.type(end)
    row, column = (np.concatenate(each) for each in zip(*moved, strict=True))
    return Parts("coo", shape, np.concatenate([p.data for p in matrices]), coords=(row, column))


def diagonal_of_coo(p: Parts) -> Array:
    """The diagonal of a coo matrix, in the dtype of the values."""
    row, column = p.coords
    here = row == column
    c = from_coo(np.zeros_like(row[here]), column[here], p.data[here], 1, min(p.shape))
    return to_dense(c)[0]


def diagonal(c: Compressed) -> Array:
    """The diagonal, in the dtype of the values."""
    return as_scipy(c, bits(c.data)).diagonal().view(c.data.dtype)
