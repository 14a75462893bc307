"""Indexed updates of Dask arrays."""

from __future__ import annotations

from itertools import count, islice
from typing import Any

import numpy as np

from xarrayops.errors import Unsupported
from xarrayops.plugin import Array
from xarrayops_backends.dask import _blocks
from xarrayops_backends.dask._blocks import da

_UPDATES = {"add": np.add, "multiply": np.multiply, "min": np.minimum, "max": np.maximum}
_LAZY_UPDATES = {"add": da.add, "multiply": da.multiply, "min": da.minimum, "max": da.maximum}


def update(x: Array, index: Any, op: str, value: Any, /, *, copy: bool | None) -> Array:
    """Always return a new array: assignment to a Dask array replaces its graph, and other references do not see it.

    Masks with one value, slices and integers keep the chunks. Axes indexed by an integer array become one chunk.
    """
    if copy is False:
        raise Unsupported("a Dask array cannot be updated in position. Instead: copy=None, and use the result")
    if x.size == 0:
        return x.copy()
    value = _as_value(value, x)
    index = index if isinstance(index, tuple) else (index,)
    lone = index[0] if len(index) == 1 else None
    if isinstance(lone, da.Array) and lone.dtype == np.bool_ and value.ndim <= x.ndim - lone.ndim:
        mask = lone[(..., *(None,) * (x.ndim - lone.ndim))]
        return da.where(mask, value if op == "set" else _LAZY_UPDATES[op](x, value), x)
    if all(i is Ellipsis or (isinstance(i, (int, slice)) and not isinstance(i, bool)) for i in index):
        result = x.copy()
        result[index] = value if op == "set" else _LAZY_UPDATES[op](x[index], value)
        return result
    return _scatter(x, index, op, value)


def _as_value(value: Any, x: Array) -> Array:
    """The value as a Dask array with the dtype of x, so that every kind of update rounds in the same way."""
    return da.asarray(value).astype(x.dtype)


def _scatter(x: Array, index: tuple[Any, ...], op: str, value: Array) -> Array:
    """Update in one task: the axes that arrays index become one chunk, and the task gets the arrays and the values."""
    axes = tuple(range(x.ndim))
    fresh = count(x.ndim)
    positions = [k for k, i in enumerate(index) if hasattr(i, "dtype")]
    arrays = [da.asarray(index[k]) for k in positions]
    array_axes = [tuple(islice(fresh, a.ndim)) for a in arrays]
    value_axes = tuple(islice(fresh, value.ndim))
    gathered = axes
    if len(index) == 1 and arrays and arrays[0].dtype != np.bool_:
        gathered = axes[:1]
        value = da.broadcast_to(value, arrays[0].shape + x.shape[1:])
        value_axes = (*array_axes[0], *axes[1:])
    x = x.rechunk(dict.fromkeys(gathered, -1))
    rest = tuple(None if k in positions else i for k, i in enumerate(index))
    operands = [o for pair in zip(arrays, array_axes, strict=True) for o in pair]
    return _blocks.gather(
        _apply, axes, x, axes, value, value_axes, *operands, dtype=x.dtype, op=op, positions=tuple(positions), rest=rest
    )


def _apply(x: Any, value: Any, *arrays: Any, op: str, positions: tuple[int, ...], rest: tuple[Any, ...]) -> Any:
    arrays_left = iter(arrays)
    index = tuple(next(arrays_left) if k in positions else i for k, i in enumerate(rest))
    x = np.copy(x)
    if op == "set":
        x[index] = value
    else:
        _UPDATES[op].at(x, index, value)
    return x
