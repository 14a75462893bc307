"""Convolutions and pooling. The generic functions take one step for each element of a window."""

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
    x = _channels_second(xp, x, windows)
    counts = windows.counts(tuple(x.shape[2:]))
    batch, channels, out = x.shape[0], x.shape[1] // groups, weights.shape[0] // groups
    padded = _padded(xp, x, windows, 0)

    def products() -> Iterator[Array]:
        for at, part in zip(_offsets(windows), _parts(padded, windows, counts), strict=True):
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
    x = _channels_second(xp, x, windows)
    padded = _padded(xp, x, windows, _lowest(xp, x.dtype) if kind == "max" else 0)
    combine = xp.maximum if kind == "max" else xp.add
    result = reduce(combine, _parts(padded, windows, windows.counts(tuple(x.shape[2:]))))
    return xp.moveaxis(result, 1, -1) if windows.is_channels_last else result


def _lowest(xp: ModuleType, dtype: Any) -> Any:
    """The least value of a real dtype."""
    return -float("inf") if xp.isdtype(dtype, "real floating") else xp.iinfo(dtype).min


def _channels_second(xp: ModuleType, x: Array, windows: Windows) -> Array:
    return xp.moveaxis(x, -1, 1) if windows.is_channels_last else x


def _padded(xp: ModuleType, x: Array, windows: Windows, value: Any) -> Array:
    """x with its padding along the spatial axes."""
    for axis, pair in enumerate(windows.padding, 2):
        if any(pair):
            edge = xp.full_like(xp.sum(x, axis=axis, keepdims=True, dtype=x.dtype), value)  # on the device of x
            before, after = (xp.broadcast_to(edge, (*x.shape[:axis], n, *x.shape[axis + 1 :])) for n in pair)
            x = xp.concat([before, x, after], axis=axis)
    return x


def _offsets(windows: Windows) -> Iterator[tuple[int, ...]]:
    """The positions in a window."""
    return product(*map(range, windows.shape))


def _parts(padded: Array, windows: Windows, counts: tuple[int, ...]) -> Iterator[Array]:
    """For each position in a window, the elements of all windows at that position."""
    for at in _offsets(windows):
        starts = (i * step for i, step in zip(at, windows.dilation, strict=True))
        bounds = zip(starts, counts, windows.stride, strict=True)
        yield padded[(..., *(slice(a, a + (n - 1) * stride + 1, stride) for a, n, stride in bounds))]
