"""Reductions. Many of Dask's functions lose data if a chunk has length 0, and are correct otherwise."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from xarrayops.plugin import Array
from xarrayops_backends.dask import _blocks
from xarrayops_backends.dask._blocks import compat, da
from xarrayops_backends.dask._manipulation import reshape


def _without_empty_chunks(function: Callable[..., Array]) -> Callable[..., Array]:
    @wraps(function)
    def wrapped(x: Array, /, **options: Any) -> Array:
        return function(_blocks.without_empty_chunks(x), **options)

    return wrapped


cumulative_prod, cumulative_sum, flip, std, var = map(
    _without_empty_chunks, (compat.cumulative_prod, compat.cumulative_sum, compat.flip, compat.std, compat.var)
)


def argmax(x: Array, /, *, axis: int | None = None, keepdims: bool = False) -> Array:
    """Flatten first: over all axes, Dask returns the first maximum in the order of the chunks, not in C order."""
    return _arg(compat.argmax, x, axis, keepdims)


def argmin(x: Array, /, *, axis: int | None = None, keepdims: bool = False) -> Array:
    """Like argmax."""
    return _arg(compat.argmin, x, axis, keepdims)


def _arg(function: Callable[..., Array], x: Array, axis: int | None, keepdims: bool) -> Array:
    x = _blocks.without_empty_chunks(x)
    if axis is not None or x.ndim < 2 or x.npartitions == 1:
        return function(x, axis=axis, keepdims=keepdims)
    position = function(reshape(x, (-1,)), axis=0)
    return position[(None,) * x.ndim] if keepdims else position


def max(x: Array, /, *, axis: Any = None, keepdims: bool = False) -> Array:
    """Dask's max fails or returns a wrong shape if an axis that is not reduced is empty."""
    return _extremum(da.max, x, axis, keepdims)


def min(x: Array, /, *, axis: Any = None, keepdims: bool = False) -> Array:
    """Like max."""
    return _extremum(da.min, x, axis, keepdims)


def _extremum(function: Callable[..., Array], x: Array, axis: Any, keepdims: bool) -> Array:
    if x.size:
        return function(_blocks.without_empty_chunks(x), axis=axis, keepdims=keepdims)
    nothing = da.sum(x, axis=axis, keepdims=keepdims, dtype=x.dtype)
    if nothing.size:
        raise ValueError(f"an empty array of shape {x.shape} has no maximum or minimum along axis {axis}")
    return nothing
