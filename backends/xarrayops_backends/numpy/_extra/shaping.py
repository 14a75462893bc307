"""Diagonals, windows, parts, insertion and deletion."""

from __future__ import annotations

from typing import Any

import numpy as np

from xarrayops.plugin import Array, generic
from xarrayops.plugin.host import NUMBERS
from xarrayops_backends.numpy._guard import require_all_numbers

kron, outer = np.kron, np.outer


def sliding_window_view(x: Array, /, window_shape: Any, axis: Any = None, *, step: Any = 1) -> Array:
    """A slice of np.lib.stride_tricks.sliding_window_view, which copies nothing."""
    windows = np.lib.stride_tricks.sliding_window_view(x, window_shape, axis)
    if type(step) is int and step == 1:
        return windows
    slices = [slice(None)] * x.ndim
    for a, _, distance in generic.shaping.windows(x, window_shape, axis, step):
        slices[a] = slice(None, None, distance)
    return windows[tuple(slices)]


def atleast_nd(x: Array, /, ndim: int) -> Array:
    """A view with more axes."""
    return x if x.ndim >= ndim else x.reshape((*(1,) * (ndim - x.ndim), *x.shape))


def split(x: Array, indices_or_sections: Any, /, *, axis: int = 0) -> tuple[Array, ...]:
    """Slices, without the wrappers of np.split."""
    return generic.shaping.split(np, x, indices_or_sections, axis=axis)


def compress(condition: Array, x: Array, /, *, axis: int | None = None) -> Array:
    """The method, without the wrapper of np.compress."""
    return x.compress(condition, axis)


def diag(x: Array, /, k: int = 0) -> Array:
    """The method for matrices, without the wrapper of np.diag."""
    return x.diagonal(k) if x.ndim == 2 else np.diag(x, k)


def fill_diagonal(x: Array, value: Any, /, *, wrap: bool = False) -> Array:
    """np.fill_diagonal writes its argument; a number is written to a slice."""
    if x.dtype.kind not in NUMBERS:
        require_all_numbers("fill_diagonal", x)
    filled = x.copy()
    if getattr(value, "ndim", 0):
        np.fill_diagonal(filled, value, wrap)
    else:
        start, stop, step = generic.shaping.diagonal_slice(x.shape, wrap)
        filled.reshape(-1)[start:stop:step] = value
    return filled


def insert(x: Array, index: Any, values: Any, /, *, axis: int | None = None) -> Array:
    """np.insert also takes the axis by position."""
    require_all_numbers("insert", x, values)
    return np.insert(x, index, values, axis)


def delete(x: Array, index: Any, /, *, axis: int | None = None) -> Array:
    """np.delete raises IndexError for a fraction. Around one element of a vector, the pieces are joined."""
    if type(index) is int and x.ndim == 1 and 0 <= index < x.shape[0]:
        return np.concatenate((x[:index], x[index + 1 :]))
    if isinstance(index, float):
        raise TypeError(f"the index must be of integers, but it is {index!r}")
    return np.delete(x, index, axis)
