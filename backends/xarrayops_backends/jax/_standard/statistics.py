"""Maxima and minima that keep NaN, and their positions.

On a CPU, JAX ignores NaN in 4096 elements or more (jax-ml/jax#39887), and XLA compiles searches for positions and for
NaN to loops over single elements. Here slices of the axis are first combined element by element, which XLA vectorises.
That would move a split axis between devices, so arrays on several devices are searched as they are. NumPy's search for
positions in long contiguous rows takes less than half of that time, so it serves arrays that are not traced.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial, reduce
from typing import Any, Literal

import jax
import jax.numpy as jnp
import numpy as np

from xarrayops.plugin import Array
from xarrayops.plugin.generic import complex_order
from xarrayops.plugin.host import positions
from xarrayops_backends.jax._compiler import _jit
from xarrayops_backends.jax._devices import _has_one_device, _on_platform, _platform_of
from xarrayops_backends.jax._exchange import try_as_numpy, try_from_numpy
from xarrayops_backends.jax._shards import may_be_split as _may_be_split

Axes = int | tuple[int, ...] | None
SLICES = 8
"""The number of slices. Each takes time to compile; the search among their elements takes a time inverse to it."""
LONG = 512
"""The elements of the axis and those after it from which slices have long contiguous rows."""
MANY, WIDE = 1 << 20, 1 << 16
"""The elements of an array from which NumPy's search is faster, and the most in a row, which one core searches."""
FAR = 1 << 30
"""The positions up to which their differences fit into int32."""


def max(x: Array, /, *, axis: Axes = None, keepdims: bool = False) -> Array:
    """Return NaN where there is one."""
    return _extremum("max", x, axis, keepdims, _platform_of(x), _may_be_split(x, "cpu"))


def min(x: Array, /, *, axis: Axes = None, keepdims: bool = False) -> Array:
    """Return NaN where there is one."""
    return _extremum("min", x, axis, keepdims, _platform_of(x), _may_be_split(x, "cpu"))


def argmax(x: Array, /, *, axis: int | None = None, keepdims: bool = False) -> Array:
    """jnp.argmax, 5 to 20 times as fast on CPUs."""
    found = _position_on_host("argmax", x, axis, keepdims)
    if found is not None:
        return found
    return _position("max", x, axis, keepdims, _platform_of(x), _may_be_split(x, "cpu"))


def argmin(x: Array, /, *, axis: int | None = None, keepdims: bool = False) -> Array:
    """jnp.argmin, 5 to 20 times as fast on CPUs."""
    found = _position_on_host("argmin", x, axis, keepdims)
    if found is not None:
        return found
    return _position("min", x, axis, keepdims, _platform_of(x), _may_be_split(x, "cpu"))


def linalg_matrix_norm(x: Array, /, *, keepdims: bool = False, ord: Any = "fro") -> Array:
    """Return NaN where there is one, also for norms that are a maximum or minimum of sums."""
    norm = jnp.linalg.matrix_norm(x, keepdims=keepdims, ord=ord)
    return _with_nan(norm, x, (-2, -1), keepdims) if ord in (1, -1, math.inf, -math.inf) else norm


def linalg_vector_norm(x: Array, /, *, axis: Axes = None, keepdims: bool = False, ord: Any = 2) -> Array:
    """Return NaN where there is one, also for norms that are a maximum or minimum."""
    norm = jnp.linalg.vector_norm(x, axis=axis, keepdims=keepdims, ord=ord)
    return _with_nan(norm, x, axis, keepdims) if math.isinf(ord) else norm


@partial(_jit, static_argnums=(0, 2, 3, 4, 5))
def _extremum(name: str, x: Array, axis: Axes, keepdims: bool, platform: str | None, is_split: bool) -> Array:
    if jnp.iscomplexobj(x):
        return getattr(complex_order, name)(jnp, x, axis=axis, keepdims=keepdims)
    plain = partial(getattr(jnp, name), axis=axis, keepdims=keepdims)
    if not jnp.issubdtype(x.dtype, jnp.floating):
        return plain(x)

    def checked(x: Array) -> Array:
        return _with_nan(plain(x), x, axis, keepdims)

    def checked_in_slices(x: Array) -> Array:
        return _with_nan(plain(x), x, axis, keepdims, has_slices=True)

    # On GPUs, the instructions for maxima keep NaN.
    on_cpu = checked if is_split else checked_in_slices
    found: Array = _on_platform(platform, x, cpu=on_cpu, cuda=plain, rocm=plain, default=checked)
    return found


def _with_nan(result: Array, x: Array, axis: Axes, keepdims: bool, *, has_slices: bool = False) -> Array:
    """The result of a reduction, and NaN where the reduced elements have one."""
    if not jnp.isdtype(x.dtype, ("real floating", "complex floating")):
        return result
    axes = range(x.ndim) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    first = next(iter(sorted(each % x.ndim for each in axes)), None)
    if first is not None and has_slices and _is_long(x, first):
        unordered = _combined(jnp.logical_or, lambda part, start: jnp.isnan(part), x, first)
    else:
        unordered = jnp.isnan(x)
    return jnp.where(unordered.any(axis=axis, keepdims=keepdims), jnp.nan, result)


def _position_on_host(name: Literal["argmax", "argmin"], x: Array, axis: int | None, keepdims: bool) -> Array | None:
    """The positions in many long contiguous rows, by NumPy; None for other arrays, or if JAX has several devices."""
    if isinstance(x, jax.core.Tracer) or x.size < MANY or axis not in (-1, x.ndim - 1) or not _has_one_device():
        return None
    if not (x.ndim > 1 and LONG <= x.shape[-1] <= WIDE and (x.dtype.kind in "iu" or x.dtype.char in "fd")):
        return None
    seen = try_as_numpy(x) if isinstance(x.sharding, jax.sharding.SingleDeviceSharding) else None
    if seen is None:
        return None
    found = positions.of_rows(name, seen, np.dtype(jnp.result_type(int)))
    return try_from_numpy(found[..., None] if keepdims else found)


@partial(_jit, static_argnums=(0, 2, 3, 4, 5))
def _position(name: str, x: Array, axis: int | None, keepdims: bool, platform: str | None, is_split: bool) -> Array:
    """The first position of NaN along an axis, or else of the extremum."""
    if jnp.iscomplexobj(x):
        return getattr(complex_order, f"arg{name}")(jnp, x, axis=axis, keepdims=keepdims)
    search = partial(getattr(jnp, f"arg{name}"), axis=axis, keepdims=keepdims)
    # jax.export has symbolic sizes, and a wrong axis is refused by the search.
    flat, first = (x.reshape(-1), 0) if axis is None else (x, axis)
    in_slices = not is_split and -flat.ndim <= first < flat.ndim and _is_long(flat, first % flat.ndim)
    is_floating = jnp.issubdtype(x.dtype, jnp.floating)
    on_cpu = partial(_position_in_slices, name, axis, keepdims) if in_slices else search
    elsewhere = partial(_first_nan, search, axis, keepdims) if is_floating else search
    found: Array = on_cpu(x) if on_cpu is elsewhere else _on_platform(platform, x, cpu=on_cpu, default=elsewhere)
    return found


def _position_in_slices(name: str, axis: int | None, keepdims: bool, x: Array) -> Array:
    """The same, from slices of the axis."""
    if axis is None:
        position = _position_in_slices(name, 0, False, x.reshape(-1))
        return position.reshape((1,) * x.ndim) if keepdims else position
    axis %= x.ndim
    extent = x.shape[axis]
    wanted = jax.lax.optimization_barrier(  # type: ignore[no-untyped-call]
        jax.lax.stop_gradient(getattr(jnp, name)(x, axis=axis, keepdims=True))
    )

    def found(part: Array, start: int) -> Array:
        """The positions of equal elements; the position minus the extent for NaN; the extent for all others."""
        here = start + jax.lax.broadcasted_iota(jnp.int32, part.shape, axis)
        return jnp.where(jnp.isnan(part), here - extent, jnp.where(part == wanted, here, extent))

    position = _combined(jnp.minimum, found, x, axis).min(axis=axis, keepdims=keepdims)
    return jnp.where(position < 0, position + extent, position).astype(jnp.result_type(int))


def _first_nan(search: Callable[[Array], Array], axis: int | None, keepdims: bool, x: Array) -> Array:
    """The first position of NaN, or else what a search finds: of several NaNs, XLA finds any one on GPUs."""
    is_nan = jnp.isnan(x)
    first = jnp.argmax(is_nan, axis=axis, keepdims=keepdims)
    return jnp.where(is_nan.any(axis=axis, keepdims=keepdims), first, search(x))


def _is_long(x: Array, axis: int) -> bool:
    """Whether the slices of an axis have long contiguous rows. jax.export has symbolic sizes."""
    return isinstance(x.size, int) and x.size > 0 and math.prod(x.shape[axis:]) >= LONG and x.shape[axis] < FAR


def _combined(combine: Callable[..., Array], value: Callable[[Array, int], Array], x: Array, axis: int) -> Array:
    """The values of slices of an axis, combined element by element; the last slice overlaps the one before.

    ``value(part, start)`` is called with each slice and the position of its first element.
    """
    extent = x.shape[axis]
    width = -(-extent // SLICES)
    starts = [*range(0, extent - width, width), extent - width]
    values = [value(jax.lax.slice_in_dim(x, start, start + width, axis=axis), start) for start in starts]
    combined = reduce(combine, values)
    return jax.lax.optimization_barrier(combined)  # type: ignore[no-untyped-call]  # otherwise one slow loop
