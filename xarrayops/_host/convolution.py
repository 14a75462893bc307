"""Convolutions over host memory: blocks of windows as columns of a matrix, which BLAS multiplies with the weights.

Chellapilla, Puri and Simard, High Performance Convolutional Neural Networks for Document Processing (2006). A block of
columns fits the cache of a core, so that the matrix of all windows, many times as large as the array, never exists.
Each thread has an image or a part of one, and BLAS uses one thread.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from itertools import pairwise
from math import prod
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

from xarrayops._host import blas, threads
from xarrayops.plugin.convolution import Windows

Array = np.ndarray[Any, Any]
# Bytes of a block of columns.
BLOCK_BYTES = 1 << 20
# Bytes of the elements of all windows at one position, for depthwise convolutions.
PLACE_BYTES = 1 << 17
# An image, and the first and the last row of windows of a part of it.
Part = tuple[int, int, int]


def convolution(x: Array, weights: Array, windows: Windows, groups: int) -> Array:
    """The convolution of float32 or float64 arrays: see the hook."""
    out_channels, channels = weights.shape[:2]
    extents = x.shape[1:-1] if windows.is_channels_last else x.shape[2:]
    counts = windows.counts(extents)
    shape = (*counts, out_channels) if windows.is_channels_last else (out_channels, *counts)
    result = np.empty((x.shape[0], *shape), x.dtype)
    if not result.size or not channels:
        # A sum over no channels is 0; np.matmul would need memory for empty columns.
        result[...] = 0
        return result
    matrices = _matrices(weights, windows, groups)
    block = max(1, BLOCK_BYTES // (x.itemsize * channels * prod(windows.shape) * prod(counts[1:])))
    parts = _parts(x.shape[0], counts[0], block)
    # Depthwise: the matrix of a channel has one row, or few, so each element of a column would be written and read for
    # one multiplication.
    if channels == 1:
        threads.run(partial(_convolve_each, x, result, weights, windows, counts), parts)
        return result
    work = partial(_convolve, x, result, matrices, windows, counts, block)
    # Several threads call BLAS; its own threads would compete with them.
    blas.with_one_thread(lambda: threads.run(work, parts))
    return result


def _convolve_each(
    x: Array, result: Array, weights: Array, windows: Windows, counts: tuple[int, ...], parts: Iterable[Part]
) -> None:
    """Compute parts of a depthwise convolution: a sum over the positions in the window."""
    axis = -1 if windows.is_channels_last else 1
    repeats = weights.shape[0] // x.shape[axis]
    # As many rows of windows as the cache holds: `total` is read and written once for each position in the window.
    rows = max(1, PLACE_BYTES // (x.itemsize * x.shape[axis] * prod(counts[1:])))
    steps = ((n, row, min(row + rows, last)) for n, first, last in parts for row in range(first, last, rows))
    for image, first, last in steps:
        padded = _padded(x[image], windows, first, last)
        shape = (last - first, *counts[1:])
        whole = result[image, first:last] if windows.is_channels_last else result[image, :, first:last]
        term = np.empty((*shape, x.shape[-1]) if windows.is_channels_last else (x.shape[1], *shape), x.dtype)
        for repeat in range(repeats):
            # Output channel c sees input channel c // repeats, so every repeats-th output channel, from `repeat` on,
            # sees all input channels once, in order.
            outputs = slice(repeat, None, repeats)
            total = whole[..., outputs] if windows.is_channels_last else whole[outputs]
            for i, at in enumerate(np.ndindex(windows.shape)):
                factors = weights[(outputs, 0, *at)]
                factors = factors if windows.is_channels_last else factors.reshape(-1, *(1,) * len(shape))
                # The first product is written directly, so the result needs no zeros before.
                np.multiply(_at(padded, windows, at, shape), factors, out=total if i == 0 else term)
                if i:
                    np.add(total, term, out=total)


def _at(padded: Array, windows: Windows, at: tuple[int, ...], shape: tuple[int, ...]) -> Array:
    """The elements of all windows at one position in the window."""
    starts = (k * step for k, step in zip(at, windows.dilation, strict=True))
    bounds = zip(starts, shape, windows.stride, strict=True)
    # The slice ends behind its last element: a + n * stride could be beyond the padded array.
    space = tuple(slice(a, a + (n - 1) * stride + 1, stride) for a, n, stride in bounds)
    return padded[space] if windows.is_channels_last else padded[(slice(None), *space)]


def _matrices(weights: Array, windows: Windows, groups: int) -> list[Array]:
    """The weights of each group as a matrix, in the order of the elements of a column."""
    # Columns have the channels where the array has them, so that the copy into a column reads contiguous memory.
    ordered = np.moveaxis(weights, 1, -1) if windows.is_channels_last else weights
    rows = ordered.reshape(groups, weights.shape[0] // groups, -1)
    return [np.ascontiguousarray(group.T if windows.is_channels_last else group) for group in rows]


def _parts(images: int, rows: int, block: int) -> list[Part]:
    """Parts of work: whole images if there are enough for all threads."""
    # Two parts for each thread, so that none waits long for the last one; not more than there are blocks of rows.
    pieces = 1 if images >= 2 * threads.thread_count() else min(2 * threads.thread_count(), -(-rows // block))
    edges = [rows * i // pieces for i in range(pieces + 1)]
    return [(n, a, b) for n in range(images) for a, b in pairwise(edges) if b > a]


def _convolve(
    x: Array,
    result: Array,
    matrices: list[Array],
    windows: Windows,
    counts: tuple[int, ...],
    block: int,
    parts: Iterable[Part],
) -> None:
    """Compute parts of the result, block by block."""
    columns: Array | None = None
    for image, first, last in parts:
        padded = _padded(x[image], windows, first, last)
        for start in range(first, last, block):
            count = min(block, last - start)
            shape = _column_shape(padded, len(matrices), windows, (count, *counts[1:]))
            # One buffer for each thread and call: only the last block of an image is smaller.
            if columns is None or columns.size < prod(shape):
                columns = np.empty(prod(shape), x.dtype)
            _multiply(padded, result[image], matrices, windows, shape, start - first, start, columns)


def _padded(x: Array, windows: Windows, first: int, last: int) -> Array:
    """The rows of an image that some rows of windows see, with the padding."""
    axes = range(x.ndim - 1) if windows.is_channels_last else range(1, x.ndim)
    taken, inside, shape = [slice(None)] * x.ndim, [slice(None)] * x.ndim, list(x.shape)
    for i, axis in enumerate(axes):
        extent, (before, after) = x.shape[axis], windows.padding[i]
        low, high = -before, extent + after
        if i == 0:
            # Only the rows that windows `first` to `last` see. Windows overlap, so parts of an image share some rows.
            low, high = first * windows.stride[0] - before, (last - 1) * windows.stride[0] + windows.spans[0] - before
        # The padded part is [low, high) of the axis. Both slices are empty if it lies in the padding entirely.
        start, stop = (min(max(end, 0), extent) for end in (low, high))
        taken[axis], inside[axis], shape[axis] = slice(start, stop), slice(start - low, stop - low), high - low
    seen = x[tuple(taken)]
    # This part has no padding: a view of the image is enough.
    if seen.shape == tuple(shape):
        return seen
    padded = np.zeros(shape, x.dtype)
    padded[tuple(inside)] = seen
    return padded


def _column_shape(padded: Array, groups: int, windows: Windows, counts: tuple[int, ...]) -> tuple[int, ...]:
    """The shape of a block of columns of one group: elements of a window and windows, in the order of the result."""
    if windows.is_channels_last:
        return (*counts, *windows.shape, padded.shape[-1] // groups)
    return (padded.shape[0] // groups, *windows.shape, *counts)


def _multiply(
    padded: Array,
    result: Array,
    matrices: list[Array],
    windows: Windows,
    shape: tuple[int, ...],
    row: int,
    start: int,
    columns: Array,
) -> None:
    """One block of the result: the row of windows ``row`` of the padded part is ``start`` of the image."""
    rank = len(windows.shape)
    axis = 0 if windows.is_channels_last else 1
    spatial = padded.strides[axis : axis + rank]
    of_windows = tuple(s * step for s, step in zip(spatial, windows.stride, strict=True))
    of_elements = tuple(s * step for s, step in zip(spatial, windows.dilation, strict=True))
    buffer = columns[: prod(shape)].reshape(shape)
    channels = shape[-1] if windows.is_channels_last else shape[0]
    for group, matrix in enumerate(matrices):
        inputs = slice(group * channels, (group + 1) * channels)
        if windows.is_channels_last:
            part = padded[row * windows.stride[0] :, ..., inputs]
            strides = (*of_windows, *of_elements, part.strides[-1])
            count = prod(shape[:rank])
            outputs = slice(group * matrix.shape[1], (group + 1) * matrix.shape[1])
            # A view if there is one group; else its channels are not contiguous, and reshape makes a copy.
            target = result[start : start + shape[0], ..., outputs].reshape(count, -1, copy=None)
            # A strided view repeats the elements of overlapping windows without memory; the copy makes it one dense
            # matrix. The view must not be written to, because several windows share an element.
            np.copyto(buffer, as_strided(part, shape, strides, writeable=False))
            np.matmul(buffer.reshape(count, -1), matrix, out=target)
            if not np.may_share_memory(target, result):
                result[start : start + shape[0], ..., outputs] = target.reshape(*shape[:rank], -1)
        else:
            part = padded[inputs, row * windows.stride[0] :]
            strides = (part.strides[0], *of_elements, *of_windows)
            count = prod(shape[1 + rank :])
            outputs = slice(group * matrix.shape[0], (group + 1) * matrix.shape[0])
            np.copyto(buffer, as_strided(part, shape, strides, writeable=False))
            target = result[outputs].reshape(matrix.shape[0], -1)
            first = start * prod(shape[2 + rank :])
            np.matmul(matrix, buffer.reshape(-1, count), out=target[:, first : first + count])
