"""Copies between strided views at memory bandwidth: merged axes, cache-sized blocks, threads.

A transposed copy reads along one axis and writes along another. NumPy copies item by item: each item is in another
cache line, and with strides near a power of two these lines share a few sets of the cache (numpy#18512, numpy#32453).
Here a block is first read into a scratch buffer along the axis in which the source is dense, and then written along
the axis in which the target is dense. Both steps are NumPy copies, which release the interpreter lock. A tiled loop
compiled by Numba was slower for every tested shape.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache, partial
from itertools import product
from math import gcd, prod
from typing import Any

import numpy as np

from xarrayops._host import threads, views
from xarrayops._host.views import LINE
from xarrayops.plugin.arrays import Record, compact_strides

Array = np.ndarray[Any, Any]
Slices = tuple[slice, ...]
Extents = tuple[int, ...]

# The number of items up to which NumPy alone is as fast.
SMALL = 1 << 17
# The number of items from which threads speed up a copy that NumPy does item by item.
MANY = 1 << 19
# The number of bytes from which threads speed up a copy through a buffer.
SPREAD_BYTES = 1 << 21
# The number of bytes from which threads speed up a copy that one thread does almost at memory bandwidth.
STREAM = 1 << 24
# The bytes of a block. The block and its source fit the second-level cache of a core.
BLOCK = 1 << 19
# The bytes of one contiguous read: several cache lines, so that the processor prefetches.
RUN = 1 << 9
# The lines of the buffer that one pass reads: they must stay in the first-level cache until the next pass.
LINES = 1 << 9
# The number of items up to which the fixed cost of NumPy's inner loop dominates.
SHORT = 8
# The sets and ways of the first-level cache. The address modulo 4096 determines the set. Caches have 8 or 12 ways;
# slightly more than that evicts few lines.
SETS, WAYS = 64, 13
# The dtype that copies items of this many bytes, whatever they represent.
_ITEMS = {1: "|u1", 2: "=u2", 4: "=u4", 8: "=u8", 16: "=c16"}


class Axis(Record):
    """One axis of a copy; strides in bytes."""

    extent: int
    source: int
    target: int


class CopyPlan(Record):
    """How to copy: the merged axes, the bytes of an item, the extents of a block.

    ``order``: the axes from the outermost to the innermost in the source, for blocks that are copied through a scratch
    buffer; None for blocks that NumPy copies directly.
    """

    axes: list[Axis]
    itemsize: int
    block: list[int]
    order: list[int] | None = None


def contiguous(source: Array) -> Array:
    """A new array in C order with the values of source. Without a plan, NumPy allocates and copies."""
    plan = _plan(source, None)
    target = (np.empty if plan is None else views.aligned)(source.shape, source.dtype)
    _execute(plan, source, target)
    return target


def copy(source: Array, target: Array) -> None:
    """``target[...] = source`` for arrays of one shape and dtype and any strides that do not overlap."""
    _execute(_plan(source, target.strides), source, target)


def _plan(source: Array, writing: Extents | None) -> CopyPlan | None:
    if source.size <= SMALL or source.dtype.hasobject:
        # Python objects are counted references, which must not be copied as bytes.
        return None
    return _planned(source.shape, source.strides, writing, source.itemsize)


def _execute(plan: CopyPlan | None, source: Array, target: Array) -> None:
    if plan is None:
        target[...] = source
        return
    # Any dtype is copied as items of its size, whatever they represent: the bits of a NaN and the bytes of padding are
    # kept.
    shape, reading, writing = zip(*plan.axes, strict=True)
    item, nbytes = _ITEMS.get(plan.itemsize, f"|V{plan.itemsize}"), source.nbytes
    source, target = views.of(source, shape, reading, typestr=item), views.of(target, shape, writing, typestr=item)
    if plan.order is None:
        work = partial(_copy_straight, source, target)
    else:
        work = partial(_copy_buffered, source, target, plan.block, plan.order)
    if nbytes < SPREAD_BYTES:
        work(_places(plan.axes, plan.block))
    else:
        threads.run(work, _places(plan.axes, plan.block))


@lru_cache(maxsize=1024)
def _planned(shape: Extents, reading: Extents, writing: Extents | None, itemsize: int) -> CopyPlan | None:
    """How to copy between strides in bytes (None: into C order); None if NumPy alone is fast.

    Cached: after a copy that has filled the CPU caches, Python code runs slower.
    """
    axes, size = _folded(shape, reading, writing or compact_strides(shape, itemsize), itemsize)
    # The axis along which the source is densest; the innermost of several, whose writes are dense too.
    read = min(reversed(range(len(axes))), key=lambda k: abs(axes[k].source))
    straight, stepped = _is_straight(axes, read), axes[-1].extent < SHORT <= axes[read].extent
    # `stepped`: NumPy's inner loop would be over a last axis of few items although a longer dense one exists.
    if straight and not stepped:
        # Source and target are dense along the same axis: memory is the limit, and more threads help only beyond the
        # caches.
        streams = read == len(axes) - 1
        if prod(shape) < MANY or (streams and prod(shape) * itemsize < STREAM):
            return None
    if straight:
        return CopyPlan(axes, size, _straight_block(axes, size, stepped=stepped))
    # The axis that is read is innermost, then axes by increasing stride: the buffer is filled in the order of the
    # source.
    order = sorted(range(len(axes)), key=lambda k: (k != read, abs(axes[k].source)), reverse=True)
    return CopyPlan(axes, size, _buffered_block(axes, size, read), order)


def _copy_straight(source: Array, target: Array, places: Iterable[Slices]) -> None:
    for place in places:
        target[place] = source[place]


def _copy_buffered(source: Array, target: Array, block: list[int], order: list[int], places: Iterable[Slices]) -> None:
    """Copy through a scratch buffer with the axis order of the source; its rows are padded to use many cache sets."""
    # Rows of a power of two bytes would all begin in the same cache set; one more line shifts each row to the next set.
    extents = [block[k] for k in order]
    extents[-1] += LINE // source.itemsize
    scratch = np.empty(extents, source.dtype).transpose([order.index(k) for k in range(len(order))])
    for place in places:
        part = source[place]
        # Blocks at the edges are smaller; the buffer is used in part.
        dense = scratch[tuple(map(slice, part.shape))]
        dense[...] = part
        target[place] = dense


def _folded(shape: Extents, reading: Extents, writing: Extents, itemsize: int) -> tuple[list[Axis], int]:
    """The fewest axes that describe the copy, in the order of the target, and the size of the copied items."""
    # Axes of extent 1 are never stepped along, so their strides do not matter. At least one axis is left, because the
    # array has more than SMALL items.
    axes = [Axis(*axis) for axis in zip(shape, reading, writing, strict=True) if axis[0] > 1]
    axes.sort(key=lambda axis: axis.target, reverse=True)
    folded: list[Axis] = []
    for axis in axes:
        # Two axes merge if a step along the outer one equals a whole pass along the inner one, on both sides.
        if folded and folded[-1][1:] == (axis.source * axis.extent, axis.target * axis.extent):
            folded[-1] = axis._replace(extent=folded[-1].extent * axis.extent)
        else:
            folded.append(axis)
    # A short axis that is contiguous on both sides, such as the three channels of a pixel, is one larger item.
    run = folded[-1].extent * itemsize
    if len(folded) > 1 and run <= LINE and folded[-1][1:] == (itemsize, itemsize):
        return folded[:-1], run
    return folded, itemsize


def _is_straight(axes: list[Axis], read: int) -> bool:
    """Whether NumPy alone is fast: each cache line of the source is still cached when its next item is read.

    Between two items of a line NumPy goes through all axes after ``read``. The line stays cached if few of the lines
    read in between share a set.
    """
    *_, written = axes
    between = prod(axis.extent for axis in axes[read + 1 :])
    # Lines at multiples of a stride fall into as many different sets as the stride has residues modulo SETS * LINE. A
    # stride of a multiple of 4096 bytes has one: WAYS lines fill it.
    sets = min(SETS, SETS * LINE // gcd(SETS * LINE, abs(written.source)))
    return between <= WAYS * sets or axes[read].extent < SHORT or written.extent < SHORT


def _buffered_block(axes: list[Axis], itemsize: int, read: int) -> list[int]:
    """The extents of a block: a run along the axis that is read, lines along the axis that is written, then what fits.

    Copies are few and large, because each one takes the interpreter lock, for which other threads may wait.
    """
    # Priorities: first a run, because a cache line that is read should be used completely; then lines to write; then
    # whatever still fits the block.
    block, written, most = [1] * len(axes), len(axes) - 1, BLOCK // itemsize
    others = [(k, most) for k in reversed(range(written)) if k != read]
    for k, wanted in [(read, RUN // itemsize), (written, LINES), (read, most), *others, (written, most)]:
        # The extent that fits if only this one changes.
        room = most // (prod(block) // block[k])
        block[k] = max(block[k], min(axes[k].extent, wanted, room))
    return block


def _straight_block(axes: list[Axis], itemsize: int, *, stepped: bool) -> list[int]:
    """The extents of a block. A short last axis has extent 1 in a block, so that NumPy's inner loop is long."""
    block = [1] * len(axes)
    room = BLOCK // itemsize // (axes[-1].extent if stepped else 1)
    # From the innermost axis outwards, so that a block is as contiguous in the target as possible.
    for k in reversed(range(len(axes) - stepped)):
        block[k] = max(1, min(axes[k].extent, room // prod(block)))
    return block


def _places(axes: list[Axis], block: list[int]) -> Iterable[Slices]:
    return product(
        *([slice(i, i + step) for i in range(0, axis.extent, step)] for axis, step in zip(axes, block, strict=True))
    )
