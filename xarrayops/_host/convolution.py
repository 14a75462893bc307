"""Convolutions over host memory: blocks of windows as columns of a matrix, which BLAS multiplies with the weights.

Chellapilla, Puri and Simard, High Performance Convolutional Neural Networks for Document Processing (2006). A block of
columns fits the cache of a core, so that the matrix of all windows, many times as large as the array, never exists.
Each thread has an image or a part of one, and BLAS uses one thread.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from itertools import pairwise
from math import prod
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

from xarrayops._host import blas, threads
from xarrayops.plugin.arrays import Record
from xarrayops.plugin.convolution import Windows

Array = np.ndarray[Any, Any]
# Bytes of a block of columns.
BLOCK_BYTES = 1 << 20
# Bytes of the elements of all windows at one position, for depthwise convolutions.
PLACE_BYTES = 1 << 17
# An image, and the first and the last row of windows of a part of it.
Part = tuple[int, int, int]


class Problem(Record):
    """A convolution. The channels are axis 1 of x and of the result, which are views if the windows have them last."""

    x: Array
    result: Array
    windows: Windows
    counts: tuple[int, ...]
    """The number of windows along each spatial axis."""


def convolution(x: Array, weights: Array, windows: Windows, groups: int) -> Array:
    """The convolution of float32 or float64 arrays: see the hook."""
    is_last = windows.is_channels_last
    out_channels, channels = weights.shape[:2]
    counts = windows.counts(x.shape[1:-1] if is_last else x.shape[2:])
    shape = (*counts, out_channels) if is_last else (out_channels, *counts)
    result = np.empty((x.shape[0], *shape), x.dtype)
    if not result.size or not channels:
        # A sum over no channels is 0; np.matmul would need memory for empty columns.
        result[...] = 0
        return result
    images, results = (np.moveaxis(each, -1, 1) if is_last else each for each in (x, result))
    problem = Problem(images, results, windows, counts)
    block = max(1, BLOCK_BYTES // (x.itemsize * channels * prod(windows.shape) * prod(counts[1:])))
    parts = _parts(x.shape[0], counts[0], block)
    # Depthwise: the matrix of a channel has one row, or few, so each element of a column would be written and read for
    # one multiplication.
    if channels == 1:
        threads.run(partial(_convolve_each, problem, weights), parts)
        return result
    work = partial(_convolve, problem, _matrices(weights, windows, groups), block)
    # Several threads call BLAS; its own threads would compete with them.
    blas.with_one_thread(lambda: threads.run(work, parts))
    return result


def _convolve_each(p: Problem, weights: Array, parts: Iterable[Part]) -> None:
    """Compute parts of a depthwise convolution: a sum over the positions in the window."""
    channels = p.x.shape[1]
    repeats = weights.shape[0] // channels
    # As many rows of windows as the cache holds: `total` is read and written once for each position in the window.
    rows = max(1, PLACE_BYTES // (p.x.itemsize * channels * prod(p.counts[1:])))
    steps = ((n, row, min(row + rows, last)) for n, first, last in parts for row in range(first, last, rows))
    for image, first, last in steps:
        padded = _in_memory_order(_padded(p.x[image], p.windows, first, last), p.windows)
        shape = (last - first, *p.counts[1:])
        term = _in_memory_order(_made(np.empty, (channels, *shape), p.x.dtype, p.windows), p.windows)
        for repeat in range(repeats):
            # Output channel c sees input channel c // repeats, so every repeats-th output channel, from `repeat` on,
            # sees all input channels once, in order.
            outputs = slice(repeat, None, repeats)
            total = _in_memory_order(p.result[image, outputs, first:last], p.windows)
            for i, at in enumerate(np.ndindex(p.windows.shape)):
                factors = weights[(outputs, 0, *at)]
                factors = factors if p.windows.is_channels_last else factors.reshape(-1, *(1,) * len(shape))
                # The first product is written directly, so the result needs no zeros before.
                np.multiply(_at(padded, p.windows, at, shape), factors, out=total if i == 0 else term)
                if i:
                    np.add(total, term, out=total)


def _at(padded: Array, windows: Windows, at: tuple[int, ...], shape: tuple[int, ...]) -> Array:
    """The elements of all windows at one position in the window."""
    starts = (k * step for k, step in zip(at, windows.dilation, strict=True))
    bounds = zip(starts, shape, windows.stride, strict=True)
    # The slice ends behind its last element: a + n * stride could be beyond the padded array.
    space = tuple(slice(a, a + (n - 1) * stride + 1, stride) for a, n, stride in bounds)
    return padded[space] if windows.is_channels_last else padded[(slice(None), *space)]


def _in_memory_order(x: Array, windows: Windows) -> Array:
    """A view of an image with the channels where the windows have them: NumPy's functions begin faster than on x."""
    return x.transpose(*range(1, x.ndim), 0) if windows.is_channels_last else x


def _made(make: Callable[..., Array], shape: tuple[int, ...], dtype: np.dtype[Any], windows: Windows) -> Array:
    """A new array with the channels first; in memory they are where the windows have them."""
    if windows.is_channels_last:
        return make((*shape[1:], shape[0]), dtype).transpose(-1, *range(len(shape) - 1))
    return make(shape, dtype)


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


def _convolve(p: Problem, matrices: list[Array], block: int, parts: Iterable[Part]) -> None:
    """Compute parts of the result, block by block."""
    columns: Array | None = None
    for image, first, last in parts:
        padded = _padded(p.x[image], p.windows, first, last)
        channels = padded.shape[0] // len(matrices)
        for start in range(first, last, block):
            counts = (min(block, last - start), *p.counts[1:])
            # A block of columns of one group: elements of a window and windows, in the order of the result.
            last_form, first_form = (*counts, *p.windows.shape, channels), (channels, *p.windows.shape, *counts)
            shape = last_form if p.windows.is_channels_last else first_form
            # One buffer for each thread and call: only the last block of an image is smaller.
            if columns is None or columns.size < prod(shape):
                columns = np.empty(prod(shape), p.x.dtype)
            buffer = columns[: prod(shape)].reshape(shape)
            rows = padded[:, (start - first) * p.windows.stride[0] :]
            _multiply(rows, p.result[image, :, start : start + counts[0]], matrices, p.windows, buffer)


def _padded(x: Array, windows: Windows, first: int, last: int) -> Array:
    """The rows of an image that some rows of windows see, with the padding."""
    taken, inside, shape = [slice(None)] * x.ndim, [slice(None)] * x.ndim, list(x.shape)
    for axis, (before, after) in enumerate(windows.padding, 1):
        extent = x.shape[axis]
        low, high = -before, extent + after
        if axis == 1:
            # Only the rows that windows `first` to `last` see. Windows overlap, so parts of an image share some rows.
            low, high = first * windows.stride[0] - before, (last - 1) * windows.stride[0] + windows.spans[0] - before
        # The padded part is [low, high) of the axis. Both slices are empty if it lies in the padding entirely.
        start, stop = (min(max(end, 0), extent) for end in (low, high))
        taken[axis], inside[axis], shape[axis] = slice(start, stop), slice(start - low, stop - low), high - low
    seen = x[tuple(taken)]
    # This part has no padding: a view of the image is enough.
    if seen.shape == tuple(shape):
        return seen
    padded = _made(np.zeros, tuple(shape), x.dtype, windows)
    padded[tuple(inside)] = seen
    return padded


def _multiply(padded: Array, result: Array, matrices: list[Array], windows: Windows, columns: Array) -> None:
    """Set a block of rows of the result; ``padded`` begins with the row that the first of their windows sees."""
    of_windows = tuple(s * step for s, step in zip(padded.strides[1:], windows.stride, strict=True))
    of_elements = tuple(s * step for s, step in zip(padded.strides[1:], windows.dilation, strict=True))
    channels, rank = padded.shape[0] // len(matrices), len(windows.shape)
    for group, matrix in enumerate(matrices):
        part = padded[group * channels : (group + 1) * channels]
        # A strided view repeats the elements of overlapping windows without memory; the copy makes it one dense matrix.
        # The view must not be written to, because several windows share an element.
        if windows.is_channels_last:
            strides = (*of_windows, *of_elements, part.strides[0])
            np.copyto(columns, as_strided(part, columns.shape, strides, writeable=False))
            outputs = _in_memory_order(result[group * matrix.shape[1] : (group + 1) * matrix.shape[1]], windows)
            # A view if there is one group; else its channels are not contiguous, and reshape makes a copy.
            target = outputs.reshape(prod(columns.shape[:rank]), -1, copy=None)
            np.matmul(columns.reshape(len(target), -1), matrix, out=target)
            if not np.may_share_memory(target, outputs):
                outputs[...] = target.reshape(outputs.shape)
        else:
            strides = (part.strides[0], *of_elements, *of_windows)
            np.copyto(columns, as_strided(part, columns.shape, strides, writeable=False))
            # The rows of all channels, which are not adjacent: the axes of an image are merged, which makes a view.
            outputs = result[group * matrix.shape[0] : (group + 1) * matrix.shape[0]]
            target = outputs.reshape(matrix.shape[0], -1, copy=False)
            np.matmul(matrix, columns.reshape(-1, target.shape[1]), out=target)
