"""Memory layouts of arrays that kernels may get: strided, between other values, at odd addresses, read-only."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

Array = np.ndarray[Any, Any]
Placement = Callable[[Array], tuple[Array, Array]]
"""Maps an array to an equal array in other memory, and returns the memory around it."""
BORDER = 64
"""The minimum number of elements before and after an array. It is the size of the array if that is larger, so that a
kernel that ignores strides stays within the memory."""


def poison(dtype: np.dtype[Any]) -> Any:
    """A value that no correct result contains."""
    if dtype.kind in "fc":
        return np.nan
    return True if dtype.kind == "b" else np.iinfo(dtype).max


def _placed(
    x: Array, strides: tuple[int, ...], *, first: int = 0, before: int = 0, skipped: int = 0
) -> tuple[Array, Array]:
    """An array with these strides, in elements, between poison; ``skipped`` bytes after the beginning of the memory.

    ``first`` is the number of elements of the array before its first one, and ``before`` of those before the border.
    """
    border = max(BORDER, x.size)
    length = before + 2 * border + (2 * x.size if strides else 1)
    memory = np.zeros(length * x.itemsize + skipped, np.uint8)
    whole = memory[skipped:].view(x.dtype)
    whole[...] = poison(x.dtype)
    inner = as_strided(whole[before + border + first :], x.shape, [s * x.itemsize for s in strides])
    inner[...] = x
    return inner, memory


def _steps(shape: tuple[int, ...]) -> tuple[int, ...]:
    """The strides of a C-contiguous array, in elements."""
    return tuple(prod(shape[axis + 1 :]) for axis in range(len(shape)))


def between_poison(x: Array) -> tuple[Array, Array]:
    """A C-contiguous copy of an array between poison, and the memory of both."""
    return _placed(x, _steps(x.shape))


def _shifted(x: Array) -> tuple[Array, Array]:
    return _placed(x, _steps(x.shape), before=1)


def _unaligned(x: Array) -> tuple[Array, Array]:
    return _placed(x, _steps(x.shape), skipped=1)


def _strided(x: Array) -> tuple[Array, Array]:
    return _placed(x, tuple(2 * step for step in _steps(x.shape)))


def _reversed(x: Array) -> tuple[Array, Array]:
    return _placed(x, tuple(-step for step in _steps(x.shape)), first=max(x.size - 1, 0))


def _transposed(x: Array) -> tuple[Array, Array]:
    return _placed(x, _steps(x.shape[::-1])[::-1])


def _readonly(x: Array) -> tuple[Array, Array]:
    inner, memory = between_poison(x)
    inner.flags.writeable = False
    return inner, memory


PLACEMENTS: dict[str, Placement] = {
    "contiguous, between other values": between_poison,
    "contiguous, at an odd element": _shifted,
    "unaligned": _unaligned,
    "with strides": _strided,
    "with negative strides": _reversed,
    "in Fortran order": _transposed,
    "read-only": _readonly,
}
