"""Functions of values and shapes in which JAX departs from the standard."""

from __future__ import annotations

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp

from xarrayops.plugin import Array
from xarrayops_backends.jax._dtypes import _faithful, iinfo

cumulative_sum = _faithful(jnp.cumulative_sum)
linalg_trace = _faithful(jnp.linalg.trace)
prod = _faithful(jnp.prod)
sum = _faithful(jnp.sum)


def broadcast_arrays(*arrays: Array) -> tuple[Array, ...]:
    """A tuple since the standard of 2025.12; JAX gives a list."""
    return tuple(jnp.broadcast_arrays(*arrays))


def clip(x: Array, /, min: Any = None, max: Any = None) -> Array:
    """Keep the dtype of x, and bounds that it cannot hold: JAX promotes, and wraps 300 to 44 for uint8."""
    clipped = jnp.clip(x, _bound(x, min), _bound(x, max))
    if clipped.dtype == x.dtype:
        return clipped
    kind = "integral" if jnp.isdtype(x.dtype, "integral") else "real floating"
    return clipped.astype(x.dtype) if jnp.isdtype(clipped.dtype, kind) else clipped


def _bound(x: Array, value: Any) -> Any:
    """A Python integer brought into the range of x's dtype, which clips the same."""
    if type(value) is not int or not jnp.isdtype(x.dtype, "integral"):
        return value
    limits = iinfo(x.dtype)
    return sorted((int(limits.min), value, int(limits.max)))[1]


@_faithful
def cumulative_prod(x: Array, /, *, axis: int | None = None, dtype: Any = None, include_initial: bool = False) -> Array:
    """Widen small integers as cumulative_sum does; JAX lets them overflow."""
    if dtype is None and jnp.isdtype(x.dtype, "integral"):
        unsigned = jnp.isdtype(x.dtype, "unsigned integer")
        dtype = jnp.result_type(x.dtype, jnp.uint if unsigned else jnp.int_)
    return jnp.cumulative_prod(x, axis=axis, dtype=dtype, include_initial=include_initial)


def permute_dims(x: Array, /, axes: tuple[int, ...]) -> Array:
    """JAX takes no negative axes."""
    return jnp.permute_dims(x, tuple(axis + x.ndim if axis < 0 else axis for axis in axes))


def expand_dims(x: Array, /, axis: int | tuple[int, ...]) -> Array:
    """An axis out of bounds is an IndexError; JAX raises ValueError."""
    axes = axis if isinstance(axis, (tuple, list)) else (axis,)
    ndim = x.ndim + len(axes)
    if any(not -ndim <= a < ndim for a in axes):
        raise IndexError(f"axis {axis} is out of bounds for a result of {ndim} dimensions")
    return jnp.expand_dims(x, axis)


@jax.jit
def floor_divide(x1: Array, x2: Array, /) -> Array:
    """Mend zeros and infinities, which the standard lays down; the compiler fuses it, so it costs nothing."""
    quotient = jnp.floor_divide(x1, x2)
    if not jnp.isdtype(quotient.dtype, "real floating"):
        return quotient
    exact = (x1 == 0) | jnp.isinf(x1) | jnp.isinf(x2)
    # A step function has no slope to give, and where() would let NaN into the gradient of the other branch.
    ratio = jax.lax.stop_gradient(jnp.divide(x1, x2))
    return jnp.where(exact, ratio, jnp.where(quotient == 0, 0, quotient))


@jax.jit
def remainder(x1: Array, x2: Array, /) -> Array:
    """A zero takes the sign of the divisor; JAX gives it that of the dividend."""
    result = jnp.remainder(x1, x2)
    if not jnp.isdtype(result.dtype, "real floating"):
        return result
    return jnp.where(result == 0, jnp.copysign(result, x2), result)


@partial(jax.jit, static_argnames="side")
def searchsorted(x1: Array, x2: Any, /, *, side: str = "left", sorter: Array | None = None) -> Array:
    """Indices of the default dtype; JAX gives int32 always."""
    return jnp.searchsorted(x1, x2, side=side, sorter=sorter).astype(jnp.result_type(int))


@jax.jit
def sign(x: Array, /) -> Array:
    """The sign of -0 is +0; JAX keeps -0."""
    return jnp.where(x == 0, jnp.zeros_like(x), jnp.sign(x))
