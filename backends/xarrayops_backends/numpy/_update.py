"""``xo.at`` on NumPy: updates of indexed elements."""

from __future__ import annotations

import types
from typing import Any

import numpy as np

from xarrayops.errors import Unsupported
from xarrayops.plugin import Array
from xarrayops.plugin.layout import permute

_UPDATES = {"add": np.add, "multiply": np.multiply, "min": np.minimum, "max": np.maximum}
_BASIC = (int, slice, types.EllipsisType, types.NoneType)
"""The types of index entries that give a view."""


def update(x: Array, index: Any, op: str, value: Any, /, *, copy: bool | None) -> Array:
    """Item assignment, or a ufunc on the indexed view; ``ufunc.at`` if the index may select an element twice."""
    if copy is False and not x.flags.writeable:
        raise Unsupported("x is read-only. Instead: copy=None or copy=True, and use the result")
    target = np.array(x) if copy or not x.flags.writeable else x  # also makes an array of a scalar, which is immutable
    view = _view(target, index)
    if op == "set":
        _set(target, index, view, value)
    elif view is None:
        _UPDATES[op].at(target, index, value)
    else:
        _UPDATES[op](view, value, out=view)
    return target


def _view(x: Array, index: Any) -> Array | None:
    """The view of x by an index of integers and slices, 0-d for an element; None for arrays, which would copy."""
    entries = index if type(index) is tuple else (index,)
    if not all(type(entry) in _BASIC for entry in entries):
        return None
    return x[index if any(entry is ... for entry in entries) else (*entries, ...)]


def _set(target: Array, index: Any, view: Array | None, value: Any) -> None:
    """``target[index] = value``; the host kernels serve large views, except those with short rows."""
    large = isinstance(value, np.ndarray) and value.size > permute.SMALL and value.shape[-1] >= permute.SHORT
    if view is not None and large:
        alike = (view.shape, view.dtype) == (value.shape, value.dtype)
        if alike and not np.may_share_memory(view, value):
            permute.copy(value, view)
            return
    target[index] = value
