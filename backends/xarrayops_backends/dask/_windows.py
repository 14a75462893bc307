"""Functions of windows: convolutions, pooling and differences, with one task for each chunk of the result.

The task gets the part of x that its windows cover: the chunk of x where they begin, and what they need of the next
chunks. A window covers at most the chunk after its own, because chunks that are shorter than a window are joined first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import accumulate, pairwise, product
from operator import getitem
from typing import Any, Literal

import numpy as np
from dask.base import tokenize
from dask.highlevelgraph import HighLevelGraph

from xarrayops.plugin import Array
from xarrayops.plugin.arrays import Record
from xarrayops.plugin.backends import backend_by_name
from xarrayops.plugin.convolution import Windows
from xarrayops.plugin.generic import HOOKS, shaping, signal
from xarrayops_backends.dask import _blocks
from xarrayops_backends.dask._blocks import da

_Chunks = tuple[int, ...]


class _Piece(Record):
    """A chunk of the result along an axis: its windows cover x from start to stop, and elements of the padding."""

    length: int
    start: int
    stop: int
    before: int = 0
    after: int = 0


def convolution(x: Array, weights: Array, windows: Windows, groups: int, /) -> Array:
    """NumPy's convolution of each chunk."""
    axes = _spatial_axes(x, windows)
    x = _with_long_chunks(x, axes, windows.spans)
    pieces = _pieces(x, axes, windows)
    function = partial(_convolved, windows=windows, groups=groups)
    channels = (weights.shape[0],)
    return _mapped(function, x, pieces, weights, channels=((axes[-1] + 1) if windows.is_channels_last else 1, channels))


def pooling(x: Array, windows: Windows, kind: Literal["max", "sum"], /) -> Array:
    """NumPy's pooling of each chunk."""
    axes = _spatial_axes(x, windows)
    x = _with_long_chunks(x, axes, windows.spans)
    return _mapped(partial(_pooled, windows=windows, kind=kind), x, _pieces(x, axes, windows))


def differences(x: Array, n: int, axis: int) -> Array:
    """The n-th differences along an axis: NumPy's of each chunk."""
    windows = Windows((n + 1,), (1,), ((0, 0),), (1,), is_channels_last=False)
    x = _with_long_chunks(x, (axis,), windows.spans)
    return _mapped(partial(_differences, n=n, axis=axis), x, _pieces(x, (axis,), windows))


def sliding_window_view(x: Array, /, window_shape: Any, axis: Any = None, *, step: Any = 1) -> Array:
    """NumPy's windows of each chunk: only those at a multiple of the step are made."""
    for a, length, distance in shaping.windows(x, window_shape, axis, step):
        windows = Windows((length,), (distance,), ((0, 0),), (1,), is_channels_last=False)
        x = _with_long_chunks(_blocks.without_empty_chunks(x), (a,), windows.spans)
        x = _mapped(
            partial(_windows, length=length, axis=a, step=distance), x, _pieces(x, (a,), windows), last=(length,)
        )
    return x


def convolve(x1: Array, x2: Array, /, mode: str = "full") -> Array:
    """NumPy's convolution of each chunk of the longer vector."""
    return signal.convolved(_full, *_vectors("convolve", x1, x2), mode)


def correlate(x1: Array, x2: Array, /, mode: str = "valid") -> Array:
    """The convolution with the reversed conjugate."""
    x1, x2 = _vectors("correlate", x1, x2)
    return signal.correlated(_full, x1, da.conj(x2) if x2.dtype.kind == "c" else x2, mode, da.flip)


def _vectors(verb: str, x1: Array, x2: Array) -> tuple[Array, Array]:
    """The vectors without empty chunks, for which da.flip loses data."""
    _blocks.require_sizes(verb, x1, x2)
    return _blocks.without_empty_chunks(x1), _blocks.without_empty_chunks(x2)


def _full(long: Array, short: Array) -> Array:
    dtype = np.result_type(long.dtype, short.dtype)
    m = short.shape[0]
    windows = Windows((m,), (1,), ((m - 1, m - 1),), (1,), is_channels_last=False)
    long = _with_long_chunks(long.astype(dtype), (0,), windows.spans)
    return _mapped(_fully_convolved, long, _pieces(long, (0,), windows), short.astype(dtype))


def _convolved(x: Any, weights: Any, *, pieces: list[_Piece], windows: Windows, groups: int) -> Any:
    windows = windows._replace(padding=tuple((piece.before, piece.after) for piece in pieces))
    return _of_chunk("convolution", x)(x, weights, windows, groups)


def _pooled(x: Any, *, pieces: list[_Piece], windows: Windows, kind: str) -> Any:
    windows = windows._replace(padding=tuple((piece.before, piece.after) for piece in pieces))
    return _of_chunk("pooling", x)(x, windows, kind)


def _windows(x: Any, *, pieces: list[_Piece], length: int, axis: int, step: int) -> Any:
    windows = np.lib.stride_tricks.sliding_window_view(x, length, axis)
    return windows[(slice(None),) * axis + (slice(None, None, step),)]


def _differences(x: Any, *, pieces: list[_Piece], n: int, axis: int) -> Any:
    return np.diff(x, n, axis)


def _fully_convolved(long: Any, short: Any, *, pieces: list[_Piece]) -> Any:
    """The part of the full convolution of a chunk to which only this chunk contributes."""
    (piece,) = pieces
    start = len(short) - 1 - piece.before
    return backend_by_name("numpy").functions["convolve"](long, short, "full")[start : start + piece.length]


def _of_chunk(verb: str, x: Any) -> Callable[..., Any]:
    """NumPy's function, or the generic one for chunks of other libraries, to which NumPy dispatches."""
    if type(x) is np.ndarray:
        function: Callable[..., Any] = backend_by_name("numpy").functions[verb]
        return function
    return partial(HOOKS[verb], np)


def _spatial_axes(x: Array, windows: Windows) -> tuple[int, ...]:
    first = 1 if windows.is_channels_last else 2
    return tuple(range(first, first + len(windows.shape)))


def _with_long_chunks(x: Array, axes: tuple[int, ...], spans: tuple[int, ...]) -> Array:
    """x with chunks along the axes that are no shorter than a window, if the axis is not."""
    joined = {axis: tuple(_joined(x.chunks[axis], span)) for axis, span in zip(axes, spans, strict=True)}
    return x.rechunk({axis: chunks for axis, chunks in joined.items() if chunks != x.chunks[axis]})


def _joined(chunks: _Chunks, least: int) -> Iterator[int]:
    """The chunks, with those that are too short joined to the next; the last one is joined to the one before it."""
    rest = sum(chunks)
    length = 0
    for chunk in chunks:
        length += chunk
        if length == rest or min(length, rest - length) >= least:
            yield length
            rest, length = rest - length, 0
            if not rest:
                return


def _pieces(x: Array, axes: tuple[int, ...], windows: Windows) -> dict[int, list[_Piece]]:
    """The chunks of the result along each spatial axis: the windows that begin in a chunk of x."""
    counts = windows.counts(tuple(x.shape[axis] for axis in axes))
    sides = zip(axes, counts, windows.spans, windows.stride, windows.padding, strict=True)
    return {
        axis: list(_pieces_of_axis(x.chunks[axis], count, span, stride, padding))
        for axis, count, span, stride, padding in sides
    }


def _pieces_of_axis(chunks: _Chunks, count: int, span: int, stride: int, padding: tuple[int, int]) -> Iterator[_Piece]:
    size, first = sum(chunks), 0
    for end in accumulate(chunks):
        # Window i begins at i * stride in x with its padding; the last chunk gets what remains.
        last = count if end == size else min(count, -(-(end + padding[0]) // stride))
        if last > first:
            start, stop = first * stride - padding[0], (last - 1) * stride - padding[0] + span
            begin, end_inside = min(max(start, 0), size), min(max(stop, 0), size)
            before = min(max(-start, 0), stop - start)  # all of it, if the windows cover the padding only
            after = stop - start - before - (end_inside - begin)
            yield _Piece(last - first, begin, end_inside, before, after)
            first = last


def _mapped(
    function: Callable[..., Any],
    x: Array,
    pieces: dict[int, list[_Piece]],
    *whole: Array,
    channels: tuple[int, _Chunks] | None = None,
    last: _Chunks = (),
) -> Array:
    """Apply a function to the part of x that each piece of the result needs, and to whole arrays.

    The axis of ``channels`` becomes one chunk, and has these chunks in the result. ``last`` are the extents of axes
    that the function adds after the others, each one chunk.
    """
    x = x if channels is None else x.rechunk({channels[0]: -1})
    whole = tuple(each.rechunk(-1) for each in whole)
    name = f"windows-{tokenize(function, x.name, pieces, *(each.name for each in whole))}"
    keys = [(each.name, *(0,) * each.ndim) for each in whole]
    graph: dict[Any, Any] = {}
    needed = [
        [_needed(x.chunks[axis], piece) for piece in pieces[axis]]
        if axis in pieces
        else [[(k, slice(None))] for k in range(len(x.chunks[axis]))]
        for axis in range(x.ndim)
    ]
    for index in product(*(range(len(axis)) for axis in needed)):
        parts = _parts(x.name, name, graph, [axis[k] for axis, k in zip(needed, index, strict=True)])
        chosen = [pieces[axis][index[axis]] for axis in sorted(pieces)]
        graph[(name, *index, *(0,) * len(last))] = (partial(_of_parts, function, chosen), parts, *keys)
    chunks = [
        tuple(piece.length for piece in pieces[axis]) if axis in pieces else x.chunks[axis] for axis in range(x.ndim)
    ]
    if channels is not None:
        chunks[channels[0]] = channels[1]
    layers = HighLevelGraph.from_collections(name, graph, dependencies=[x, *whole])
    chunks += [(extent,) for extent in last]
    return da.Array(layers, name, chunks=tuple(chunks), meta=_blocks.meta(x, x.dtype, len(chunks)))


def _needed(chunks: _Chunks, piece: _Piece) -> list[tuple[int, slice]]:
    """The chunks of an axis that a piece needs, and which part of each."""
    bounds = pairwise(accumulate(chunks, initial=0))
    parts = [
        (k, slice(max(piece.start - begin, 0), min(piece.stop, end) - begin))
        for k, (begin, end) in enumerate(bounds)
        if begin < piece.stop and end > piece.start
    ]
    return [(k, slice(None) if (part.start, part.stop) == (0, chunks[k]) else part) for k, part in parts] or [
        (0, slice(0, 0))
    ]


def _parts(x: str, name: str, graph: dict[Any, Any], needed: list[Any], chosen: tuple[Any, ...] = ()) -> Any:
    """Nested lists of the keys of parts of x; a part of a chunk is a task, which pieces of the result share."""
    if len(chosen) < len(needed):
        return [_parts(x, name, graph, needed, (*chosen, each)) for each in needed[len(chosen)]]
    key = (x, *(k for k, _ in chosen))
    places = tuple(part for _, part in chosen)
    if all(part == slice(None) for part in places):
        return key
    of_part = (f"{name}-part", *key[1:], *(f"{part.start}:{part.stop}" for part in places))
    graph[of_part] = (getitem, key, places)
    return of_part


def _of_parts(function: Callable[..., Any], pieces: list[_Piece], parts: Any, *whole: Any) -> Any:
    x = parts
    while isinstance(x, list) and len(x) == 1:
        x = x[0]
    return function(da.core.concatenate3(parts) if isinstance(x, list) else x, *whole, pieces=pieces)
