"""``xo.at`` on CuPy: in place, and duplicates of an index accumulate."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import cupy

from xarrayops.plugin import Array
from xarrayops_backends.cupy._devices import _on

_OPERATORS: dict[str, Any] = {
    "add": cupy.add,
    "multiply": cupy.multiply,
    "min": cupy.minimum,
    "max": cupy.maximum,
}
# The dtypes for which ufunc.at has correct atomics in every CuPy 14. For floats, min and max drop nan and round float64
# to float32: cupy/_core/include/cupy/atomics.cuh calls fmaxf for both.
_ATOMIC_DTYPES = {
    "add": ("int32", "uint32", "uint64", "float32", "float64"),
    "min": ("int32", "uint32", "uint64"),
    "max": ("int32", "uint32", "uint64"),
}


def update(x: Array, index: Any, op: str, value: Any, /, *, copy: bool | None) -> Array:
    """CuPy arrays are mutable, so only ``copy=True`` makes a new one."""
    with _on(x.device):
        target = x.copy() if copy else x
        if op == "set":
            target[index] = value
        elif not _may_repeat(index):
            target[index] = _OPERATORS[op](target[index], value)
        elif x.dtype.name in _ATOMIC_DTYPES.get(op, ()):
            _OPERATORS[op].at(target, index, value)
        else:
            _accumulate(target, index, _OPERATORS[op], value)
    return target


def _may_repeat(index: Any) -> bool:
    """Whether an index can select an element twice: only integer arrays can."""
    parts = index if isinstance(index, tuple) else (index,)
    return any(getattr(part, "ndim", 0) > 0 and part.dtype.kind in "iu" for part in parts)


def _accumulate(x: Array, index: Any, operator: Callable[..., Array], value: Any) -> None:
    """The equivalent of ``ufunc.at`` for operators and dtypes without correct atomics.

    Sort the values by target position, reduce each run of equal positions by a doubling scan (log2 of the longest run
    steps), and write each position once.
    """
    places = cupy.arange(x.size).reshape(x.shape)[index]
    if not places.size:
        return
    values = cupy.broadcast_to(cupy.asarray(value, dtype=x.dtype), places.shape).ravel()
    places = places.ravel()
    order = cupy.argsort(places)
    places, values = places[order], values[order]
    rank = cupy.arange(places.size) - cupy.searchsorted(places, places)
    longest = int(rank.max()) + 1
    step = 1
    while step < longest:
        values[step:] = cupy.where(rank[step:] >= step, operator(values[step:], values[:-step]), values[step:])
        step *= 2
    last = cupy.append(rank[1:] == 0, True)
    where = cupy.unravel_index(places[last], x.shape)
    x[where] = operator(x[where], values[last])
