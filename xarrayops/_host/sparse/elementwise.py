"""Elementwise sums and products of sparse matrices, and sums of rows and of columns."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from xarrayops._host import threads
from xarrayops._host.sparse.compressed import Compressed
from xarrayops._host.sparse.order import arithmetic, as_scipy, between, cast, rounded, row_ranges, rows_of
from xarrayops._host.sparse.products import spmm, stacked

Array = np.ndarray[Any, Any]

STEP = 1 << 16
"""The number of entries of one step."""


def add(a: Compressed, b: Compressed) -> Compressed:
    """``a + b`` for canonical operands: canonical, without zeros."""
    return _combined(a, b, lambda x, y: as_scipy(x, x.data) + as_scipy(y, y.data))


def multiply(a: Compressed, b: Compressed) -> Compressed:
    """The elementwise product of canonical operands: canonical, with entries that both operands have."""
    if not _have_equal_indices(a, b):
        return _combined(a, b, _product)
    dtype = np.result_type(a.data, b.data)
    with np.errstate(all="ignore"):  # as in SciPy's loops
        data = rounded(np.multiply(a.data, b.data, dtype=arithmetic(dtype)), dtype)
    return a._replace(indptr=a.indptr.copy(), indices=a.indices.copy(), data=data)


def maximum(a: Compressed, b: Compressed) -> Compressed:
    """The larger values of canonical operands: canonical, with the entries of both."""
    return _combined(a, b, _larger)


def _have_equal_indices(a: Compressed, b: Compressed) -> bool:
    return a is b or (np.array_equal(a.indptr, b.indptr) and np.array_equal(a.indices, b.indices))


def _product(x: Compressed, y: Compressed) -> Any:
    """SciPy's product, except for infinity and NaN, which SciPy would also multiply by missing entries."""
    if all(c.data.dtype.kind in "biu" or np.isfinite(c.data).all() for c in (x, y)):
        return as_scipy(x, x.data).multiply(as_scipy(y, y.data))
    union, first, second = _union(x, y)
    common = (first > 0) & (second > 0)
    union.data = common.astype(np.int8)
    union.eliminate_zeros()
    with np.errstate(all="ignore"):  # as in SciPy's loops
        union.data = x.data[first[common] - 1] * y.data[second[common] - 1]
    return union


def _larger(x: Compressed, y: Compressed) -> Any:
    """The larger of each pair of values, where a missing one is 0."""
    union, *numbers = _union(x, y)
    values = (np.concatenate((np.zeros(1, c.data.dtype), c.data)) for c in (x, y))
    union.data = np.maximum(*(data[number] for data, number in zip(values, numbers, strict=True)))
    return union


def _union(x: Compressed, y: Compressed) -> tuple[Any, Array, Array]:
    """A SciPy container with the entries of both, and the number of each entry in x and in y, from 1; 0 for none.

    The container is the sum of complex numbers: the real part numbers the entries of x, the imaginary part those of y.
    """
    union = as_scipy(x, _numbers(x) + 0j) + as_scipy(y, _numbers(y) * 1j)
    return union, union.data.real.astype(np.intp), union.data.imag.astype(np.intp)


def _numbers(c: Compressed) -> Array:
    return np.arange(1, c.data.size + 1)


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
    a, b = (c._replace(data=c.data.astype(arithmetic(dtype), copy=False)) for c in (a, b))

    def compute(begin: int, end: int) -> Any:
        return combine(between(a, begin, end), between(b, begin, end))

    parts = row_ranges(max(a, b, key=lambda c: c.data.size), 0)
    return stacked(compute, parts, (a.rows, a.columns), dtype, index)
