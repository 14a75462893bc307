"""Places of NumPy's arrays, updated."""

from __future__ import annotations

import types
from typing import Any

import numpy as np

from xarrayops.errors import Unsupported
from xarrayops.plugin import Array
from xarrayops.plugin.layout import permute

_UPDATES = {"add": np.add, "multiply": np.multiply, "min": np.minimum, "max": np.maximum}
_BASIC = (int, slice, types.EllipsisType, types.NoneType)
"""What an index gives a view by."""


def update(x: Array, index: Any, op: str, value: Any, /, *, copy: bool | None) -> Array:
    """Item assignment, or a ufunc into what the index shows; ``ufunc.at`` where that may show a place twice."""
    if copy is False and not x.flags.writeable:
        raise Unsupported("x is read-only. Instead: copy=None or copy=True, and use the result")
    target = np.array(x) if copy or not x.flags.writeable else x  # an array also of a scalar, which nothing can update
    view = _view(target, index)
    if op == "set":
        _set(target, index, view, value)
    elif view is None:
        _UPDATES[op].at(target, index, value)
    else:
        _UPDATES[op](view, value, out=view)
    return target


def _view(x: Array, index: Any) -> Array | None:
    """What an index of numbers and slices shows of x, 0-d for an element; None for one of arrays, which copies."""
    entries = index if type(index) is tuple else (index,)
    if not all(type(entry) in _BASIC for entry in entries):
        return None
    return x[index if any(entry is ... for entry in entries) else (*entries, ...)]


def _set(target: Array, index: Any, view: Array | None, value: Any) -> None:
    """``target[index] = value``: of a large view by the host kernels, but for short rows, of which lines hold few."""
    large = isinstance(value, np.ndarray) and value.size > permute.SMALL and value.shape[-1] >= permute.SHORT
    if view is not None and large:
        alike = (view.shape, view.dtype) == (value.shape, value.dtype)
        if alike and not np.may_share_memory(view, value):
            permute.copy(value, view)
            return
    target[index] = value
