"""Sorting in descending order, which NumPy lacks."""

from __future__ import annotations

import numpy as np

from xarrayops.plugin import Array


def sort(x: Array, /, *, axis: int | None = -1, descending: bool = False, stable: bool = True) -> Array:
    """NumPy sorts only in ascending order."""
    result = np.sort(x, axis=axis, stable=stable)
    return np.flip(result, axis=axis) if descending else result


def argsort(x: Array, /, *, axis: int | None = -1, descending: bool = False, stable: bool = True) -> Array:
    """NumPy sorts only in ascending order; a stable descending order also needs the reversed input."""
    if not descending:
        return np.argsort(x, axis=axis, stable=stable)
    if axis is None:
        x, axis = x.reshape(-1), 0
    backward = np.argsort(np.flip(x, axis=axis), axis=axis, stable=stable)
    return x.shape[axis] - 1 - np.flip(backward, axis=axis)
