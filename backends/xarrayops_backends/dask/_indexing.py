"""Selecting, searching and moving elements about."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import count, islice
from typing import Any

import numpy as np

from xarrayops.errors import Unsupported
from xarrayops.plugin import Array
from xarrayops_backends.dask import _blocks
from xarrayops_backends.dask._blocks import compat, da


def _axis(x: Array, axis: int | None) -> Any:
    """The axis counted from the front; None stands for the only one."""
    if axis is None:
        if x.ndim != 1:
            raise ValueError(f"axis is needed for an array of {x.ndim} dimensions")
        return 0
    if not -x.ndim <= axis < x.ndim:
        raise IndexError(f"axis {axis} is out of bounds for an array of {x.ndim} dimensions")
    return axis % x.ndim


def take(x: Array, indices: Array, /, *, axis: int | None = None) -> Array:
    """Dask's own declares a wrong shape for a single index, and warns for complex numbers."""
    axis = _axis(x, axis)
    here = tuple(range(x.ndim))
    there = tuple(range(x.ndim, x.ndim + indices.ndim))
    out = (*here[:axis], *there, *here[axis + 1 :])
    return _blocks.gather(np.take, out, x, here, indices, there, dtype=x.dtype, axis=axis)


def take_along_axis(x: Array, indices: Array, /, *, axis: int = -1) -> Array:
    """Dask has none."""
    axis = _axis(x, axis)
    out = tuple(range(x.ndim))
    here = (*out[:axis], x.ndim, *out[axis + 1 :])
    return _blocks.gather(np.take_along_axis, out, x, here, indices, out, dtype=x.dtype, axis=axis)


def nonzero(x: Array, /) -> tuple[Array, ...]:
    """Dask cannot flatten an empty array. The result's size is NaN until it is computed."""
    if x.ndim == 0:
        raise ValueError("x must have at least one dimension")
    if x.size == 0:
        return tuple(da.zeros((0,), dtype=np.intp) for _ in x.shape)
    return tuple(compat.nonzero(_blocks.solid(x)))


def argmax(x: Array, /, *, axis: int | None = None, keepdims: bool = False) -> Array:
    """Over all axes, Dask finds the first maximum of the first chunk that has one, not the first maximum."""
    return _arg(compat.argmax, x, axis, keepdims)


def argmin(x: Array, /, *, axis: int | None = None, keepdims: bool = False) -> Array:
    """As for argmax."""
    return _arg(compat.argmin, x, axis, keepdims)


def _arg(function: Callable[..., Array], x: Array, axis: int | None, keepdims: bool) -> Array:
    x = _blocks.solid(x)
    if axis is not None or x.ndim < 2 or x.npartitions == 1:
        return function(x, axis=axis, keepdims=keepdims)
    place = function(reshape(x, (-1,)), axis=0)
    return place[(None,) * x.ndim] if keepdims else place


def max(x: Array, /, *, axis: Any = None, keepdims: bool = False) -> Array:
    """Dask's own fails, or gives a wrong shape, where an axis that is not reduced is empty."""
    return _extremum(da.max, x, axis, keepdims)


def min(x: Array, /, *, axis: Any = None, keepdims: bool = False) -> Array:
    """As for max."""
    return _extremum(da.min, x, axis, keepdims)


def _extremum(function: Callable[..., Array], x: Array, axis: Any, keepdims: bool) -> Array:
    if x.size:
        return function(_blocks.solid(x), axis=axis, keepdims=keepdims)
    nothing = da.sum(x, axis=axis, keepdims=keepdims, dtype=x.dtype)
    if nothing.size:
        raise ValueError(f"nothing to choose from in an array of shape {x.shape} along axis {axis}")
    return nothing


def isin(x1: Any, x2: Any, /, *, invert: bool = False) -> Array:
    """Dask's own compares every chunk with every other."""
    x1, x2 = da.asarray(x1), da.asarray(x2)
    here, there = tuple(range(x1.ndim)), tuple(range(x1.ndim, x1.ndim + x2.ndim))
    return _blocks.gather(np.isin, here, x1, here, x2, there, dtype=np.bool_, invert=invert)


def searchsorted(x1: Array, x2: Any, /, *, side: str = "left", sorter: Array | None = None) -> Array:
    """Dask's own has no sorter and takes no scalars: https://github.com/dask/dask/pull/7696."""
    if sorter is not None:
        x1 = take(x1, sorter)
    x2 = _blocks.solid(da.asarray(x2))
    places = da.searchsorted(_blocks.solid(x1), x2 if x2.ndim else x2[None], side=side)
    return places if x2.ndim else places[0]


def reshape(x: Array, /, shape: Any, *, copy: bool | None = None) -> Array:
    """Dask's own cannot reshape an empty array, nor regroup axes unless it passes through one dimension."""
    shape = (shape,) if isinstance(shape, int) else tuple(shape)
    if copy is False and shape != x.shape:
        raise ValueError("a Dask array cannot be reshaped without a copy, because its chunks move. Instead: copy=None")
    if x.size == 0:
        known = math.prod(s for s in shape if s != -1)
        shape = tuple(0 if s == -1 and known else s for s in shape)
        if -1 in shape or math.prod(shape):
            raise ValueError(f"cannot reshape an array of shape {x.shape} into {shape}")
        return da.empty(shape, dtype=x.dtype, meta=_blocks.meta(x, x.dtype, len(shape)))
    x = _blocks.solid(x)
    try:
        result = da.reshape(x, shape)
    except NotImplementedError:
        result = da.reshape(da.reshape(x, (-1,)), shape)
    return result.copy() if copy else result


def concat(arrays: Any, /, *, axis: int | None = 0) -> Array:
    """Dask's own flattens as its reshape does."""
    if axis is None:
        arrays, axis = [reshape(x, (-1,)) for x in arrays], 0
    return compat.concat(arrays, axis=axis)


def repeat(x: Array, repeats: Any, /, *, axis: int | None = None) -> Array:
    """Dask's own repeats all elements alike. Given an array, the result's size is NaN until it is computed."""
    if axis is None:
        x, axis = reshape(x, (-1,)), 0
    axis = _axis(x, axis)
    if x.shape[axis] == 0:
        return x.copy()
    if isinstance(repeats, (int, np.integer)):
        return da.repeat(x, int(repeats), axis)
    index = tuple(range(x.ndim))
    repeats = da.broadcast_to(repeats, (x.shape[axis],))
    return _blocks.gather(
        np.repeat, index, x, index, repeats, (axis,), dtype=x.dtype, axis=axis, adjust_chunks={axis: lambda _: math.nan}
    )


def roll(x: Array, /, shift: int | tuple[int, ...], *, axis: int | tuple[int, ...] | None = None) -> Array:
    """Dask's own wants a shift for every axis, and cannot flatten an empty array."""
    if x.size == 0:
        return x.copy()
    if isinstance(axis, tuple) and isinstance(shift, int):
        shift = (shift,) * len(axis)
    if axis is None:
        return reshape(da.roll(reshape(x, (-1,)), shift, axis=0), x.shape)
    return da.roll(x, shift, axis=axis)


def diff(
    x: Array, /, *, axis: int = -1, n: int = 1, prepend: Array | None = None, append: Array | None = None
) -> Array:
    """Dask's own computes what it should prepend and append."""
    if n and (prepend is not None or append is not None):
        x = da.concatenate([part for part in (prepend, x, append) if part is not None], axis=axis)
    return da.diff(x, n=n, axis=axis)


_UPDATES = {"add": np.add, "multiply": np.multiply, "min": np.minimum, "max": np.maximum}
_LAZY_UPDATES = {"add": da.add, "multiply": da.multiply, "min": da.minimum, "max": da.maximum}


def update(x: Array, index: Any, op: str, value: Any, /, *, copy: bool | None) -> Array:
    """A new array always: assignment to a Dask array swaps its graph, which no other holder of the chunks sees.

    Masks with one value for all, slices and integers keep the chunks; what an array of integers selects is gathered.
    """
    if copy is False:
        raise Unsupported("the chunks of a Dask array are never written. Instead: copy=None, and use the result")
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
    """The value as a Dask array of x's dtype, so that every way of updating rounds alike."""
    return da.asarray(value).astype(x.dtype)


def _scatter(x: Array, index: tuple[Any, ...], op: str, value: Array) -> Array:
    """Hand one task all of the axes that an array indexes, with the arrays and the values."""
    axes = tuple(range(x.ndim))
    fresh = count(x.ndim)
    places = [k for k, i in enumerate(index) if hasattr(i, "dtype")]
    arrays = [da.asarray(index[k]) for k in places]
    array_axes = [tuple(islice(fresh, a.ndim)) for a in arrays]
    value_axes = tuple(islice(fresh, value.ndim))
    gathered = axes
    if len(index) == 1 and arrays and arrays[0].dtype != np.bool_:
        gathered = axes[:1]
        value = da.broadcast_to(value, arrays[0].shape + x.shape[1:])
        value_axes = (*array_axes[0], *axes[1:])
    x = x.rechunk(dict.fromkeys(gathered, -1))
    rest = tuple(None if k in places else i for k, i in enumerate(index))
    operands = [o for pair in zip(arrays, array_axes, strict=True) for o in pair]
    return _blocks.gather(
        _apply, axes, x, axes, value, value_axes, *operands, dtype=x.dtype, op=op, places=tuple(places), rest=rest
    )


def _apply(x: Any, value: Any, *arrays: Any, op: str, places: tuple[int, ...], rest: tuple[Any, ...]) -> Any:
    arrays_left = iter(arrays)
    index = tuple(next(arrays_left) if k in places else i for k, i in enumerate(rest))
    x = np.copy(x)
    if op == "set":
        x[index] = value
    else:
        _UPDATES[op].at(x, index, value)
    return x
