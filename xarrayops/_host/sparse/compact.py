# Long: three kernels over one layout of blocks, which share its plan.
"""Conversion of dense arrays to CSR, COO or BSR, with the entries that a predicate selects.

The array is cut into spans, which are contiguous in C order and fit the second-level cache of a core. Threads first
count the selected items of each span. This gives the size of the result, which is then allocated, and the position of
each span in it, so that threads can fill it. The first pass records in bits which items are selected, so that the
second reads only cache lines with entries. The number of these bits is limited, so that temporary memory does not grow
with the array.

A single pass was tried too. It needs memory for the largest possible result, which systems refuse and tools report as
used, and threads that wait for each other.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from functools import partial, reduce
from itertools import accumulate, product
from typing import Any, TypeVar

import numpy as np

from xarrayops._host import compiled, permute, threads
from xarrayops._host.sparse.compressed import Compressed, index_dtype
from xarrayops.plugin.arrays import Record

Array = np.ndarray[Any, Any]
Where = str | float | Array | None
Test = Callable[[Array, Array | None], Array]
Task = TypeVar("Task")

# Elements of a span, at most: 1 MB in float32, which fits the second-level cache of a core.
SPAN = 1 << 18
# The number of elements for which the first pass records the selection: 8 MB of bits.
RECORDED = 1 << 26
# The number of elements from which several threads are worthwhile.
SPREAD_ELEMENTS = 1 << 18
# The number of elements from which loading a compiled loop is worthwhile.
COMPILED = 1 << 20
# The bits of a word.
WORD = 64
# The number of columns of a block up to which a loop over them is faster than NumPy's reduction.
NARROW = 16


class Span(Record):
    """A part of an array that is contiguous in C order: its slices, its first item, and its number of items."""

    part: tuple[slice, ...]
    start: int
    size: int


class ItemReader:
    """A reader of spans of single items for one thread, with its own buffers."""

    def __init__(self, x: Array, where: Where, size: int) -> None:
        self.x = x
        # NumPy compares bytes faster than booleans.
        self.numbers = x.view(np.uint8) if x.dtype.kind == "b" else x
        self.mask = where if isinstance(where, np.ndarray) else None
        self.test = _test(None if isinstance(where, np.ndarray) else where, self.numbers.dtype)
        size = min(size, x.size)
        self.buffer, self.kept_buffer = np.empty(size, x.dtype), np.empty(size, np.bool_)

    def count(self, span: Span) -> tuple[int, Array | None]:
        """The number of selected items of a span, counted in memory order without a copy; and the selection as bits.

        The bits are None if they would take another pass.
        """
        if self.mask is not None:
            kept = self.mask[span.part]
        else:
            part = self.numbers[span.part]
            out = self.kept_buffer[: span.size].reshape(part.shape) if part.flags.c_contiguous else None
            kept = self.test(part, out)
        # Bits are in C order. A mask in another memory order would have to be copied first, which `kept` does in the
        # second pass; beyond RECORDED they would take memory that grows with the array.
        has_bits = kept.flags.c_contiguous and span.start < RECORDED
        return int(np.count_nonzero(kept)), _packed(kept) if has_bits else None

    def load(self, span: Span) -> None:
        """Prepare `gather` for a span: make its values contiguous in C order."""
        part = self.x[span.part]
        if part.flags.c_contiguous:
            self.values = part.reshape(-1)
        else:
            # A copy by cache lines into this thread's buffer: `gather` would jump through the strides of the array
            # otherwise.
            self.values = self.buffer[: span.size]
            permute.copy(part, self.values.reshape(part.shape))

    def kept(self, span: Span) -> Array:
        """The selection of items, in C order. Loads the span."""
        self.load(span)
        kept = self.kept_buffer[: span.size]
        if self.mask is not None:
            part = self.mask[span.part]
            permute.copy(part, kept.reshape(part.shape))
        else:
            self.test(self.values.view(self.numbers.dtype), kept)
        return kept

    def gather(self, positions: Array, out: Array) -> None:
        """Write the items at these positions of the loaded span. With ``mode="clip"`` NumPy needs no buffer."""
        self.values.take(positions, mode="clip", out=out)


class BlockReader:
    """A reader of blocks. Each counts as one item, which is selected if any element of the block is."""

    def __init__(self, x: Array, where: Where, block: tuple[int, int], size: int) -> None:
        self.items = ItemReader(x, where, size * math.prod(block))
        self.block, self.clears_rest = block, where is not None
        self.kept_buffer = np.empty(size, np.bool_)

    def count(self, span: Span) -> tuple[int, Array | None]:
        """Count the selected blocks. Their bits take another pass."""
        return int(np.count_nonzero(self.kept(span))), None

    def load(self, span: Span) -> None:
        """Load the span and its selected items."""
        self.kept(span)

    def kept(self, span: Span) -> Array:
        """Which blocks are selected. Reduces over the rows of each block first, because that is contiguous."""
        (top, bottom), (left, right) = ((axis.start, axis.stop) for axis in span.part)
        rows, columns = self.block
        part = slice(top * rows, bottom * rows), slice(left * columns, right * columns)
        size = span.size * rows * columns
        self.width = right - left
        # The span of the array under these blocks. It is contiguous in C order within the slices, which is all that the
        # reader of items needs; its start is not used.
        self.kept_items = self.items.kept(Span(part, span.start * rows * columns, size))
        lines = np.bitwise_or.reduce(self.kept_items.reshape(bottom - top, rows, -1), axis=1).reshape(-1, columns)
        kept = self.kept_buffer[: span.size]
        # NumPy's reduction along a short axis takes a call for each row; a loop over the columns takes one for each
        # column.
        if columns > NARROW:
            np.any(lines, axis=1, out=kept)
        else:
            kept[:] = reduce(np.bitwise_or, lines.T)
        return kept

    def gather(self, positions: Array, out: Array) -> None:
        """Write the blocks at these positions, row by row."""
        rows, columns = self.block
        # Block (i, j) of the span begins with the segment i * rows * width + j of `columns` items, and position = i *
        # width + j.
        quotients = positions // self.width
        first = positions + quotients * (self.width * (rows - 1))
        lines = first[:, np.newaxis] + np.arange(0, rows * self.width, self.width)
        self.items.values.reshape(-1, columns).take(lines, axis=0, mode="clip", out=out)
        # An element of a kept block that is not selected becomes 0. Without a predicate these elements are zeros, or
        # -0.0, already.
        if self.clears_rest:
            out[~self.kept_items.reshape(-1, columns).take(lines, axis=0)] = 0


Reader = ItemReader | BlockReader


def csr(x: Array, where: Where = None, index: np.dtype[Any] | None = None) -> Compressed:
    """The entries of a matrix that ``where`` selects, compressed along its rows.

    ``where``: None (items that are not zero; NaN is not), "relu" (items above zero), a number (items with a greater
    absolute value, in the precision of x), or a mask. The indices are int32 if possible, unless ``index`` is given.
    """
    indptr, indices, data = _compressed(partial(ItemReader, x, where), x.shape, (), x.dtype, index)
    return Compressed(indptr, indices, data, *x.shape)


def bsr(
    x: Array, block: tuple[int, int], where: Where = None, index: np.dtype[Any] | None = None
) -> tuple[Array, Array, Array]:
    """The blocks with selected items: indptr, indices, and data (blocks, r, c) with zeros for the other items."""
    grid = x.shape[0] // block[0], x.shape[1] // block[1]
    return _compressed(partial(BlockReader, x, where, block), grid, block, x.dtype, index)


def coo(x: Array, where: Where = None, index: np.dtype[Any] | None = None) -> tuple[Array, Array]:
    """The sorted coordinates (ndim, nnz) and values of the items that ``where`` selects, as for `csr`."""
    # Positions are sorted in C order, so the coordinates are too.
    compaction = _Compaction(partial(ItemReader, x, where), x.shape, 1)
    coords = np.empty((x.ndim, compaction.nnz), index or index_dtype(*x.shape))
    data = np.empty(compaction.nnz, x.dtype.newbyteorder("="))

    def place(span: Span, entries: slice, positions: Array) -> None:
        # The remainder is the coordinate along the axis; the quotient is the position among the axes before it.
        for axis in range(x.ndim - 1, 0, -1):
            positions = _divided(positions, x.shape[axis], coords[axis, entries])
        coords[0, entries] = positions

    compaction.fill(data, place)
    return coords, data


def _compressed(
    reader: Callable[[int], Reader],
    shape: tuple[int, ...],
    block: tuple[int, ...],
    dtype: np.dtype[Any],
    index: np.dtype[Any] | None,
) -> tuple[Array, Array, Array]:
    """The indptr, indices and data of a matrix; ``shape`` is counted in blocks."""
    rows, columns = shape
    compaction = _Compaction(reader, shape, math.prod(block))
    index = index or index_dtype(columns, compaction.nnz)
    indptr, indices = np.zeros(rows + 1, index), np.empty(compaction.nnz, index)
    data = np.empty((compaction.nnz, *block), dtype.newbyteorder("="))

    def place(span: Span, entries: slice, positions: Array) -> None:
        # A span is whole rows, or a part of one row: then first == last unless it ends the row. Each pointer is written
        # by the one span that ends its row, so threads do not write the same memory.
        first, last = span.start // columns, (span.start + span.size) // columns
        found = _divided(positions, columns, indices[entries])
        indptr[first + 1 : last + 1] = entries.start + _ends(found, first, last)

    compaction.fill(data, place)
    return indptr, indices, data


class _Compaction:
    """The spans of an array and the positions of their entries in the result."""

    def __init__(self, reader: Callable[[int], Reader], shape: tuple[int, ...], weight: int) -> None:
        """Count the entries. An item stands for ``weight`` elements of the array."""
        # Counted in items, so that a span has the same bytes for blocks as for elements.
        size = max(1, SPAN // weight)
        self.reader = partial(reader, size)
        self.spans = list(_spans(shape, size))
        self.numbers = math.prod(shape) * weight
        counted: list[tuple[int, Array | None]] = [(0, None)] * len(self.spans)

        def work(tasks: Iterable[tuple[int, Span]]) -> None:
            # Buffers for each thread.
            reader = self.reader()
            for k, span in tasks:
                counted[k] = reader.count(span)

        self._run(work, enumerate(self.spans))
        self.counted = counted
        # Position of the first entry of each span: the exclusive prefix sum of the counts.
        self.starts = list(accumulate((count for count, _ in counted), initial=0))
        self.nnz = self.starts[-1]

    def fill(self, data: Array, place: Callable[[Span, slice, Array], None]) -> None:
        """Write the entries to data, and call ``place`` for each span with the positions of its entries."""
        loops = compiled.loops("sparse") if self.numbers >= COMPILED else None
        set_bits = _set_bits if loops is None else loops.set_bits

        def work(tasks: Iterable[tuple[Span, int, Array | None]]) -> None:
            reader = self.reader()
            for span, start, bits in tasks:
                if bits is None:
                    bits = _packed(reader.kept(span))
                else:
                    reader.load(span)
                # Counted again: if another thread has written to x since, `set_bits` must not write beyond its array.
                positions = set_bits(bits, int(np.bitwise_count(bits).sum()))
                entries = slice(start, start + positions.size)
                reader.gather(positions, data[entries])
                positions += span.start
                place(span, entries, positions)

        tasks = zip(self.spans, self.starts, self.counted, strict=False)
        self._run(work, ((span, start, bits) for span, start, (_, bits) in tasks))

    def _run(self, work: Callable[[Iterable[Task]], None], tasks: Iterable[Task]) -> None:
        def quiet(tasks: Iterable[Task]) -> None:
            # Each thread has its own state. NaN is compared, and absolute values overflow.
            with np.errstate(all="ignore"):
                work(tasks)

        if self.numbers < SPREAD_ELEMENTS:
            quiet(tasks)
        else:
            threads.run(quiet, tasks)


def _spans(shape: tuple[int, ...], limit: int) -> Iterator[Span]:
    """Cut an array in C order, along one axis, into nearly equal spans of at most ``limit`` items."""
    if 0 in shape:
        return
    axis, inner = len(shape), 1
    # The innermost axes that fit the limit as a whole; the next one outwards is cut.
    while axis > 1 and inner * shape[axis - 1] <= limit:
        axis -= 1
        inner *= shape[axis]
    extent, start = shape[axis - 1], 0
    # As many cuts as the limit demands, of nearly equal lengths: the last span would be short otherwise.
    step = math.ceil(extent / math.ceil(extent / max(1, limit // inner)))
    within = tuple(slice(0, n) for n in shape[axis:])
    for outer in product(*map(range, shape[: axis - 1])):
        for first in range(0, extent, step):
            last = min(first + step, extent)
            span = Span((*(slice(k, k + 1) for k in outer), slice(first, last), *within), start, (last - first) * inner)
            yield span
            start += span.size


def _test(where: str | float | None, dtype: np.dtype[Any]) -> Test:
    """The predicate: a function from values to booleans, which it writes to the second argument."""
    if where is None or isinstance(where, str):
        return partial(_compared, np.greater if where == "relu" else np.not_equal, dtype.type(0))
    # Integers are compared with both bounds, because the absolute value of the least one overflows.
    if dtype.kind in "iu":
        return partial(_outside, *_bounds(where, np.iinfo(dtype)))
    with np.errstate(over="ignore"):
        # In the precision of x, as documented. A threshold beyond its range is infinite: no element is larger.
        limit = np.asarray(where).astype(dtype.type(0).real.dtype)[()]
    return partial(_longer, limit) if dtype.kind == "c" else partial(_outside, -limit, limit)


def _compared(compare: np.ufunc, zero: Any, numbers: Array, out: Array | None) -> Array:
    return compare(numbers, zero, out=out)


def _bounds(where: float, limits: np.iinfo[Any]) -> tuple[Any, Any]:
    """The bounds below and above which the absolute value of an integer is greater than ``where``.

    They have the dtype of the array: NumPy 2.1 crashes when it compares some views with an integer out of its range.
    """
    if where < 0:
        # Every integer is selected: each one is below min + 1 or above min.
        low, high = limits.min + 1, limits.min
    else:
        # No absolute value is greater than max + 1, which the least integer has. NaN compares False and gives it too.
        beyond = limits.max + 1
        # |x| > t is |x| > floor(t) for integers.
        limit = math.floor(where) if where <= beyond else beyond
        low, high = max(-limit, limits.min), min(limit, limits.max)
    return limits.dtype.type(low), limits.dtype.type(high)


def _outside(low: Any, high: Any, numbers: Array, out: Array | None) -> Array:
    # Without np.abs, which would write a temporary array of the dtype of x. NaN compares False both times.
    return np.logical_or(numbers < low, numbers > high, out=out)


def _longer(limit: Any, numbers: Array, out: Array | None) -> Array:
    return np.greater(np.abs(numbers), limit, out=out)


def _set_bits(bits: Array, count: int) -> Array:
    """The positions of the ``count`` bits that are set, like those of the compiled loop.

    If less than a tenth is set, NumPy jumps from one set item to the next, which is slower than a scan of all. So this
    function scans groups of eight first.
    """
    kept = np.unpackbits(bits.view(np.uint8), bitorder="little")
    # From a tenth on, NumPy's nonzero scans all items without branches.
    if count * 10 > kept.size:
        return np.flatnonzero(kept.view(np.bool_))
    # Eight booleans as one word: a word that is not 0 has a set item.
    words = kept.view(np.uint64)
    places = np.flatnonzero(words != 0)
    within = np.flatnonzero(words.take(places).view(np.bool_))
    # `within` counts items of the words that are not 0: eight for each.
    return places.take(within >> 3) * 8 + (within & 7)


def _divided(positions: Array, extent: int, remainders: Array) -> Array:
    """The quotients; writes the remainders. Faster than divmod because NumPy vectorizes it."""
    # NumPy vectorises the division by one number but not divmod: this takes a third of the time.
    quotients = positions // extent
    np.subtract(positions, quotients * extent, out=remainders, casting="unsafe")
    return quotients


def _ends(found: Array, first: int, last: int) -> Array:
    """For each row from ``first + 1`` to ``last``, the number of entries in ``found`` (sorted rows) before it."""
    # A binary search for each row, or one pass over the entries: whichever reads less.
    if (last - first) * 8 < found.size:
        return np.searchsorted(found, np.arange(first + 1, last + 1))
    return np.bincount(found - first, minlength=last - first)[: last - first].cumsum()


def _packed(kept: Array) -> Array:
    """A mask as bits, in whole words."""
    # Zeros, because the last word may be longer than the mask.
    bits = np.zeros(-(-kept.size // WORD), np.uint64)
    packed = np.packbits(kept.reshape(-1), bitorder="little")
    bits.view(np.uint8)[: packed.size] = packed
    return bits
