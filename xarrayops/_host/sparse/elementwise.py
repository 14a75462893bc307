"""Elementwise sums and products of sparse matrices, and sums of rows and of columns."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from xarrayops._host import threads
from xarrayops._host.sparse.compressed import Compressed
from xarrayops._host.sparse.order import arithmetic, as_scipy, between, canonical, cast, row_ranges, rows_of
from xarrayops._host.sparse.products import spmm, stacked

Array = np.ndarray[Any, Any]

STEP = 1 << 16
"""The number of entries of one step."""


def add(a: Compressed, b: Compressed) -> Compressed:
    """``a + b``, canonical, without zeros."""
    return _combined(a, b, lambda x, y: as_scipy(x, x.data) + as_scipy(y, y.data))


def multiply(a: Compressed, b: Compressed) -> Compressed:
    """The elementwise product, canonical, with the entries that both operands have."""
    return _combined(a, b, _common)


def _common(x: Compressed, y: Compressed) -> Any:
    """SciPy finds the common entries of nonzero numbers; with the values, infinity times a missing entry gives NaN."""
    first, second = (np.arange(1, c.data.size + 1) for c in (x, y))
    ones = np.ones_like(first), np.ones_like(second)
    product = as_scipy(x, first).multiply(as_scipy(y, ones[1]))
    places = as_scipy(x, ones[0]).multiply(as_scipy(y, second)).data
    with np.errstate(all="ignore"):  # as in SciPy's loops
        product.data = x.data[product.data - 1] * y.data[places - 1]
    return product


def multiply_dense(c: Compressed, dense: Array) -> Compressed:
    """The elementwise product with a dense array that broadcasts to (rows, columns), for the entries of c only."""
    rows, whole = rows_of(c), np.broadcast_to(dense, (c.rows, c.columns))
    data = np.empty(c.data.size, np.result_type(c.data, dense))

    def work(starts: Iterable[int]) -> None:
        with np.errstate(all="ignore"):  # as in SciPy's loops
            for start in starts:
                here = slice(start, start + STEP)
                np.multiply(c.data[here], whole[rows[here], c.indices[here]], out=data[here])

    threads.run(work, range(0, data.size, STEP))
    return c._replace(indptr=c.indptr.copy(), indices=c.indices.copy(), data=data)


def sum_rows(c: Compressed) -> Array:
    """The sum of each row (rows,), in the dtype of NumPy's sums."""
    c = cast(c, c.data[:0].sum().dtype)
    folded = c._replace(indices=np.zeros_like(c.indices), columns=1)  # regardless of the number of columns
    return spmm(folded, np.ones(1, c.data.dtype))


def sum_columns(c: Compressed) -> Array:
    """The sum of each column (columns,), in the dtype of NumPy's sums."""
    c = cast(c, c.data[:0].sum().dtype)
    sums = np.zeros(c.columns, c.data.dtype)
    np.add.at(sums, c.indices, c.data)
    return sums


def _combined(a: Compressed, b: Compressed, combine: Callable[[Compressed, Compressed], Any]) -> Compressed:
    """Combine ranges of rows. For canonical operands SciPy needs one pass and returns a canonical result."""
    dtype, index = np.result_type(a.data, b.data), np.result_type(a.indices, b.indices)
    a, b = (cast(canonical(c), arithmetic(dtype)) for c in (a, b))

    def compute(begin: int, end: int) -> Any:
        return combine(between(a, begin, end), between(b, begin, end))

    parts = row_ranges(max(a, b, key=lambda c: c.data.size), 0)
    return stacked(compute, parts, (a.rows, a.columns), dtype, index)
