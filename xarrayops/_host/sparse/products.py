"""Products of sparse matrices with dense arrays and with each other, by rows, in threads.

Results have NumPy's dtype of the two; dtypes that SciPy lacks are calculated in float32 and rounded once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from types import ModuleType
from typing import Any

import numpy as np

from xarrayops._host import permute, threads
from xarrayops._host.sparse import fast
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
    rows_of,
    transposed,
)
from xarrayops._system.machine import available_bytes

Array = np.ndarray[Any, Any]

COMPILED = 1 << 22
"""Products of numbers from which it pays to load, or once to compile, a loop."""
WIDE = 32
"""Columns from which our loop is faster than SciPy's."""
GATHERED = 1 << 19
"""Bytes that are gathered at once: they stay in the second-level cache until they are used."""
CHUNK = 1 << 22
"""Products of numbers in one piece of a product of sparse matrices, unless one row has more."""
ASKED = 1 << 26
"""Bytes from which the system is asked whether it has them."""


def spmm(c: Compressed, dense: Array) -> Array:
    """``c @ dense`` for a dense (columns,) or (columns, n)."""
    dtype = np.result_type(c.data, dense)
    c, dense = cast(c, arithmetic(dtype)), _c_order(dense.astype(arithmetic(dtype), copy=False))
    out = np.empty((c.rows, *dense.shape[1:]), dense.dtype)
    work = c.data.size * (dense.size // max(1, c.columns))
    loops = _loops(dense, dense.dtype, work)
    if loops:
        indptr, indices, data, dense = plain(c.indptr), plain(c.indices), plain(c.data), plain(dense)

    def multiply(rows: Iterable[tuple[int, int]]) -> None:
        for begin, end in rows:
            if loops:
                loops.spmm(indptr[begin : end + 1], indices, data, dense, out[begin:end])
            else:
                part = between(c, begin, end)
                out[begin:end] = as_scipy(part, part.data) @ dense

    threads.run(multiply, row_ranges(c, out.nbytes, work))
    return rounded(out, dtype)


def spmm_transposed(c: Compressed, dense: Array) -> Array:
    """``c.T @ dense`` for a dense (rows,) or (rows, n).

    SciPy adds each entry where it belongs in one thread. That takes less than turning the matrix and then two threads,
    but for many columns and compiled loops.
    """
    dtype = np.result_type(c.data, dense)
    work = c.data.size * (dense.size // max(1, c.rows))
    if _loops(dense, arithmetic(dtype), work):
        return spmm(transposed(c), dense)
    c, dense = cast(c, arithmetic(dtype)), _c_order(dense.astype(arithmetic(dtype), copy=False))
    return rounded(as_scipy(c, c.data).T @ dense, dtype)


def spgemm(a: Compressed, b: Compressed) -> Compressed:
    """``a @ b``, canonical; sums that are zero are no entries.

    It goes by ranges of rows with a bounded number of products each. A range begins only if the most that it can give
    fits the memory that is left beside a second copy of what there is, from which the result is put together.
    """
    dtype, index = np.result_type(a.data, b.data), np.result_type(a.indices, b.indices)
    a, b = cast(a, arithmetic(dtype)), cast(b, arithmetic(dtype))
    each = np.diff(b.indptr).take(a.indices)
    before = np.concatenate([np.zeros(1, np.int64), np.cumsum(each, dtype=np.int64)])[a.indptr]  # each row
    right, room = as_scipy(b, b.data), b.data.itemsize + index.itemsize
    found: list[int] = []

    def multiply(begin: int, end: int) -> Any:
        most = min(int(before[end] - before[begin]), (end - begin) * b.columns)
        nbytes = (sum(found) + 2 * most) * room
        if nbytes > ASKED:
            _demand(nbytes, a, b, int(before[-1]))
        part = between(a, begin, end)
        product = as_scipy(part, part.data) @ right
        product.sort_indices()
        found.append(product.nnz)
        return product

    pieces = -(-int(before[-1]) // max(CHUNK, b.columns))
    made = stacked(multiply, ranges(lambda row: int(before[row]), a.rows, pieces), (a.rows, b.columns), dtype, index)
    lengths = np.diff(made.indptr)
    if made.indptr[-1] != made.indices.size or (lengths < 0).any() or lengths[np.diff(before) == 0].any():
        raise RuntimeError(f"SciPy's product of {_told(a)} and {_told(b)} is no sparse matrix. Instead: report this")
    return made


def sddmm(pattern: Compressed, a: Array, b: Array) -> Array:
    """``(a @ b)[i, j]`` at the entries of the pattern, for a (rows, k) and b (k, columns)."""
    dtype = np.result_type(a, b)
    a = a.astype(arithmetic(dtype), copy=False)
    by_column = _c_order(b.T.astype(a.dtype, copy=False))
    rows, columns, out = rows_of(pattern), pattern.indices, np.empty(pattern.data.size, a.dtype)
    step = max(1, GATHERED // max(1, a.shape[1] * a.itemsize))

    def sample(starts: Iterable[int]) -> None:
        for start in starts:
            here = slice(start, start + step)
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
    """A matrix out of SciPy's containers of ranges of its rows, which threads compute."""
    made: dict[int, Any] = {}

    def work(some: Iterable[tuple[int, int]]) -> None:
        for begin, end in some:
            made[begin] = compute(begin, end)

    threads.run(work, parts)
    found = [made[begin] for begin, _ in parts]
    entries = sum(part.nnz for part in found)
    index = np.result_type(index, index_dtype(*shape, entries))
    lengths = [np.diff(part.indptr) for part in found]
    indptr = np.zeros(shape[0] + 1, index)
    np.cumsum(np.concatenate([np.zeros(0, index), *lengths]), out=indptr[1:])
    indices = np.concatenate([np.zeros(0, index), *(part.indices for part in found)], dtype=index, casting="same_kind")
    data = np.concatenate([np.zeros(0, dtype), *(rounded(part.data, dtype) for part in found)])
    return Compressed(indptr, indices, data, *shape)


def _demand(nbytes: int, a: Compressed, b: Compressed, products: int) -> None:
    """Refuse what does not fit memory, while there is some."""
    free = available_bytes()
    if free is not None and nbytes > free:
        raise MemoryError(
            f"the product of sparse matrices, {_told(a)} and {_told(b)}, sums up {products} products of entries; its "
            f"next rows may need {nbytes} bytes, and {free} are available. Instead: multiply fewer rows at a time"
        )


def _told(c: Compressed) -> str:
    return f"shape {(c.rows, c.columns)} with {c.data.size} entries"


def _c_order(dense: Array) -> Array:
    return dense if dense.flags.c_contiguous else permute.contiguous(dense)


def _loops(dense: Array, dtype: np.dtype[Any], work: int) -> ModuleType | None:
    """Compiled loops where they pay: not for few columns, nor for dtypes that numba does not calculate with."""
    fit = dense.ndim == 2 and dense.shape[1] >= WIDE and dtype.char in "bhilqBHILQfdFD"
    return fast.loops("products") if fit and work >= COMPILED else None
