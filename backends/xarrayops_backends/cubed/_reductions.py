"""Reductions and cumulative sums."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial, wraps
from typing import Any

import numpy as np

from xarrayops.plugin import Array
from xarrayops_backends.cubed import _blocks
from xarrayops_backends.cubed._blocks import xp as _xp
from xarrayops_backends.cubed._standard import astype, concat, conj, reshape


def _reduction(function: Callable[..., Array]) -> Callable[..., Array]:
    @wraps(function)
    def call(x: Array, /, *, axis: Any = None, keepdims: bool = False, **options: Any) -> Array:
        axis = () if axis is None and not x.ndim else axis
        if isinstance(axis, (tuple, list)) and not axis:  # cubed refuses it
            return function(_xp.expand_dims(x, axis=-1), axis=-1, keepdims=False, **options)
        return function(x, axis=axis, keepdims=keepdims, **options)

    return call


def _extremum(function: Callable[..., Any], x: Array, **options: Any) -> Array:
    return _blocks.ops.reduction(x, function, dtype=x.dtype, **options)


all, any, count_nonzero, mean, prod, std, sum, var = map(
    _reduction, (_xp.all, _xp.any, _xp.count_nonzero, _xp.mean, _xp.prod, _xp.std, _xp.sum, _xp.var)
)


def _position(function: Callable[..., Any]) -> Callable[..., Array]:
    def call(x: Array, /, *, axis: int | None = None, keepdims: bool = False) -> Array:
        """The reduction of cubed's argmax and argmin, which refuse complex numbers."""
        flat = reshape(x, (-1,)) if axis is None else x
        found = _blocks.ops.arg_reduction(flat, function, axis=range(flat.ndim)[axis or 0], keepdims=keepdims)
        return reshape(found, (1,) * x.ndim) if axis is None and keepdims else found

    return call


argmax, argmin = _position(np.argmax), _position(np.argmin)
max, min = _reduction(partial(_extremum, np.max)), _reduction(partial(_extremum, np.min))


def _cumulative(name: str, initial: int) -> Callable[..., Array]:
    def call(x: Array, /, *, axis: Any = None, dtype: Any = None, include_initial: bool = False) -> Array:
        """cubed's function, which needs an axis and does not include the initial value."""
        given: Any = 0 if axis is None and x.ndim == 1 else axis
        axis = range(x.ndim)[given]
        found = getattr(_xp, name)(x, axis=axis, dtype=dtype)
        if not include_initial:
            return found
        shape = (*x.shape[:axis], 1, *x.shape[axis + 1 :])
        return concat([_xp.full(shape, initial, dtype=found.dtype, spec=x.spec), found], axis=axis)

    return call


cumulative_prod, cumulative_sum = _cumulative("cumulative_prod", 1), _cumulative("cumulative_sum", 0)


def tensordot(x1: Array, x2: Array, /, *, axes: Any = 2) -> Array:
    """cubed's tensordot, which misplaces negative axes."""
    if not isinstance(axes, int):
        axes = tuple(tuple(range(x.ndim)[i] for i in found) for x, found in zip((x1, x2), axes, strict=True))
    return _xp.tensordot(x1, x2, axes=axes)


def vecdot(x1: Array, x2: Array, /, *, axis: int = -1) -> Array:
    """cubed's vecdot, which does not conjugate."""
    return _xp.vecdot(conj(x1), x2, axis=axis)


def linalg_vector_norm(x: Array, /, *, axis: Any = None, keepdims: bool = False, ord: float = 2) -> Array:
    """A reduction of the absolute values."""
    sizes, options = _xp.abs(x), {"axis": axis, "keepdims": keepdims}
    if ord in (math.inf, -math.inf):
        return (max if ord > 0 else min)(sizes, **options)
    if ord == 0:
        return astype(count_nonzero(sizes, **options), sizes.dtype)
    return sum(sizes**ord, **options) ** (1 / ord)
