"""Dense to sparse: what a predicate keeps of an array, as CSR, COO or BSR.

The array is cut into spans, which are contiguous in C order and fit the second-level cache of a core. Threads first
count what each span keeps. From then on the place of each span in the result is known: it is allocated to the entry,
and threads fill it. What is kept is remembered in bits, so that of a contiguous array only the lines that hold entries
are read again; of so many items at most that beside the result nothing grows with the array.

To find the places while filling was tried, too. It needs room for the largest result possible, which systems refuse and
tools report as used, and threads that wait for each other.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from functools import partial, reduce
from itertools import accumulate, product
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np

from xarrayops._host import permute, threads
from xarrayops._host.sparse import fast
from xarrayops._host.sparse.compressed import Compressed, index_dtype

Array = np.ndarray[Any, Any]
Where = str | float | Array | None
Test = Callable[[Array, Array | None], Array]
Task = TypeVar("Task")

SPAN = 1 << 18
"""Items of a span, at most."""
REMEMBERED = 1 << 26
"""Items of which it is remembered whether they are kept: 8 MB of bits."""
SPREAD = 1 << 18
"""Items from which it pays to wake other threads."""
COMPILED = 1 << 20
"""Items from which it pays to load, and once to compile, a loop."""
WORD = 64
"""Bits of a word."""
NARROW = 16
"""Columns of a block up to which NumPy's reduction over them costs more than one pass for each."""


class Span(NamedTuple):
    """A part of an array that is contiguous in its C order: where it is, its first item, how many it has."""

    part: tuple[slice, ...]
    start: int
    size: int


class Reader(Protocol):
    """What one thread reads spans with, through buffers of its own."""

    def count(self, span: Span) -> tuple[int, Array | None]:
        """How many entries a span gives; and `bits`, where they are at hand."""

    def bits(self, span: Span) -> Array:
        """Whether each item gives one, in C order, as bits in whole words."""

    def load(self, span: Span) -> None:
        """Make ready to gather from a span, as ``bits`` does too."""

    def gather(self, positions: Array, out: Array) -> None:
        """The entries at these positions of the span that is loaded."""


class Items:
    """A reader of single items."""

    def __init__(self, x: Array, where: Where, size: int) -> None:
        self.x = x
        self.numbers = x.view(np.uint8) if x.dtype.kind == "b" else x  # compared without a cast of each bool
        self.mask = where if isinstance(where, np.ndarray) else None
        self.test = _test(None if isinstance(where, np.ndarray) else where, self.numbers.dtype)
        size = min(size, x.size)
        self.buffer, self.kept_buffer = np.empty(size, x.dtype), np.empty(size, np.bool_)

    def count(self, span: Span) -> tuple[int, Array | None]:
        """In whatever order the items lie."""
        if self.mask is not None:
            kept = self.mask[span.part]
        else:
            part = self.numbers[span.part]
            out = self.kept_buffer[: span.size].reshape(part.shape) if part.flags.c_contiguous else None
            kept = self.test(part, out)
        at_hand = kept.flags.c_contiguous and span.start < REMEMBERED
        return int(np.count_nonzero(kept)), _packed(kept) if at_hand else None

    def load(self, span: Span) -> None:
        """The values in C order."""
        part = self.x[span.part]
        if part.flags.c_contiguous:
            self.values = part.reshape(-1)
        else:
            self.values = self.buffer[: span.size]
            permute.copy(part, self.values.reshape(part.shape))

    def kept(self, span: Span) -> Array:
        """Whether each item is kept, in C order; one pass over the values."""
        self.load(span)
        kept = self.kept_buffer[: span.size]
        if self.mask is not None:
            part = self.mask[span.part]
            permute.copy(part, kept.reshape(part.shape))
        else:
            self.test(self.values.view(self.numbers.dtype), kept)
        return kept

    def bits(self, span: Span) -> Array:
        """One pass over the values."""
        return _packed(self.kept(span))

    def gather(self, positions: Array, out: Array) -> None:
        """In a mode in which NumPy writes to ``out`` itself."""
        self.values.take(positions, mode="clip", out=out)


class Blocks:
    """A reader of blocks, each of which counts as one item: kept, if anything in it is."""

    def __init__(self, x: Array, where: Where, block: tuple[int, int], size: int) -> None:
        self.items, self.block, self.choosy = Items(x, where, size * math.prod(block)), block, where is not None
        self.kept_buffer = np.empty(size, np.bool_)

    def count(self, span: Span) -> tuple[int, Array | None]:
        """A block at a time; their items must be looked at again."""
        return int(np.count_nonzero(self.kept(span))), None

    def load(self, span: Span) -> None:
        """All that there is to do."""
        self.kept(span)

    def bits(self, span: Span) -> Array:
        """One pass over the values."""
        return _packed(self.kept(span))

    def kept(self, span: Span) -> Array:
        """Any item of each block: first along its columns, where neighbours are taken together, then along its rows."""
        (top, bottom), (left, right) = ((axis.start, axis.stop) for axis in span.part)
        rows, columns = self.block
        part = slice(top * rows, bottom * rows), slice(left * columns, right * columns)
        size = span.size * rows * columns
        self.width = right - left
        self.kept_items = self.items.kept(Span(part, span.start * rows * columns, size))
        lines = np.bitwise_or.reduce(self.kept_items.reshape(bottom - top, rows, -1), axis=1).reshape(-1, columns)
        kept = self.kept_buffer[: span.size]
        if columns > NARROW:
            np.any(lines, axis=1, out=kept)
        else:
            kept[:] = reduce(np.bitwise_or, lines.T)
        return kept

    def gather(self, positions: Array, out: Array) -> None:
        """Line by line of each block."""
        rows, columns = self.block
        quotients = positions // self.width
        first = positions + quotients * (self.width * (rows - 1))
        lines = first[:, np.newaxis] + np.arange(0, rows * self.width, self.width)
        self.items.values.reshape(-1, columns).take(lines, axis=0, mode="clip", out=out)
        if self.choosy:
            out[~self.kept_items.reshape(-1, columns).take(lines, axis=0)] = 0


def csr(x: Array, where: Where = None, index: np.dtype[Any] | None = None) -> Compressed:
    """What ``where`` keeps of a matrix, compressed along its rows.

    ``where``: None (all but zeros; NaN is kept), "relu" (what is above zero), a number (what is further from zero, in
    the precision of x), or a mask. The indices are int32 where they fit, unless ``index`` asks for another dtype.
    """
    indptr, indices, data = _compressed(partial(Items, x, where), x.shape, (), x.dtype, index)
    return Compressed(indptr, indices, data, *x.shape)


def bsr(
    x: Array, block: tuple[int, int], where: Where = None, index: np.dtype[Any] | None = None
) -> tuple[Array, Array, Array]:
    """The blocks of which ``where`` keeps anything: indptr, indices, data (blocks, r, c), 0 where it keeps nothing."""
    grid = x.shape[0] // block[0], x.shape[1] // block[1]
    return _compressed(partial(Blocks, x, where, block), grid, block, x.dtype, index)


def coo(x: Array, where: Where = None, index: np.dtype[Any] | None = None) -> tuple[Array, Array]:
    """What ``where`` keeps of an array: its coordinates (ndim, nnz), sorted, and its values; ``where`` as for csr."""
    compaction = _Compaction(partial(Items, x, where), x.shape, 1)
    coords = np.empty((x.ndim, compaction.nnz), index or index_dtype(*x.shape))
    data = np.empty(compaction.nnz, x.dtype.newbyteorder("="))

    def place(span: Span, entries: slice, positions: Array) -> None:
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
    """The arrays of a matrix of that shape, counted in blocks."""
    rows, columns = shape
    compaction = _Compaction(reader, shape, math.prod(block))
    index = index or index_dtype(columns, compaction.nnz)
    indptr, indices = np.zeros(rows + 1, index), np.empty(compaction.nnz, index)
    data = np.empty((compaction.nnz, *block), dtype.newbyteorder("="))

    def place(span: Span, entries: slice, positions: Array) -> None:
        first, last = span.start // columns, (span.start + span.size) // columns
        found = _divided(positions, columns, indices[entries])
        indptr[first + 1 : last + 1] = entries.start + _ends(found, first, last)

    compaction.fill(data, place)
    return indptr, indices, data


class _Compaction:
    """The spans of an array and where their entries belong."""

    def __init__(self, reader: Callable[[int], Reader], shape: tuple[int, ...], weight: int) -> None:
        """Count; an item of that shape stands for ``weight`` numbers."""
        size = max(1, SPAN // weight)
        self.reader = partial(reader, size)
        self.spans = list(_spans(shape, size))
        self.numbers = math.prod(shape) * weight
        counted: list[tuple[int, Array | None]] = [(0, None)] * len(self.spans)

        def work(tasks: Iterable[tuple[int, Span]]) -> None:
            reader = self.reader()
            for k, span in tasks:
                counted[k] = reader.count(span)

        self._run(work, enumerate(self.spans))
        self.counted = counted
        self.starts = list(accumulate((count for count, _ in counted), initial=0))
        self.nnz = self.starts[-1]

    def fill(self, data: Array, place: Callable[[Span, slice, Array], None]) -> None:
        """Write the entries into data, and hand the items at which they were found to ``place``."""
        loops = fast.loops("compact") if self.numbers >= COMPILED else None
        set_bits = _set_bits if loops is None else loops.set_bits

        def work(tasks: Iterable[tuple[Span, int, Array | None]]) -> None:
            reader = self.reader()
            for span, start, bits in tasks:
                if bits is None:
                    bits = reader.bits(span)
                else:
                    reader.load(span)
                positions = set_bits(bits, int(np.bitwise_count(bits).sum()))  # not as counted: others may write to x
                entries = slice(start, start + positions.size)
                reader.gather(positions, data[entries])
                positions += span.start
                place(span, entries, positions)

        tasks = zip(self.spans, self.starts, self.counted, strict=False)
        self._run(work, ((span, start, bits) for span, start, (_, bits) in tasks))

    def _run(self, work: Callable[[Iterable[Task]], None], tasks: Iterable[Task]) -> None:
        def quiet(tasks: Iterable[Task]) -> None:
            with np.errstate(all="ignore"):  # for it is of each thread: NaN is compared, lengths overflow
                work(tasks)

        if self.numbers < SPREAD:
            quiet(tasks)
        else:
            threads.run(quiet, tasks)


def _spans(shape: tuple[int, ...], limit: int) -> Iterator[Span]:
    """Cut an array in C order, along one axis, into nearly equal spans of so many items at most."""
    if 0 in shape:
        return
    axis, inner = len(shape), 1
    while axis > 1 and inner * shape[axis - 1] <= limit:
        axis -= 1
        inner *= shape[axis]
    extent, start = shape[axis - 1], 0
    step = math.ceil(extent / math.ceil(extent / max(1, limit // inner)))
    within = tuple(slice(0, n) for n in shape[axis:])
    for outer in product(*map(range, shape[: axis - 1])):
        for first in range(0, extent, step):
            last = min(first + step, extent)
            span = Span((*(slice(k, k + 1) for k in outer), slice(first, last), *within), start, (last - first) * inner)
            yield span
            start += span.size


def _test(where: str | float | None, dtype: np.dtype[Any]) -> Test:
    """The predicate: from numbers to bools, which are written to the second argument."""
    if where is None or isinstance(where, str):
        return partial(_compared, np.greater if where == "relu" else np.not_equal, dtype.type(0))
    if dtype.kind in "iu":  # compared as integers, which the absolute value need not fit into
        return partial(_outside, *_bounds(where, np.iinfo(dtype)))
    with np.errstate(over="ignore"):
        limit = np.asarray(where).astype(dtype.type(0).real.dtype)[()]
    return partial(_longer if dtype.kind == "c" else _beyond, limit)


def _compared(compare: np.ufunc, zero: Any, numbers: Array, out: Array | None) -> Array:
    return compare(numbers, zero, out=out)


def _beyond(limit: Any, numbers: Array, out: Array | None) -> Array:
    return np.logical_or(numbers > limit, numbers < -limit, out=out)


def _bounds(where: float, limits: np.iinfo[Any]) -> tuple[Any, Any]:
    """An integer's absolute value is larger than ``where`` if it is below the first or above the second.

    They are of its dtype: NumPy 2.1 crashes where some views are compared with an integer that the dtype does not hold.
    """
    if where < 0:  # as every one is
        low, high = limits.min + 1, limits.min
    else:
        beyond = limits.max + 1  # what none exceeds, and nothing exceeds NaN
        limit = math.floor(where) if where <= beyond else beyond
        low, high = max(-limit, limits.min), min(limit, limits.max)
    return limits.dtype.type(low), limits.dtype.type(high)


def _outside(low: Any, high: Any, numbers: Array, out: Array | None) -> Array:
    return np.logical_or(numbers < low, numbers > high, out=out)


def _longer(limit: Any, numbers: Array, out: Array | None) -> Array:
    return np.greater(np.abs(numbers), limit, out=out)


def _set_bits(bits: Array, count: int) -> Array:
    """The numbers of the bits that are set, so many of them, as the compiled loop finds them.

    Up to one in ten NumPy jumps from one to the next, which takes more time than to look at all; so here it looks at
    words of eight first.
    """
    kept = np.unpackbits(bits.view(np.uint8), bitorder="little")
    if count * 10 > kept.size:
        return np.flatnonzero(kept.view(np.bool_))
    words = kept.view(np.uint64)
    places = np.flatnonzero(words != 0)
    within = np.flatnonzero(words.take(places).view(np.bool_))
    return places.take(within >> 3) * 8 + (within & 7)


def _divided(positions: Array, extent: int, remainders: Array) -> Array:
    """The quotients; divmod at the speed of vector instructions."""
    quotients = positions // extent
    np.subtract(positions, quotients * extent, out=remainders, casting="unsafe")
    return quotients


def _ends(found: Array, first: int, last: int) -> Array:
    """How many of these sorted rows come before each of the rows ``first + 1`` to ``last``."""
    if (last - first) * 8 < found.size:
        return np.searchsorted(found, np.arange(first + 1, last + 1))
    return np.bincount(found - first, minlength=last - first)[: last - first].cumsum()


def _packed(kept: Array) -> Array:
    """A mask as bits, in whole words."""
    bits = np.zeros(-(-kept.size // WORD), np.uint64)
    packed = np.packbits(kept.reshape(-1), bitorder="little")
    bits.view(np.uint8)[: packed.size] = packed
    return bits
