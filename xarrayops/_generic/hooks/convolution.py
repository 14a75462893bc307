"""Convolutions, with a step for each element of a window, and pooling, with one for each place along each axis."""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce
from itertools import product
from math import prod
from types import ModuleType
from typing import Any, Literal

from xarrayops.plugin.arrays import Array
from xarrayops.plugin.convolution import Windows
from xarrayops.plugin.precision import HALVES


def convolution(xp: ModuleType, x: Array, weights: Array, windows: Windows, groups: int, /) -> Array:
    """For each output channel, the sum of x times the weights over each window.

    x has a batch axis, a channel axis and spatial axes; the weights have axes for output channels, the input channels
    of a group, and space. Both have the same dtype: real or complex floating-point, or integers. Shapes fit, and there
    is at least one window.
    """
    dtype = x.dtype
    if str(dtype).endswith(HALVES):
        x, weights = (xp.astype(y, xp.float32) for y in (x, weights))
    x = xp.moveaxis(x, -1, 1) if windows.is_channels_last else x
    counts = windows.counts(tuple(x.shape[2:]))
    batch, channels, out = x.shape[0], x.shape[1] // groups, weights.shape[0] // groups
    padded = x
    for axis, pair in enumerate(windows.padding, 2):
        padded = _padded(xp, padded, axis, pair, 0)

    def products() -> Iterator[Array]:
        for at, part in _parts(padded, windows, counts):
            columns = xp.reshape(part, (batch, groups, channels, prod(counts)))
            of_element = xp.reshape(weights[(slice(None), slice(None), *at)], (groups, out, channels))
            yield xp.matmul(of_element, columns)

    result = xp.reshape(reduce(xp.add, products()), (batch, groups * out, *counts))
    result = xp.moveaxis(result, 1, -1) if windows.is_channels_last else result
    return xp.astype(result, dtype) if result.dtype != dtype else result


def pooling(xp: ModuleType, x: Array, windows: Windows, kind: Literal["max", "sum"], /) -> Array:
    """The largest element or the sum of each window of each channel, ignoring padding.

    There is at least one window, and each contains an element of x.
    """
    combine, edge = (xp.maximum, _lowest(xp, x.dtype)) if kind == "max" else (xp.add, 0)
    first = 1 if windows.is_channels_last else 2
    for axis, n in enumerate(windows.counts(tuple(x.shape[first:][: len(windows.shape)]))):
        padded, before = _padded(xp, x, first + axis, windows.padding[axis], edge), (slice(None),) * (first + axis)
        places = (_places(windows, axis, i, n) for i in range(windows.shape[axis]))
        x = reduce(combine, (padded[(*before, each, ...)] for each in places))
    return x if windows.shape[-1] > 1 else xp.asarray(x, copy=True)  # a slice may be a view


def _lowest(xp: ModuleType, dtype: Any) -> Any:
    """The least value of a real dtype."""
    return -float("inf") if xp.isdtype(dtype, "real floating") else xp.iinfo(dtype).min


def _padded(xp: ModuleType, x: Array, axis: int, pair: tuple[int, int], value: Any) -> Array:
    """x with its padding along a spatial axis."""
    if not any(pair):
        return x
    line = x[(*(slice(None),) * axis, slice(1), ...)]
    if x.shape[axis] == 0:
        line = xp.sum(x, axis=axis, keepdims=True, dtype=x.dtype)
    edge = xp.full_like(line, value)  # on the device of x
    before, after = (xp.broadcast_to(edge, (*x.shape[:axis], n, *x.shape[axis + 1 :])) for n in pair)
    return xp.concat([before, x, after], axis=axis)


def _parts(padded: Array, windows: Windows, counts: tuple[int, ...]) -> Iterator[tuple[tuple[int, ...], Array]]:
    """Each position in a window, and the elements of all windows at that position."""
    for at in product(*map(range, windows.shape)):
        yield at, padded[(..., *(_places(windows, axis, i, counts[axis]) for axis, i in enumerate(at)))]


def _places(windows: Windows, axis: int, i: int, count: int) -> slice:
    """The places of element i of all windows along a spatial axis."""
    first, stride = i * windows.dilation[axis], windows.stride[axis]
    return slice(first, first + (count - 1) * stride + 1, stride)
