"""Differences of NumPy before 2.3 from the standard and from later versions; `PATCHES` has replacements by name.

It is empty with later versions.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from xarrayops.plugin import Array

_COMPARISONS = ("equal", "not_equal", "less", "less_equal", "greater", "greater_equal")


def _is_before(version: str) -> bool:
    return np.lib.NumpyVersion(np.__version__) < version


def _take_along_axis(x: Array, indices: Array, /, *, axis: int = -1) -> Array:
    """Before 2.3 the axis is required."""
    return np.take_along_axis(x, indices, axis)


def _count_nonzero(x: Array, /, *, axis: int | tuple[int, ...] | None = None, keepdims: bool = False) -> Array:
    """Before 2.3 the count over all axes is a Python integer."""
    return np.asarray(np.count_nonzero(x, axis=axis, keepdims=keepdims))[()]


def _compared(compare: np.ufunc, x1: Any, x2: Any, /) -> Array:
    """NumPy 2.1 crashes if x1 is not contiguous and x2 is a Python integer that the dtype of x1 cannot hold."""
    if isinstance(x2, int) and isinstance(x1, np.ndarray) and not x1.flags.forc:
        x1 = x1.copy()
    return compare(x1, x2)


def unshared(entries: tuple[Any, ...], target: Array) -> tuple[Any, ...]:
    """The entries of an index, for an assignment to the target.

    Before 2.3 NumPy reads arrays of indices while it writes the target, and crashes if they share its memory.
    """
    if not _READS_INDICES_LATE:
        return entries
    return tuple(e.copy() if isinstance(e, np.ndarray) and np.may_share_memory(e, target) else e for e in entries)


_READS_INDICES_LATE = _is_before("2.3.0")
PATCHES: dict[str, Callable[..., Any]] = {}
if _is_before("2.3.0"):
    PATCHES |= {"take_along_axis": _take_along_axis, "count_nonzero": _count_nonzero}
if _is_before("2.2.0"):
    PATCHES |= {name: partial(_compared, getattr(np, name)) for name in _COMPARISONS}
