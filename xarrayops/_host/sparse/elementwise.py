"""Elementwise sums and products of sparse matrices, and sums of rows and of columns."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from xarrayops._host import threads
from xarrayops._host.sparse.compressed import Compressed
from xarrayops._host.sparse.order import arithmetic, as_scipy, between, ranges, rounded, row_ranges
from xarrayops._host.sparse.products import stacked
from xarrayops._host.sums import has_overflowed

Array = np.ndarray[Any, Any]

# Entries of one step, which bounds the memory of the gathered elements.
STEP = 1 << 16
# The number of entries that one thread sums: a sum is so fast that starting a thread for fewer takes longer.
SUMMED = 1 << 21


def add(a: Compressed, b: Compressed) -> Compressed:
    """``a + b`` for canonical operands: canonical, without zeros."""
    return _combined(a, b, lambda x, y: as_scipy(x, x.data) + as_scipy(y, y.data))


def multiply(a: Compressed, b: Compressed) -> Compressed:
    """The elementwise product of canonical operands: canonical, with the entries that both operands have."""
    if a is not b and not (np.array_equal(a.indptr, b.indptr) and np.array_equal(a.indices, b.indices)):
        return _combined(a, b, _common)
    dtype = np.result_type(a.data, b.data)
    # The pattern of the result is known: no search for common entries. No warnings, as in SciPy's loops.
    with np.errstate(all="ignore"):
        data = rounded(np.multiply(a.data, b.data, dtype=arithmetic(dtype)), dtype)
    return a._replace(indptr=a.indptr.copy(), indices=a.indices.copy(), data=data)


def maximum(a: Compressed, b: Compressed) -> Compressed:
    """The elementwise maximum of canonical operands: canonical, with the entries of both."""
    return _combined(a, b, _larger)


def _common(x: Compressed, y: Compressed) -> Any:
    """The product at the entries that both operands have, without a warning."""
    # SciPy multiplies an entry that the other operand lacks by 0, which gives NaN for infinity, and drops products that
    # are 0, also of a stored 0. So the patterns are intersected with the numbers 1, 2, ... as values times ones: the
    # product has the common entries, with the position of each in x; with the operands swapped, in y.
    first, second = _numbers(x), _numbers(y)
    ones = np.ones_like(first), np.ones_like(second)
    product = as_scipy(x, first).multiply(as_scipy(y, ones[1]))
    places = as_scipy(x, ones[0]).multiply(as_scipy(y, second)).data
    with np.errstate(all="ignore"):
        product.data = x.data[product.data - 1] * y.data[places - 1]
    return product


def _larger(x: Compressed, y: Compressed) -> Any:
    """The larger of each pair of values, where a missing one is 0.

    SciPy's maximum ignores some NaN. With NaN, SciPy adds complex numbers instead: the real part of a sum is the number
    of an entry of x, counted from 1, or 0 if it is missing; the imaginary part is the number for y.
    """
    # Without NaN, SciPy's maximum is correct and faster.
    if not any(np.isnan(c.data).any() for c in (x, y)):
        return as_scipy(x, x.data).maximum(as_scipy(y, y.data))
    # One addition finds the union and both positions: complex numbers hold two integers, exact up to 2**53.
    union = as_scipy(x, _numbers(x) + 0j) + as_scipy(y, _numbers(y) * 1j)
    numbers = (part.astype(np.intp) for part in (union.data.real, union.data.imag))
    # Number 0 is a missing entry, which is 0.
    values = (np.concatenate((np.zeros(1, c.data.dtype), c.data)) for c in (x, y))
    union.data = np.maximum(*(data[number] for data, number in zip(values, numbers, strict=True)))
    return union


def _numbers(c: Compressed) -> Array:
    return np.arange(1, c.data.size + 1)


def multiply_dense(c: Compressed, dense: Array, rows: Array) -> Array:
    """The values of c times the elements of a dense array, which is broadcast, in these rows and the columns of c."""
    dense = np.atleast_2d(dense)
    # An axis that is broadcast is not repeated: it can be longer than an array of NumPy.
    row, column = (x if n != 1 else np.zeros_like(x) for x, n in zip((rows, c.indices), dense.shape, strict=True))
    data = np.empty(c.data.size, np.result_type(c.data, dense))

    def work(starts: Iterable[int]) -> None:
        with np.errstate(all="ignore"):
            for start in starts:
                here = slice(start, start + STEP)
                np.multiply(c.data[here], dense[row[here], column[here]], out=data[here])

    threads.run(work, range(0, data.size, STEP))
    return data


def sum_rows(c: Compressed) -> Array:
    """The sum of each row (rows,), in the dtype of NumPy's sums. Duplicates are summed in that dtype, too."""
    dtype = c.data[:0].sum().dtype
    sums = np.zeros(c.rows, arithmetic(dtype))

    def work(rows: Iterable[tuple[int, int]]) -> None:
        with np.errstate(all="ignore"):
            for begin, end in rows:
                starts = c.indptr[begin:end]
                # reduceat gives the element at the start for an empty sum, not 0: only rows with entries take part. A
                # sum ends where the next of these rows begins, which is right because the rows between are empty.
                filled = starts < c.indptr[begin + 1 : end + 1]
                # The last sum of the range ends here, not at the end of the matrix.
                part = c.data[: c.indptr[end]]
                sums[begin:end][filled] = np.add.reduceat(part, starts[filled], dtype=sums.dtype)

    threads.run(work, ranges(lambda row: int(c.indptr[row]), c.rows, -(-c.data.size // SUMMED)))
    if sums.dtype.char in "fF" and has_overflowed(sums):
        return rounded(sum_rows(c._replace(data=c.data.astype(np.result_type(sums, np.float64)))), dtype)
    return rounded(sums, dtype)


def sum_columns(c: Compressed) -> Array:
    """The sum of each column (columns,), in the dtype of NumPy's sums. Duplicates are summed in that dtype, too."""
    dtype = c.data[:0].sum().dtype
    # The sum of booleans is their number, for which bincount needs no weights.
    if c.data.dtype == np.bool_:
        return np.bincount(c.indices if c.data.all() else c.indices[c.data], minlength=c.columns)
    # bincount adds in float64, so that narrower sums are rounded once. Integers and complex numbers need their own
    # arithmetic, and single-precision ones that of double precision.
    if dtype.kind == "f" and dtype.itemsize <= 8:
        with np.errstate(all="ignore"):
            return rounded(np.bincount(c.indices, c.data, minlength=c.columns), dtype)
    sums = np.zeros(c.columns, np.complex128 if dtype.char == "F" else dtype)
    with np.errstate(all="ignore"):
        np.add.at(sums, c.indices, c.data.astype(sums.dtype, copy=False))  # of one dtype, which is 12 times faster
    return rounded(sums, dtype)


def _combined(a: Compressed, b: Compressed, combine: Callable[[Compressed, Compressed], Any]) -> Compressed:
    """Combine ranges of rows. For canonical operands SciPy needs one pass and returns a canonical result."""
    dtype, index = np.result_type(a.data, b.data), np.result_type(a.indices, b.indices)
    # Canonical operands have no duplicates, so a cast before the operation is exact.
    a, b = (c._replace(data=c.data.astype(arithmetic(dtype), copy=False)) for c in (a, b))

    def compute(begin: int, end: int) -> Any:
        return combine(between(a, begin, end), between(b, begin, end))

    parts = row_ranges(max(a, b, key=lambda c: c.data.size), 0)
    return stacked(compute, parts, (a.rows, a.columns), dtype, index)
