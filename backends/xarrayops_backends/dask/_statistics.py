"""Reductions: many of Dask's lose data where a chunk has length 0, and are right otherwise."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from xarrayops.plugin import Array
from xarrayops_backends.dask import _blocks
from xarrayops_backends.dask._blocks import compat, da
from xarrayops_backends.dask._manipulation import reshape


def _solid(function: Callable[..., Array]) -> Callable[..., Array]:
    @wraps(function)
    def wrapped(x: Array, /, **options: Any) -> Array:
        return function(_blocks.solid(x), **options)

    return wrapped


cumulative_prod, cumulative_sum, flip, std, var = map(
    _solid, (compat.cumulative_prod, compat.cumulative_sum, compat.flip, compat.std, compat.var)
)


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
