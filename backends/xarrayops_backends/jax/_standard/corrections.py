"""Functions whose values, shapes or errors in JAX differ from the standard."""

from __future__ import annotations

import builtins
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from xarrayops.plugin import Array
from xarrayops.plugin.generic import complex_order
from xarrayops_backends.jax._compiler import _jit
from xarrayops_backends.jax._dtypes import _checked_dtype, astype, iinfo


def all(x: Array, /, *, axis: int | tuple[int, ...] | None = None, keepdims: bool = False) -> Array:
    """Complex numbers are true unless both parts are 0; JAX looks at the real part only."""
    return jnp.all(_truth(x), axis=axis, keepdims=keepdims)


def any(x: Array, /, *, axis: int | tuple[int, ...] | None = None, keepdims: bool = False) -> Array:
    """Complex numbers are true unless both parts are 0; JAX looks at the real part only."""
    return jnp.any(_truth(x), axis=axis, keepdims=keepdims)


def _truth(x: Array) -> Array:
    return x != 0 if jnp.iscomplexobj(x) else x


def pow(x1: Any, x2: Any, /) -> Array:
    """Promote integer exponents without dimensions; JAX ignores their dtype if their value is known."""
    if hasattr(x1, "dtype") and hasattr(x2, "dtype") and x2.ndim == 0:
        x1 = x1.astype(jnp.result_type(x1, x2))
    return jnp.pow(x1, x2)


def broadcast_arrays(*arrays: Array) -> tuple[Array, ...]:
    """Return a tuple, as the standard 2025.12 requires; JAX returns a list."""
    return tuple(jnp.broadcast_arrays(*arrays))


def isfinite(x: Array, /) -> Array:
    """Of integers jnp.isfinite is a constant on the default device."""
    return jnp.isfinite(x) if jnp.issubdtype(x.dtype, jnp.inexact) else jnp.equal(x, x)


def isinf(x: Array, /) -> Array:
    """As for isfinite."""
    return jnp.isinf(x) if jnp.issubdtype(x.dtype, jnp.inexact) else jnp.not_equal(x, x)


def hypot(x1: Any, x2: Any, /) -> Array:
    """In float32 for half types, in which JAX rounds each step."""
    dtype = jnp.result_type(x1, x2)
    if dtype not in (jnp.float16, jnp.bfloat16):
        return jnp.hypot(x1, x2)
    return jnp.hypot(jnp.asarray(x1, jnp.float32), jnp.asarray(x2, jnp.float32)).astype(dtype)


def nonzero(x: Array, /, **options: Any) -> tuple[Array, ...]:
    """Of an empty array jnp.nonzero is on the default device. The options are JAX's own."""
    found = jnp.nonzero(x, **options)
    return found if x.size or options else tuple(jnp.reshape(x, (-1,)).astype(index.dtype) for index in found)


def take(x: Array, indices: Array, /, *, axis: int | None = None) -> Array:
    """Without indices jnp.take is on the default device."""
    return (jnp.take if indices.size else _take)(x, indices, axis=axis)


_take = _jit(jnp.take, static_argnames="axis")


def clip(x: Array, /, min: Any = None, max: Any = None) -> Array:
    """Keep the dtype of x and clip the bounds to its limits; JAX promotes, and wraps a bound of 300 to 44 for uint8."""
    try:
        return jnp.clip(x, _bound(x, min), _bound(x, max))
    except ValueError:
        if jnp.iscomplexobj(x):
            return complex_order.clip(jnp, x, min, max)
        raise


def _bound(x: Array, value: Any) -> Any:
    """A bound in the dtype of x; a bound beyond the limits of an integer dtype becomes the nearest limit."""
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
    return value.astype(x.dtype)  # XLA saturates floats beyond the limits


def reshape(x: Array, /, shape: int | tuple[int, ...], *, copy: bool | None = None) -> Array:
    """Respect ``copy``, which JAX ignores. The result is a copy unless the shape is unchanged."""
    try:
        result = jnp.reshape(x, shape)
    except (TypeError, ZeroDivisionError) as error:  # the second for (0, -1)
        if type(error) in (TypeError, ZeroDivisionError):  # not an error of tracing
            raise ValueError(f"an array of shape {x.shape} cannot have the shape {shape}: {error}") from error
        raise
    if result.shape == x.shape:
        return x.copy() if copy else x
    if copy is False:
        raise ValueError(f"JAX copies an array of shape {x.shape} to give it shape {result.shape}. Instead: copy=None")
    return result


@_checked_dtype
def sum(x: Array, /, *, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> Array:
    """Sum to half types in float32: JAX casts before it adds."""
    if dtype is not None and jnp.issubdtype(dtype, jnp.floating) and jnp.dtype(dtype).itemsize <= 2:
        return jnp.sum(x, axis=axis, dtype=jnp.float32, keepdims=keepdims).astype(dtype)
    return jnp.sum(x, axis=axis, dtype=dtype, keepdims=keepdims)


@_checked_dtype
def cumulative_sum(x: Array, /, *, axis: int | None = None, dtype: Any = None, include_initial: bool = False) -> Array:
    """Sum half types in float32: an intermediate sum that overflows would stay infinite to the end."""
    made = x.dtype if dtype is None else jnp.dtype(dtype)
    if jnp.issubdtype(made, jnp.floating) and made.itemsize <= 2:
        sums = jnp.cumulative_sum(x, axis=axis, dtype=jnp.float32, include_initial=include_initial)
        return sums.astype(made)
    return jnp.cumulative_sum(x, axis=axis, dtype=dtype, include_initial=include_initial)


@_checked_dtype
def cumulative_prod(x: Array, /, *, axis: int | None = None, dtype: Any = None, include_initial: bool = False) -> Array:
    """Widen small integers like cumulative_sum; in JAX they overflow."""
    if dtype is None and jnp.isdtype(x.dtype, "integral"):
        unsigned = jnp.isdtype(x.dtype, "unsigned integer")
        dtype = jnp.result_type(x.dtype, jnp.uint if unsigned else jnp.int_)
    return jnp.cumulative_prod(x, axis=axis, dtype=dtype, include_initial=include_initial)


def permute_dims(x: Array, /, axes: tuple[int, ...]) -> Array:
    """Support negative axes, which JAX does not."""
    return jnp.permute_dims(x, tuple(axis + x.ndim if axis < 0 else axis for axis in axes))


def expand_dims(x: Array, /, axis: int | tuple[int, ...]) -> Array:
    """Raise IndexError for an axis out of bounds; JAX raises ValueError."""
    axes = axis if isinstance(axis, (tuple, list)) else (axis,)
    ndim = x.ndim + len(axes)
    if builtins.any(not -ndim <= a < ndim for a in axes):
        raise IndexError(f"axis {axis} is out of bounds for a result of {ndim} dimensions")
    return jnp.expand_dims(x, axis)


@_jit
def floor_divide(x1: Array, x2: Array, /) -> Array:
    """Follow the standard for zeros and infinities; the compiler fuses this correction, so it costs nothing."""
    quotient = jnp.floor_divide(x1, x2)
    if not jnp.isdtype(quotient.dtype, "real floating"):
        return quotient
    exact = (x1 == 0) | (x2 == 0) | jnp.isinf(x1) | jnp.isinf(x2)  # JAX 0.10.1 divides by 0 to NaN
    # The derivative of a step function is zero; without stop_gradient, where() would propagate NaN in the gradient.
    ratio = jax.lax.stop_gradient(jnp.divide(x1, x2))
    return jnp.where(exact, ratio, jnp.where(quotient == 0, 0, quotient))


@_jit
def remainder(x1: Array, x2: Array, /) -> Array:
    """A result of zero has the sign of the divisor; in JAX it has the sign of the dividend."""
    result = jnp.remainder(x1, x2)
    if not jnp.isdtype(result.dtype, "real floating"):
        return result
    return jnp.where(result == 0, jnp.copysign(result, x2), result)


def _ordering(name: str) -> Callable[[Any, Any], Array]:
    """JAX's function of two operands; it compares the parts of complex numbers even if one is NaN."""
    native, of_complex = getattr(jnp, name), getattr(complex_order, name)

    def function(x1: Any, x2: Any, /) -> Array:
        if not (jnp.iscomplexobj(x1) or jnp.iscomplexobj(x2)):
            return native(x1, x2)
        dtype = jnp.result_type(x1, x2)
        return of_complex(jnp, jnp.astype(x1, dtype), jnp.astype(x2, dtype))

    function.__name__ = function.__qualname__ = name
    return _jit(function)


less, less_equal, greater, greater_equal = map(_ordering, ("less", "less_equal", "greater", "greater_equal"))
maximum, minimum = map(_ordering, ("maximum", "minimum"))


@_jit
def sign(x: Array, /) -> Array:
    """Return +0 for -0; JAX returns -0."""
    return jnp.where(x == 0, jnp.zeros_like(x), jnp.sign(x))


@_jit
def exp(x: Array, /) -> Array:
    """Return infinity, or 0 for -infinity, where only the imaginary part is not finite; JAX returns NaN."""
    return _of_infinite_real_part(jnp.exp(x), x, 0)


@_jit
def expm1(x: Array, /) -> Array:
    """Return infinity, or -1 for -infinity, where only the imaginary part is not finite; JAX returns NaN."""
    return _of_infinite_real_part(jnp.expm1(x), x, -1)


def _of_infinite_real_part(result: Array, x: Array, below: complex) -> Array:
    """The result, with infinity or another limit where the real part is infinite and the imaginary part not finite."""
    if not jnp.iscomplexobj(x):
        return result
    real, imag = jnp.real(x), jnp.imag(x)
    limit = jnp.where(real > 0, complex(jnp.inf, jnp.nan), below).astype(result.dtype)
    return jnp.where(jnp.isinf(real) & ~jnp.isfinite(imag), limit, result)
