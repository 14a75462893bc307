# Long: kernels over one sorted order of entries.
"""Reorder entries: sort, sum duplicates, transpose, make blocks, make dense arrays.

Entries are moved as bits, so that dtypes that SciPy lacks (float16, bfloat16) use the same code. Only duplicates are
summed; for those dtypes in float32, rounded once.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable
from itertools import pairwise
from types import ModuleType
from typing import Any

import numpy as np

from xarrayops._host import compiled, permute, threads, views
from xarrayops._host.sparse.compressed import Compressed, index_dtype

Array = np.ndarray[Any, Any]
BlockArrays = tuple[Array, Array, Array]

# The number of entries from which loading a compiled loop is worthwhile.
COMPILED = 1 << 20
# The number of entries, or of multiplications, from which several threads are worthwhile.
SPREAD_ENTRIES = 1 << 17
# The number of row bits that select the part of an entry. All parts are written at once; each should fit the cache.
# With 512 parts instead of 256, CSR to CSC of 10**7 random entries took a third longer.
PARTS = 8
# The number of entries that are checked in one step.
CHECKED = 1 << 16
# The bytes of a result that one task fills: so few that its temporary array is still cached when it is copied.
STREAM = 1 << 22
# The dtype that moves items of this many bytes.
_BITS = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64, 16: np.complex128}


def from_coo(row: Array, column: Array, data: Array, rows: int, columns: int) -> Compressed:
    """The canonical matrix with these entries, which may be in any order; duplicates are summed (bool: or)."""
    dtype = index_dtype(rows, columns, data.size)
    row, column = plain(row.astype(dtype, copy=False)), plain(column.astype(dtype, copy=False))
    # The cheapest case: one pass to detect it, and no sort. Copies, because a result shares no memory with its
    # operands.
    if _is_sorted(row, column):
        return Compressed(_starts(row, rows), permute.contiguous(column), permute.contiguous(data), rows, columns)
    if loops := _loops(data.size):
        return _sorted(loops, row, column, data, rows, columns, digits=columns)
    from scipy.sparse import coo_array

    entries = coo_array((rows, columns), dtype=bits(data).dtype)
    entries.data, entries.coords = bits(data), (row, column)
    # Otherwise SciPy would sum the values of duplicates, which are bits here.
    entries.has_canonical_format = True
    made = entries.tocsr()
    return canonicalized(_compressed(made, made.data.view(data.dtype), dtype))


def rows_of(c: Compressed) -> Array:
    """The row of each entry, in the dtype of the indices."""
    rows = np.empty_like(c.indices, order="C")

    def fill(ranges: Iterable[tuple[int, int]]) -> None:
        for begin, end in ranges:
            # Rows of a range, in its own part of the result: threads write disjoint memory.
            lengths = np.diff(c.indptr[begin : end + 1])
            rows[c.indptr[begin] : c.indptr[end]] = np.repeat(np.arange(begin, end, dtype=rows.dtype), lengths)

    threads.run(fill, row_ranges(c, rows.nbytes))
    return rows


def is_canonical(c: Compressed) -> tuple[bool, bool]:
    """Whether all rows are sorted, and whether none has duplicates."""
    seen = as_scipy(c, bits(c.data))
    if seen.has_sorted_indices:
        return True, bool(seen.has_canonical_format)
    # Duplicates of unsorted rows show only after a sort. Values of one byte make it cheap.
    return False, canonical(c._replace(data=np.zeros(c.data.size, np.bool_))).data.size == c.data.size


def canonical(c: Compressed) -> Compressed:
    """The matrix with sorted rows and without duplicates; c itself if it is canonical."""
    seen = as_scipy(c, bits(c.data))
    if seen.has_canonical_format:
        return c
    # Sorted rows need only a pass that sums neighbours, which `canonicalized` does without a sort.
    if (loops := _loops(c.data.size)) and not seen.has_sorted_indices:
        return _sorted(loops, rows_of(c), c.indices, c.data, c.rows, c.columns, digits=c.columns)
    # SciPy sorts and sums in place, and the operand belongs to the caller.
    return canonicalized(c._replace(indptr=c.indptr.copy(), indices=c.indices.copy(), data=c.data.copy()))


def transposed(c: Compressed) -> Compressed:
    """The canonical transpose, which is also the matrix compressed along its columns."""
    if loops := _loops(c.data.size):
        # The entries are sorted by row already, and the sort by column is stable: no digits of the row are needed.
        return _sorted(loops, c.indices, rows_of(c), c.data, c.columns, c.rows, digits=1)
    # Each share has pointers for all columns; with fewer entries than columns the pointers would be most of the work.
    shares = threads.thread_count() if c.data.size >= max(COMPILED, c.columns) else 1
    cuts = ranges(lambda row: int(c.indptr[row]), c.rows, shares)
    parts: list[Any] = [None] * len(cuts)

    def transpose(some: Iterable[tuple[int, tuple[int, int]]]) -> None:
        for k, (begin, end) in some:
            part = between(c, begin, end)
            parts[k] = as_scipy(part, bits(part.data)).tocsc()
            # SciPy numbers the rows of a part from 0. The addition stays in the dtype of the indices, which hold the
            # last row.
            parts[k].indices += parts[k].indices.dtype.type(begin)

    threads.run(transpose, enumerate(cuts))
    if len(parts) != 1:
        return canonicalized(_side_by_side(parts, c))
    return canonicalized(
        Compressed(parts[0].indptr, parts[0].indices, parts[0].data.view(c.data.dtype), c.columns, c.rows)
    )


def _side_by_side(parts: list[Any], c: Compressed) -> Compressed:
    """The transpose of c, joined from the transposes of ranges of its rows."""
    indptr = np.zeros(c.columns + 1, c.indices.dtype)
    for part in parts:
        # Pointers are sums of counts, so the pointers of the whole are the sum of the pointers of its parts.
        indptr += part.indptr.astype(indptr.dtype, copy=False)
    indices, data = np.empty(c.indices.size, indptr.dtype), np.empty(c.data.size, c.data.dtype)
    moved = bits(data)

    def move(some: Iterable[tuple[int, int]]) -> None:
        for begin, end in some:
            # The next free position of each column. Parts are in the order of their rows, so each column comes out
            # sorted.
            free = indptr[begin:end].astype(np.int64)
            for part in parts:
                lengths, inside = np.diff(part.indptr[begin : end + 1]), slice(part.indptr[begin], part.indptr[end])
                # Entry e of a column that begins at p in the part goes to free + (e - p).
                places = np.repeat(free - part.indptr[begin:end], lengths) + np.arange(inside.start, inside.stop)
                indices[places], moved[places] = part.indices[inside], part.data[inside]
                free += lengths

    threads.run(move, ranges(lambda column: int(indptr[column]) + column, c.columns, 1 + c.data.size // SPREAD_ENTRIES))
    return Compressed(indptr, indices, data, c.columns, c.rows)


def to_blocks(c: Compressed, block: tuple[int, int]) -> BlockArrays:
    """Row pointers, column indices and data (n, r, c) of the blocks with entries; r and c divide the extents."""
    # SciPy adds each entry to a block of zeros. Without duplicates this moves the bits, because 0 + n is n for
    # integers. Only complex128, which moves items of 16 bytes, loses the sign of a zero.
    c = canonical(c)
    blocks = as_scipy(c, bits(c.data)).tobsr(blocksize=block)
    blocks.sort_indices()
    dtype = c.indices.dtype
    return blocks.indptr.astype(dtype), blocks.indices.astype(dtype), blocks.data.view(c.data.dtype)


def from_blocks(indptr: Array, indices: Array, data: Array, rows: int, columns: int) -> Compressed:
    """The canonical matrix with these blocks; every element of a block is an entry, even a zero."""
    from scipy.sparse import bsr_array

    blocks = bsr_array((rows, columns), blocksize=data.shape[1:], dtype=bits(data).dtype)
    blocks.indptr, blocks.indices, blocks.data = indptr, indices, bits(data)
    dtype = np.result_type(indices, index_dtype(rows, columns, data.size))
    entries = blocks.tocsr()
    return canonical(_compressed(entries, entries.data.view(data.dtype), dtype))


def to_dense(c: Compressed) -> Array:
    """The dense array; duplicates are summed."""
    if arithmetic(c.data.dtype) != c.data.dtype:
        # Without duplicates, adding an entry to zero moves its bits.
        c = canonical(c)
        return to_dense(c._replace(data=bits(c.data))).view(c.data.dtype)
    dense = np.empty((c.rows, c.columns), c.data.dtype)

    def fill(ranges: Iterable[tuple[int, int]]) -> None:
        for begin, end in ranges:
            part = between(c, begin, end)
            # SciPy fills the rows with zeros first. A task is so small that its rows are still cached when the entries
            # come.
            as_scipy(part, part.data).toarray(out=dense[begin:end])

    threads.run(fill, row_ranges(c, dense.nbytes))
    return dense


def cast(c: Compressed, dtype: np.dtype[Any]) -> Compressed:
    """The matrix in another dtype. Duplicates are summed first, in their own dtype, as integers and booleans wrap."""
    # Not after the cast: int8 duplicates 100 + 100 wrap to -56, but are 200 in int32.
    return c if c.data.dtype == dtype else (c := canonical(c))._replace(data=c.data.astype(dtype))


def bits(data: Array) -> Array:
    """The same memory with a dtype that SciPy and numba can move."""
    return data.view(_BITS.get(data.itemsize, data.dtype))


def arithmetic(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The dtype in which SciPy computes with this dtype."""
    return dtype if dtype.kind in "biuc" or (dtype.kind == "f" and dtype.itemsize > 2) else np.dtype(np.float32)


def rounded(values: Array, dtype: np.dtype[Any]) -> Array:
    """Cast values that were computed in a wider dtype. Overflow gives infinity without a warning."""
    with np.errstate(over="ignore"):
        return values.astype(dtype, copy=False)


def plain(array: Array) -> Array:
    """A C-contiguous view or copy that numba takes for writable, because numba compiles anew for each kind of array."""
    array = np.ascontiguousarray(array)
    pointer = array.__array_interface__["data"][0]
    return views.over(pointer, array.shape, array.strides, array.dtype.str, readonly=False, owner=array)


def as_scipy(c: Compressed, data: Array) -> Any:
    """A SciPy container with the indices of c and other data, without checks, copies or changes of the index dtype."""
    from scipy.sparse import csr_array

    # The constructor of three arrays would check them, and convert the indices to the narrowest dtype. An empty matrix
    # takes the attributes as they are, and looks at them only when it is asked whether they are canonical.
    made = csr_array((c.rows, c.columns), dtype=data.dtype)
    made.indptr, made.indices, made.data = c.indptr, c.indices, data
    return made


def between(c: Compressed, begin: int, end: int) -> Compressed:
    """A range of rows of a matrix, over the same indices and data."""
    start, stop = c.indptr[begin], c.indptr[end]
    # The only new array: indices and data are views.
    indptr = c.indptr[begin : end + 1] - start
    return Compressed(indptr, c.indices[start:stop], c.data[start:stop], end - begin, c.columns)


def row_ranges(c: Compressed, nbytes: int, work: int = 0) -> list[tuple[int, int]]:
    """Ranges of rows with about equal work, for a result of ``nbytes`` bytes that takes ``work`` operations."""
    pieces = -(-nbytes // STREAM)
    if max(c.data.size, work) >= SPREAD_ENTRIES:
        # Ranges have about equal work, not equal time. More than one for each thread evens that out.
        pieces = max(pieces, 4 * threads.thread_count())
    return ranges(lambda row: int(c.indptr[row]) + row, c.rows, pieces)


def ranges(before: Callable[[int], int], rows: int, pieces: int) -> list[tuple[int, int]]:
    """At most ``pieces`` ranges of rows with about equal work; ``before(row)`` is the work of all earlier rows."""
    pieces, total = min(pieces, rows), before(rows)
    # A search over the cumulative work, without an array of it. Python integers: total * k can exceed int32, and did.
    cuts = [bisect_left(range(rows), total * k // pieces, key=before) for k in range(1, pieces)]
    return [(begin, end) for begin, end in pairwise([0, *cuts, rows]) if begin < end]


def _is_sorted(row: Array, column: Array) -> bool:
    """Whether the entries are sorted by row and column, and without duplicates."""

    def rises(start: int) -> bool:
        here, after = slice(start, start + CHECKED), slice(start + 1, start + CHECKED + 1)
        r, c = row[after], column[after]
        # The last chunk has one comparison less than entries.
        before = row[here][: r.size], column[here][: r.size]
        return bool(((r > before[0]) | ((r == before[0]) & (c > before[1]))).all())

    return threads.all_true(rises, range(0, row.size - 1, CHECKED))


def _starts(row: Array, rows: int) -> Array:
    """The pointers of sorted rows: where each begins, and where the last ends."""
    starts = np.empty(rows + 1, row.dtype)

    def search(some: Iterable[int]) -> None:
        for first in some:
            last = min(first + CHECKED, rows + 1)
            # Row i begins where i would be inserted, also if it is empty. Needles of the dtype of the rows, because
            # NumPy would convert all rows otherwise.
            starts[first:last] = np.searchsorted(row, np.arange(first, last, dtype=row.dtype))

    threads.run(search, range(0, rows + 1, CHECKED))
    return starts


def _sorted(
    loops: ModuleType, row: Array, column: Array, data: Array, rows: int, columns: int, digits: int
) -> Compressed:
    """The entries sorted by row and, if ``digits`` is the number of columns, by column; with ``digits=1`` by row only.

    Threads first move the entries into parts by the leading bits of the row. Each part then fits the cache.
    """
    # Each array gets one kind, so that numba compiles one loop for all callers.
    row, column, moved = plain(row), plain(column), plain(bits(data))
    # A part is the rows with equal upper PARTS bits: contiguous rows, so parts in order are rows in order.
    shift, size = max(0, (rows - 1).bit_length() - PARTS), row.size
    shares = [slice(begin, end) for begin, end in ranges(lambda k: k, size, threads.thread_count())]
    places = np.zeros((len(shares), -(-rows >> shift)), np.int64)

    def count(numbers: Iterable[int]) -> None:
        for k in numbers:
            # The mask -1 keeps all bits that the shift leaves.
            loops.count(row[shares[k]], shift, -1, places[k])

    threads.run(count, range(len(shares)))
    # places[share, part]: where the share writes its next entry of the part. An exclusive prefix sum in the order part,
    # share: the shares of a part follow each other in their original order, so the distribution is stable, and no two
    # threads write the same place.
    counts, ends = places.T.copy(), np.cumsum(places.T)
    places[...] = (ends.reshape(counts.shape) - counts).T
    # Where each part begins. A copy: `scatter` overwrites the places.
    starts = np.append(places[0], size)
    parted = np.empty_like(row), np.empty_like(column), np.empty_like(moved)

    def part(numbers: Iterable[int]) -> None:
        for k in numbers:
            share = row[shares[k]], column[shares[k]], moved[shares[k]]
            loops.scatter(share[0], shift, -1, places[k], share, parted)

    threads.run(part, range(len(shares)))
    indptr, indices, ordered = np.empty(rows + 1, row.dtype), np.empty_like(column), np.empty(size, data.dtype)
    indptr[rows], to_bits = size, bits(ordered)
    # Memory for the sort by column, for each thread as much as its largest part; none with digits=1.
    largest, repeated = int(np.diff(starts).max()) if digits > 1 else 0, [0]

    def place(numbers: Iterable[int]) -> None:
        spare = tuple(np.empty(largest, a.dtype) for a in parted)
        for k in numbers:
            inside, first = slice(starts[k], starts[k + 1]), k << shift
            entries = tuple(a[inside] for a in parted)
            pointers = indptr[first : min(rows, first + (1 << shift))]
            to = indices[inside], to_bits[inside]
            # list.append is atomic. Only whether the sum is 0 matters, so the order of the numbers does not.
            repeated.append(loops.place(entries, spare, digits, first, starts[k], pointers, to))

    threads.run(place, range(counts.shape[0]))
    made = Compressed(indptr, indices, ordered, rows, columns)
    return canonicalized(made) if sum(repeated) else made


def canonicalized(c: Compressed) -> Compressed:
    """Sort the rows and sum duplicates, in place if the dtype allows it."""
    seen = as_scipy(c, bits(c.data))
    if seen.has_canonical_format:
        return c
    # In place, so the caller passes arrays that nobody else holds. Bits are moved, not compared, so NaN is safe.
    seen.sort_indices()
    # The rows are sorted now. Only summing duplicates remains, which needs the values.
    sums = as_scipy(c, c.data.astype(arithmetic(c.data.dtype), copy=False))
    if sums.has_canonical_format:
        return c
    sums.sum_duplicates()
    return _compressed(sums, rounded(sums.data, c.data.dtype), c.indices.dtype)


def _compressed(matrix: Any, data: Array, dtype: np.dtype[Any]) -> Compressed:
    """The indices of a SciPy container, in a dtype, with other data."""
    indptr, indices = matrix.indptr.astype(dtype, copy=False), matrix.indices.astype(dtype, copy=False)
    return Compressed(indptr, indices, data, *matrix.shape)


def _loops(entries: int) -> ModuleType | None:
    return compiled.loops("sparse") if entries >= COMPILED else None
