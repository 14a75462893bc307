"""Check the parts of a sparse matrix, and describe the first fault in a sentence.

Each step relies only on what was checked before: first the numbers of axes, dtypes and lengths; then the pointers; then
the bounds of the indices; then the order of the entries. The arrays are read in chunks that stay in the cache. Values
are compared, never subtracted, so that nothing overflows. Memory does not grow with the matrix. The time depends on the
memory of an array, not on its length: an array with a stride of 0 can have any length.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from xarrayops._host import threads
from xarrayops.plugin.sparse import Parts

Array = np.ndarray[Any, Any]
# A function of start and stop: the fault of these entries, or None.
Check = Callable[[int, int], str | None]

# The items of a chunk: they fit the second-level cache of a core while they are checked.
CHUNK = 1 << 16


def fault(p: Parts, *, canonical: bool = True) -> str | None:
    """The first fault of parts in host memory; None if they are valid.

    With ``canonical``, unsorted entries and duplicates are faults too.
    """
    found = form_fault(p)
    if found:
        return found
    # A subclass could hide values, for example by a mask.
    if p.format == "coo":
        return _coords_fault(tuple(map(np.asarray, p.coords)), p.shape, canonical=canonical)
    indptr, indices = np.asarray(p.indptr), np.asarray(p.indices)
    return _pointers_fault(indptr, len(indices)) or _indices_fault(p, indptr, indices, canonical=canonical)


def form_fault(p: Parts) -> str | None:
    """Like `fault`, for numbers of axes, dtypes, lengths and extents only: no value is read."""
    return next(_coo_form_faults(p.coords, p.data, p.shape) if p.format == "coo" else _compressed_form_faults(p), None)


def _compressed_form_faults(p: Parts) -> Iterator[str]:
    """The faults of the form, in order. Take the first only: each step assumes that the earlier ones found none."""
    yield from _integers_faults("indptr", p.indptr, 1)
    yield from _integers_faults("indices", p.indices, 1)
    yield from _numbers_faults(p.data, 1 if p.block is None else 3)
    if p.indptr.dtype != p.indices.dtype:
        yield f"indptr has dtype {p.indptr.dtype}, but indices has {p.indices.dtype}"
    # Extents within the index dtype make every comparison below exact in that dtype.
    yield from _extents_faults("shape", p.shape, 2, 0, p.indices.dtype)
    if p.block is not None:
        yield from _block_faults(p.data, p.shape, p.block)
    # Only now: a block of extent 0 or of another rank would make this division fail.
    lines, _ = _extents(p)
    if len(p.indptr) != lines + 1:
        yield f"indptr has {len(p.indptr)} items, not {lines} + 1 = {lines + 1}"
    if len(p.indices) != len(p.data):
        yield f"indices has {len(p.indices)} entries, but data has {len(p.data)}"


def _extents(p: Parts) -> tuple[int, int]:
    """The number of lines along which the entries are compressed, and of places in a line; counted in blocks."""
    height, width = p.block or (1, 1)
    rows, columns = p.shape[0] // height, p.shape[1] // width
    return (columns, rows) if p.format == "csc" else (rows, columns)


def _coo_form_faults(coords: Any, data: Array, shape: tuple[int, ...]) -> Iterator[str]:
    """The same for coo."""
    if isinstance(coords, tuple):
        for axis, row in enumerate(coords):
            yield from _integers_faults(f"coords[{axis}]", row, 1)
        for axis, row in enumerate(coords):
            if len(row) != len(coords[0]):
                yield f"coords[{axis}] has {len(row)} entries, but coords[0] has {len(coords[0])}"
    else:
        yield from _integers_faults("coords", coords, 2)
    yield from _numbers_faults(data, 1)
    if len(coords) == 0:
        yield "coords has no rows, but needs one for each axis"
    if isinstance(shape, tuple) and len(shape) != len(coords):
        yield f"coords must have shape ({len(shape)}, nnz) for a shape of {len(shape)} axes, but has {len(coords)} rows"
    # Every extent must be representable in every row, because rows are compared with extents in their own dtype.
    narrowest = min((row.dtype for row in coords), key=lambda dtype: dtype.itemsize)
    yield from _extents_faults("shape", shape, len(coords), 0, narrowest)
    if len(coords[0]) != len(data):
        yield f"coords has {len(coords[0])} entries, but data has {len(data)}"


def _array_faults(name: str, array: Any, ndim: int) -> Iterator[str]:
    if not isinstance(array, np.ndarray):
        yield f"{name} is a {type(array).__name__}, not a NumPy array"
    if array.ndim != ndim:
        yield f"{name} is {array.ndim}-D, not {ndim}-D"


def _integers_faults(name: str, array: Any, ndim: int) -> Iterator[str]:
    yield from _array_faults(name, array, ndim)
    # Integers of non-native byte order differ from these dtypes, so they are rejected too.
    if array.dtype not in (np.int32, np.int64):
        yield f"{name} has dtype {array.dtype}, not int32 or int64"


def _numbers_faults(data: Any, ndim: int) -> Iterator[str]:
    yield from _array_faults("data", data, ndim)
    dtype = data.dtype
    # The dtypes of ml_dtypes have the kind of records, V, but a scalar class of their own.
    if dtype.kind not in "biufc" and (dtype.kind != "V" or issubclass(dtype.type, np.void)):
        yield f"data has dtype {dtype}, not bool, integer, float or complex"
    if not dtype.isnative:
        yield f"data has dtype {dtype}, not in the byte order of this machine"


def _extents_faults(name: str, extents: Any, count: int, least: int, dtype: np.dtype[Any]) -> Iterator[str]:
    """The faults of extents. The message omits them: Python does not print integers of thousands of digits."""
    if not isinstance(extents, tuple):
        yield f"{name} is a {type(extents).__name__}, not a tuple of ints"
    if len(extents) != count:
        yield f"{name} must have {count} integers, but it has {len(extents)}"
    most = np.iinfo(dtype).max
    for axis, extent in enumerate(extents):
        # True is an int in Python but not an extent.
        if not isinstance(extent, int) or isinstance(extent, bool):
            yield f"{name}[{axis}] is a {type(extent).__name__}, not an int"
        if extent < least:
            yield f"{name}[{axis}] is less than {least}"
        if extent > most:
            yield f"{name}[{axis}] is more than {most}, the maximum for {dtype} indices"


def _block_faults(data: Array, shape: tuple[int, ...], block: tuple[int, int]) -> Iterator[str]:
    yield from _extents_faults("block", block, 2, 1, np.dtype(np.int64))
    if data.shape[1:] != block:
        yield f"data has blocks of shape {data.shape[1:]}, not {block}"
    for axis, (extent, step) in enumerate(zip(shape, block, strict=True)):
        if extent % step:
            yield f"shape[{axis}] is {extent}, not a multiple of block[{axis}], which is {step}"


def _pointers_fault(indptr: Array, count: int) -> str | None:
    if indptr[0] != 0:
        return f"indptr[0] is {indptr[0]}, not 0"

    def rising(start: int, stop: int) -> str | None:
        part = indptr[start:stop]
        # A comparison, because a difference of two pointers can overflow.
        falls = part[1:] < part[:-1]
        if not falls.any():
            return None
        i = start + 1 + int(falls.argmax())
        return f"indptr[{i}] is {indptr[i]}, less than indptr[{i - 1}], which is {indptr[i - 1]}"

    fault = _first_fault(len(indptr), indptr.strides[0], rising)
    if fault or indptr[-1] == count:
        return fault
    return f"indptr ends with {indptr[-1]}, but there are {count} entries"


def _indices_fault(p: Parts, indptr: Array, indices: Array, *, canonical: bool) -> str | None:
    """The fault of the indices; the pointers are valid."""
    _, extent = _extents(p)
    # Most matrices are valid: a quick test that does not locate a fault comes first.
    if canonical and are_canonical(indptr, indices, extent):
        return None
    kind = "" if p.block is None else "block "
    line, across = ("column", "row") if p.format == "csc" else (f"{kind}row", f"{kind}column")

    def within(start: int, stop: int) -> str | None:
        found = _outside(indices[start:stop], extent)
        if found is None:
            return None
        k = start + found
        if indices[k] < 0:
            return f"indices[{k}] is {indices[k]}"
        where = f"in {line} {bisect_right(indptr, k) - 1}"
        # k is an entry of the last line whose pointer is at most k; bisect finds it although empty lines repeat
        # pointers.
        return f"indices[{k}], {where}, is {indices[k]}, but there are {extent} {across}s"

    def ordered(start: int, stop: int) -> str | None:
        part = indices[start:stop]
        falls = part[1:] <= part[:-1]
        first, last = bisect_right(indptr, start), bisect_right(indptr, stop - 1)
        # The first index of a line may be smaller than the last one of the line before. Any number of empty lines may
        # begin at one entry, so their pointers are read in chunks too.
        for i in range(first, last, CHUNK):
            begins = indptr[i : min(i + CHUNK, last)] - (start + 1)
            # NumPy is fastest with indices of this dtype; of another one it makes a copy for each use.
            falls[begins.astype(np.intp, copy=False)] = False
        if not falls.any():
            return None
        k = start + 1 + int(falls.argmax())
        here = f"{line} {bisect_right(indptr, k) - 1}"
        if indices[k] == indices[k - 1]:
            return f"{here} has {across} {indices[k]} twice, at entries {k - 1} and {k}"
        return f"{here} is not sorted: {across} {indices[k]} at entry {k} comes after {across} {indices[k - 1]}"

    return _first_fault(len(indices), indices.strides[0], within, ordered if canonical else None)


def are_canonical(indptr: Array, indices: Array, extent: int) -> bool:
    """Whether the indices of each line increase and are within bounds; the pointers are valid. False if a stride is 0.

    They increase if every index that is not larger than the previous one is at the beginning of a line, which is tested
    by comparing the numbers of both. Then only the first and the last index of each line must be within bounds.
    """
    # The time below grows with the length, which a stride of 0 makes arbitrary without memory. `_first_fault` ends
    # early for these.
    if any(x.size and not x.strides[0] for x in (indices, indptr)):
        return False
    falls, buffer = 0, np.empty(CHUNK, np.bool_)
    for start in range(0, len(indices) - 1, CHUNK):
        # One more entry, so that the last one of a chunk is compared with the first of the next.
        part = indices[start : start + CHUNK + 1]
        falls += int(np.count_nonzero(np.less_equal(part[1:], part[:-1], out=buffer[: len(part) - 1])))
    # The last index before the lines of this step; -1 is smaller than every first index within bounds.
    previous = -1
    for line in range(0, len(indptr) - 1, CHUNK):
        pointers = indptr[line : line + CHUNK + 1]
        begins, ends = pointers[:-1], pointers[1:]
        has_entries = ends > begins
        if not has_entries.all():
            begins, ends = begins[has_entries], ends[has_entries]
        # Within the indices: the pointers are valid, and these lines have entries.
        first, last = indices.take(begins), indices.take(ends - 1)
        if not first.size:
            continue
        # If the line rises, all of its indices are between these two. If it does not, the count of falls is not 0 at
        # the end.
        if first.min() < 0 or last.max() >= extent:
            return False
        # Falls from the last index of a line to the first of the next one with entries are allowed.
        falls -= int(np.count_nonzero(first[1:] <= last[:-1])) + int(first[0] <= previous)
        previous = last[-1]
    return falls == 0


def _coords_fault(coords: tuple[Array, ...], shape: tuple[int, ...], *, canonical: bool) -> str | None:
    def within(start: int, stop: int) -> str | None:
        found = [(_outside(coords[axis][start:stop], extent), axis) for axis, extent in enumerate(shape)]
        outside = [(start + k, axis) for k, axis in found if k is not None]
        if not outside:
            return None
        # The first entry in the order of memory, and of that entry the first axis.
        k, axis = min(outside)
        index = coords[axis][k]
        return f"coords[{axis}, {k}] is {index}" + (f", but shape[{axis}] is {shape[axis]}" if index >= 0 else "")

    def ordered(start: int, stop: int) -> str | None:
        *outer, inner = (row[start:stop] for row in coords)
        falls = inner[1:] <= inner[:-1]
        # Lexicographic order from the innermost axis outwards: an axis decides where it differs, and where it is equal
        # the inner axes have decided.
        for part in reversed(outer):
            falls &= part[1:] == part[:-1]
            falls |= part[1:] < part[:-1]
        if not falls.any():
            return None
        k = start + 1 + int(falls.argmax())
        before, here = (tuple(int(row[i]) for row in coords) for i in (k - 1, k))
        if here == before:
            return f"coords has {here} twice, at entries {k - 1} and {k}"
        return f"coords is not sorted: {here} at entry {k} comes after {before}"

    stride = max(abs(row.strides[0]) for row in coords)
    return _first_fault(len(coords[0]), stride, within, ordered if canonical else None)


def _first_fault(count: int, stride: int, check: Check, check_order: Check | None = None) -> str | None:
    """The first fault that ``check`` finds, else the first that ``check_order`` finds, in one pass.

    Each range includes the first entry of the next, so that all neighbours are compared. A stride of 0 repeats one
    entry: then a later range differs from the first only in the rows that start in it.
    """
    starts = range(0, count, CHUNK)
    if (
        stride
        and check_order is None
        # Threads only test whether there is a fault; the loop below finds the first one, so that the message does not
        # depend on their timing.
        and threads.all_true(lambda k: check(k, min(k + CHUNK + 1, count)) is None, starts)
    ):
        return None
    order_fault = None
    for start in starts:
        stop = min(start + CHUNK + 1, count)
        fault = check(start, stop)
        if fault:
            return fault
        # An index out of bounds anywhere is reported before disorder, so the search goes on after the first fault of
        # order.
        if check_order is not None and order_fault is None:
            order_fault = check_order(start, stop)
        # The remaining ranges hold the same entry again.
        if stride == 0 and (order_fault or check_order is None):
            break
    return order_fault


def _outside(part: Array, extent: int) -> int | None:
    """The position of the first index out of bounds. As an unsigned integer, a negative index is too large."""
    # One comparison instead of two: in two's complement -1 is the largest unsigned integer.
    unsigned = part.view(f"u{part.itemsize}")
    return None if unsigned.max() < extent else int((unsigned >= extent).argmax())
