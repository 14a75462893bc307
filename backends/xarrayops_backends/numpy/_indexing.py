"""``xo.at`` on NumPy: indexed elements, and updates of them. An index has NumPy's meaning."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from xarrayops.errors import Unsupported
from xarrayops.plugin import Array, Index
from xarrayops.plugin.host import NUMBERS, elementwise, permute
from xarrayops.plugin.indexing import UFUNCS
from xarrayops_backends.numpy._compat import unshared as _unshared
from xarrayops_backends.numpy._guard import ARRAY_TYPES, require_numbers as _require_numbers

UPDATES: dict[str, np.ufunc] = {op: getattr(np, name) for op, name in UFUNCS.items()}
"""The ufunc of each operation."""
# The number of elements from which the indices of elements are worthwhile.
_MANY = 128
# The number of such indices in one step, which limits their memory.
_BLOCK = 1 << 16


def update(x: Array, index: Index, op: str, value: Any, /, *, copy: bool | None) -> Array:
    """Item assignment, or a ufunc on the indexed view; ``ufunc.at`` if the index may select an element twice."""
    if copy is False and not x.flags.writeable:
        raise Unsupported("x is read-only. Instead: copy=None or copy=True, and use the result")
    target = np.array(x) if copy or not x.flags.writeable else x  # also makes an array of a scalar, which is immutable
    is_array = isinstance(value, ARRAY_TYPES)
    if not index.is_basic:
        _check(x, index)
    if x.dtype.kind not in NUMBERS or (is_array and value.dtype.kind not in NUMBERS):
        _require_numbers("at", value if x.dtype.kind in NUMBERS else x)
    if op == "set":
        if not (is_array and value.size > permute.SMALL and _copied(target, index, value)):
            _set(target, index, value)
        return target
    if is_array:
        value = value.astype(x.dtype, copy=False)
    if index.is_basic:
        view = _view(target, index)
        if is_array and value.ndim > view.ndim:
            value = value.reshape(index.selection(x.shape).padded(value.shape))
        elif not is_array and op in ("min", "max") and elementwise.is_served(view):
            elementwise.extremum(UPDATES[op], view, value, view)
            return target
        UPDATES[op](view, value, out=view)
    else:
        _accumulate(UPDATES[op], target, index.entries, _broadcast(x, index, value) if is_array else value)
    return target


def _accumulate(ufunc: np.ufunc, target: Array, entries: tuple[Any, ...], value: Any) -> None:
    """``ufunc.at``. For rows it takes 3 to 8 times as long as for their elements, so rows are indexed by element."""
    ids, row = entries[0], math.prod(target.shape[1:])
    if len(entries) == 1 < row and getattr(ids, "ndim", 0) == 1 and ids.dtype.kind in "iu" and ids.size * row >= _MANY:
        is_in_range = ids.min() >= -len(target) and ids.max() < len(target)
        if is_in_range and target.flags.c_contiguous and np.ndim(value) in (0, target.ndim):
            step = max(_BLOCK // row, 1)
            for part in (slice(i, i + step) for i in range(0, ids.size, step)):
                places = ids[part].astype(np.intp)[:, None] * row + np.arange(row)
                ufunc.at(target.reshape(-1), places.reshape(-1), value[part].reshape(-1) if np.ndim(value) else value)
            return
    ufunc.at(target, entries, value)


def _set(target: Array, index: Index, value: Any) -> None:
    """``target[index] = value``. NumPy refuses leading axes of extent 1 for some values only."""
    entries = index.entries if index.is_basic else _unshared(index.entries, target)
    try:
        target[entries] = value
    except (TypeError, ValueError):
        target[entries] = value.reshape(index.selection(target.shape).padded(value.shape))


def _broadcast(x: Array, index: Index, value: Array) -> Array:
    """The value in the shape of the selected elements. ``ufunc.at`` reads beyond other values, and may crash."""
    entry = index.entries[0]
    if value.ndim == 0 or (x.ndim == len(index.entries) == 1 and entry.shape == value.shape and entry.dtype != bool):
        return value
    shape = x[index.entries].shape
    if value.ndim > len(shape):
        value = value.reshape(index.selection(x.shape).padded(value.shape))
    return np.broadcast_to(value, shape)


def _check(x: Array, index: Index) -> None:
    """NumPy does not compare extents of 0 of a mask with the extents of x."""
    for entry in index.entries:
        if isinstance(entry, ARRAY_TYPES):
            _require_numbers("at", entry)
    if not all(getattr(entry, "size", 1) for entry in index.entries):
        index.selection(x.shape)


def _view(x: Array, index: Index) -> Array:
    """The view of a basic index, 0-d for an element."""
    return x[index.entries if ... in index.entries else (*index.entries, ...)]


def select(x: Array, index: Index, /, *, copy: bool | None) -> Array:
    """A view of a basic index, and a copy of others."""
    _require_numbers("at", x)
    if not index.is_basic:
        if copy is False:
            raise Unsupported("an index of arrays copies the elements. Instead: copy=None")
        _check(x, index)
        return np.asarray(x[index.entries])
    view = _view(np.asarray(x), index)
    return np.array(view) if copy else view


def _copied(target: Array, index: Index, value: Array) -> bool:
    """Set a large view by the host kernels; False if rows are short, memory overlaps or the value is broadcast."""
    if not index.is_basic or value.shape[-1] < permute.SHORT:
        return False
    view = target[index.entries]
    alike = (view.shape, view.dtype) == (value.shape, value.dtype)
    if not alike or np.may_share_memory(view, value):
        return False
    permute.copy(value, view)
    return True
