"""``xo.at`` on CuPy: indexed elements, and updates of them, in place; duplicates of an index accumulate."""

from __future__ import annotations

from typing import Any

import cupy

from xarrayops.errors import Unsupported
from xarrayops.plugin import Array, Index, Selection
from xarrayops.plugin.indexing import UFUNCS
from xarrayops_backends.cupy._devices import _on

_OPERATORS: dict[str, Any] = {op: getattr(cupy, name) for op, name in UFUNCS.items()}
_SCANS: dict[str, Any] = {"subtract": (cupy.add, cupy.negative), "divide": (cupy.multiply, cupy.reciprocal)}
# The dtypes for which ufunc.at has correct atomics in every CuPy 14. For floats, min and max drop nan and round float64
# to float32: cupy/_core/include/cupy/atomics.cuh calls fmaxf for both.
_ATOMIC_DTYPES = {
    "add": ("int32", "uint32", "uint64", "float32", "float64"),
    "min": ("int32", "uint32", "uint64"),
    "max": ("int32", "uint32", "uint64"),
}


def update(x: Array, index: Index, op: str, value: Any, /, *, copy: bool | None) -> Array:
    """Only ``copy=True`` makes a new array. The index, or a value to set, may share the memory of x: it is copied."""
    with _on(x.device):
        selection = index.selection(x.shape)
        target = x.copy() if copy else x
        if not copy:
            arrays = tuple(a.copy() if cupy.may_share_memory(a, x) else a for a in selection.arrays)
            selection = selection._replace(arrays=arrays)
        value = index.arranged(selection, cupy.asarray(value).astype(x.dtype, copy=op == "set" and not copy))
        view = _viewed(target, selection)
        if not selection.arrays:
            view[...] = value if op == "set" else _OPERATORS[op](view, value)
        elif op == "set":
            view[selection.arrays] = value
        elif index.lone_mask(selection) is not None:
            view[selection.arrays] = _OPERATORS[op](view[selection.arrays], value)
        elif x.dtype.name in _ATOMIC_DTYPES.get(op, ()):
            _OPERATORS[op].at(view, selection.arrays, value)
        else:
            _accumulate(view, index.integers(selection), op, value)
    return target


def select(x: Array, index: Index, /, *, copy: bool | None) -> Array:
    """A view of a basic index, and a copy of others."""
    with _on(x.device):
        selection = index.selection(x.shape)
        if copy is False and selection.arrays:
            raise Unsupported("an index of arrays copies the elements. Instead: copy=None")
        view = _viewed(x, selection)
        if selection.arrays:
            return index.restored(selection, view[selection.arrays])
        return index.restored(selection, view.copy() if copy else view)


def _viewed(x: Array, selection: Selection) -> Array:
    """The view that the basic part of an index selects, the axes that its arrays index first."""
    return x[(*selection.basic, ...)].transpose(selection.order)


def _accumulate(x: Array, index: Any, op: str, value: Any) -> None:
    """The equivalent of ``ufunc.at`` for operators and dtypes without correct atomics.

    Sort the values by target position, apply the first of each run of equal positions, reduce the run by a doubling
    scan (log2 of the longest run steps), and write each position once.
    """
    places = cupy.arange(x.size).reshape(x.shape)[index]
    if not places.size:
        return
    values = cupy.broadcast_to(cupy.asarray(value, dtype=x.dtype), places.shape).ravel()
    places = places.ravel()
    order = cupy.argsort(places)
    places, values = places[order], values[order]
    where = cupy.unravel_index(places, x.shape)
    rank = cupy.arange(places.size) - cupy.searchsorted(places, places)
    longest = int(rank.max()) + 1
    together, invert = _SCANS.get(op, (_OPERATORS[op], lambda values: values))
    values, step = cupy.where(rank == 0, _OPERATORS[op](x[where], values), invert(values)), 1
    while step < longest:
        values[step:] = cupy.where(rank[step:] >= step, together(values[step:], values[:-step]), values[step:])
        step *= 2
    last = cupy.append(rank[1:] == 0, True)
    x[tuple(axis[last] for axis in where)] = values[last]
