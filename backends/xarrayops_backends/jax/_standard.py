"""Functions of values and shapes in which JAX departs from the standard."""

from __future__ import annotations

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp

from xarrayops.plugin import Array
from xarrayops_backends.jax._dtypes import _faithful, astype, iinfo

cumulative_sum = _faithful(jnp.cumulative_sum)
linalg_trace = _faithful(jnp.linalg.trace)
prod = _faithful(jnp.prod)
sum = _faithful(jnp.sum)


def broadcast_arrays(*arrays: Array) -> tuple[Array, ...]:
    """A tuple since the standard of 2025.12; JAX gives a list."""
    return tuple(jnp.broadcast_arrays(*arrays))


def clip(x: Array, /, min: Any = None, max: Any = None) -> Array:
    """The result keeps the dtype of x, in which the bounds are taken; JAX promotes, and wraps 300 to 44 for uint8."""
    return jnp.clip(x, _bound(x, min), _bound(x, max))


def _bound(x: Array, value: Any) -> Any:
    """A bound in the dtype of x; the nearest limit where an integer dtype does not reach that far."""
    dtype = getattr(value, "dtype", None)
    if value is None or (dtype is not None and dtype == x.dtype):
        return value
    if not jnp.isdtype(x.dtype, "integral"):
        return value if dtype is None else astype(value, x.dtype)
    limits = iinfo(x.dtype)
    low, high = int(limits.min), int(limits.max)
    if dtype is None:
        return low if value <= low else high if value >= high else int(value)
    if jnp.isdtype(dtype, "integral"):
        own = iinfo(dtype)
        value = jnp.clip(value, max(low, int(own.min)), min(high, int(own.max)))
    return value.astype(x.dtype)  # XLA brings floats beyond the limits to the limits


def isin(x1: Any, x2: Any, /, *, invert: bool = False) -> Array:
    """A Python integer that the other's dtype cannot hold is no member; JAX wraps 300 to 44 for int8."""
    for number, other in ((x1, x2), (x2, x1)):
        if type(number) is int and jnp.isdtype(other.dtype, "integral"):
            limits = iinfo(other.dtype)
            if not limits.min <= number <= limits.max:
                return jnp.full(getattr(x1, "shape", ()), invert)
    return jnp.isin(x1, x2, invert=invert)


def reshape(x: Array, /, shape: int | tuple[int, ...], *, copy: bool | None = None) -> Array:
    """Heed ``copy``, which JAX ignores: the result lies elsewhere unless the shape stays."""
    result = jnp.reshape(x, shape)
    if result.shape == x.shape:
        return x.copy() if copy else x
    if copy is False:
        raise ValueError(f"JAX copies an array of shape {x.shape} to give it shape {result.shape}. Instead: copy=None")
    return result


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
