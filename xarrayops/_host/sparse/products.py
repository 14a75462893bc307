"""Products of sparse matrices with dense arrays and with each other, by ranges of rows, in threads.

Results have the dtype of NumPy's promotion. Dtypes that SciPy lacks are computed in float32 and rounded once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from types import ModuleType
from typing import Any

import numpy as np

from xarrayops._host import compiled, permute, threads
from xarrayops._host.sparse.compressed import Compressed, index_dtype
from xarrayops._host.sparse.order import (
    arithmetic,
    as_scipy,
    between,
    cast,
    plain,
    ranges,
    rounded,
    row_ranges,
    transposed,
)
from xarrayops._system.machine import available_bytes

Array = np.ndarray[Any, Any]

# The number of multiplications from which loading a compiled loop is worthwhile.
COMPILED = 1 << 22
# The number of columns from which our loop is faster than SciPy's.
WIDE = 32
# The bytes that are gathered in one step: they stay in the second-level cache until they are used.
GATHERED = 1 << 19
# The number of multiplications of one task of a sparse product, unless one row has more.
CHUNK = 1 << 22
# The bytes from which the available memory is checked before an allocation.
LARGE = 1 << 26


def spmm(c: Compressed, dense: Array) -> Array:
    """``c @ dense`` for a dense (columns,) or (columns, n)."""
    dtype = np.result_type(c.data, dense)
    # Half types are widened once here and rounded once at the end.
    c, dense = cast(c, arithmetic(dtype)), _c_order(dense.astype(arithmetic(dtype), copy=False))
    out = np.empty((c.rows, *dense.shape[1:]), dense.dtype)
    # Multiplications: each entry times a row of the dense operand.
    work = c.data.size * (dense.size // max(1, c.columns))
    loops = _loops(dense, dense.dtype, work)
    if loops:
        indptr, indices, data, dense = plain(c.indptr), plain(c.indices), plain(c.data), plain(dense)

    def multiply(rows: Iterable[tuple[int, int]]) -> None:
        for begin, end in rows:
            if loops:
                # Pointers are absolute, so the loop gets all entries; SciPy's container must begin at 0.
                loops.spmm(indptr[begin : end + 1], indices, data, dense, out[begin:end])
            else:
                part = between(c, begin, end)
                out[begin:end] = as_scipy(part, part.data) @ dense

    threads.run(multiply, row_ranges(c, out.nbytes, work))
    return rounded(out, dtype)


def spmm_transposed(c: Compressed, dense: Array) -> Array:
    """``c.T @ dense`` for a dense (rows,) or (rows, n).

    SciPy adds each product to its row of the result, in one thread. That is faster than a transpose of the matrix and a
    product in two threads, except with compiled loops for many columns.
    """
    dtype = np.result_type(c.data, dense)
    work = c.data.size * (dense.size // max(1, c.rows))
    if _loops(dense, arithmetic(dtype), work):
        return spmm(transposed(c), dense)
    c, dense = cast(c, arithmetic(dtype)), _c_order(dense.astype(arithmetic(dtype), copy=False))
    return rounded(as_scipy(c, c.data).T @ dense, dtype)


def spgemm(a: Compressed, b: Compressed) -> Compressed:
    """``a @ b``, canonical and without zeros.

    Threads compute ranges of rows with a bounded number of multiplications each. A range starts only if the available
    memory is enough for its largest possible result and for joining all results so far, which takes a second copy.
    """
    dtype, index = np.result_type(a.data, b.data), np.result_type(a.indices, b.indices)
    a, b = cast(a, arithmetic(dtype)), cast(b, arithmetic(dtype))
    # Entry (i, j) of a is multiplied by every entry of row j of b.
    each = np.diff(b.indptr).take(a.indices)
    # before[i]: the multiplications of all rows before i. In int64, because they exceed the range of the indices.
    before = np.concatenate([np.zeros(1, np.int64), np.cumsum(each, dtype=np.int64)])[a.indptr]  # each row
    right, room = as_scipy(b, b.data), b.data.itemsize + index.itemsize
    found: list[int] = []

    def multiply(begin: int, end: int) -> Any:
        # A row has at most one entry for each multiplication, and at most b.columns.
        most = min(int(before[end] - before[begin]), (end - begin) * b.columns)
        # Allocations to come: the largest result of this range, and the join of all ranges, which copies this result
        # and those found so far.
        nbytes = (sum(found) + 2 * most) * room
        if nbytes > LARGE:
            _require_memory(nbytes, a, b, int(before[-1]))
        part = between(a, begin, end)
        product = as_scipy(part, part.data) @ right
        # SciPy's product has rows without duplicates, but not sorted.
        product.sort_indices()
        found.append(product.nnz)
        return product

    # Not finer than a row of b's width, whose accumulators SciPy clears for each range.
    pieces = -(-int(before[-1]) // max(CHUNK, b.columns))
    made = stacked(multiply, ranges(lambda row: int(before[row]), a.rows, pieces), (a.rows, b.columns), dtype, index)
    lengths = np.diff(made.indptr)
    # Pointers that rise, that end at the number of entries, and that are flat for rows without multiplications. A
    # caller would read out of bounds otherwise.
    if made.indptr[-1] != made.indices.size or (lengths < 0).any() or lengths[np.diff(before) == 0].any():
        raise RuntimeError(
            f"SciPy returned a malformed product of {_described(a)} and {_described(b)}. Instead: report this bug"
        )
    return made


def sddmm(rows: Array, columns: Array, a: Array, b: Array) -> Array:
    """``(a @ b)[i, j]`` for each pair of these rows and columns, for a (m, k) and b (k, n)."""
    dtype = np.result_type(a, b)
    a = a.astype(arithmetic(dtype), copy=False)
    # Rows of both operands are gathered, so both must be contiguous along k.
    by_column = _c_order(b.T.astype(a.dtype, copy=False))
    out = np.empty(rows.size, a.dtype)
    step = max(1, GATHERED // max(1, a.shape[1] * a.itemsize))

    def sample(starts: Iterable[int]) -> None:
        for start in starts:
            here = slice(start, start + step)
            # One product and sum for each entry, without the (rows, columns) matrix that a @ b would be.
            np.einsum("ij,ij->i", a.take(rows[here], 0), by_column.take(columns[here], 0), out=out[here])

    threads.run(sample, range(0, out.size, step))
    return rounded(out, dtype)


def stacked(
    compute: Callable[[int, int], Any],
    parts: list[tuple[int, int]],
    shape: tuple[int, int],
    dtype: np.dtype[Any],
    index: np.dtype[Any],
) -> Compressed:
    """A matrix from SciPy containers of ranges of its rows, which threads compute."""
    made: dict[int, Any] = {}

    def work(some: Iterable[tuple[int, int]]) -> None:
        for begin, end in some:
            # Setting an item of a dict is atomic; keys are distinct.
            made[begin] = compute(begin, end)

    threads.run(work, parts)
    found = [made[begin] for begin, _ in parts]
    entries = sum(part.nnz for part in found)
    # Not narrower than the dtype of the operands; wider if the number of entries requires it.
    index = np.result_type(index, index_dtype(*shape, entries))
    # The pointers of the parts begin at 0 and may be of a narrower dtype: their lengths are joined, and summed in the
    # final one.
    lengths = [np.diff(part.indptr) for part in found]
    indptr = np.zeros(shape[0] + 1, index)
    np.cumsum(np.concatenate([np.zeros(0, index), *lengths]), out=indptr[1:])
    indices = np.concatenate([np.zeros(0, index), *(part.indices for part in found)], dtype=index, casting="same_kind")
    data = np.concatenate([np.zeros(0, dtype), *(rounded(part.data, dtype) for part in found)])
    return Compressed(indptr, indices, data, *shape)


def _require_memory(nbytes: int, a: Compressed, b: Compressed, products: int) -> None:
    """Raise an error before an allocation that exceeds the available memory."""
    free = available_bytes()
    if free is not None and nbytes > free:
        raise MemoryError(
            f"the product of sparse matrices, {_described(a)} and {_described(b)}, takes {products} multiplications; "
            f"its next rows may need {nbytes} bytes, but {free} are available. Instead: multiply fewer rows at a time"
        )


def _described(c: Compressed) -> str:
    return f"shape {(c.rows, c.columns)} with {c.data.size} entries"


def _c_order(dense: Array) -> Array:
    return dense if dense.flags.c_contiguous else permute.contiguous(dense)


def _loops(dense: Array, dtype: np.dtype[Any], work: int) -> ModuleType | None:
    """The compiled loops if they are worthwhile; None for few columns, and for dtypes that numba does not support."""
    # The codes of dtypes that numba has, without half, extended precision and bool.
    fit = dense.ndim == 2 and dense.shape[1] >= WIDE and dtype.char in "bhilqBHILQfdFD"
    return compiled.loops("sparse") if fit and work >= COMPILED else None
