"""Sorting, searching and sets, where JAX's values, shapes or errors differ from the standard."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import jax.numpy as jnp
from jax import lax

from xarrayops.plugin import Array
from xarrayops.plugin.generic import HOOKS, common, complex_order
from xarrayops_backends.jax._compiler import _jit
from xarrayops_backends.jax._dtypes import iinfo

_MANY = 256
"""The sorted numbers from which JAX's default search is quicker on CPUs."""


@partial(_jit, static_argnames="side")
def searchsorted(x1: Array, x2: Any, /, *, side: str = "left", sorter: Array | None = None) -> Array:
    """Return indices of the default dtype; JAX always returns int32.

    Its default method takes three times as long, except on CPUs in many sorted numbers, where it takes half as long.
    """
    common.require_vector("the sorted array", x1)
    if jnp.iscomplexobj(x1) or jnp.iscomplexobj(x2):
        return complex_order.searchsorted(jnp, x1, x2, side=side, sorter=sorter)
    search = partial(jnp.searchsorted, side=side, sorter=sorter)
    unrolled = partial(search, method="scan_unrolled")
    is_long = x1.shape[-1:] > (_MANY,)
    found = lax.platform_dependent(x1, x2, cpu=search, default=unrolled) if is_long else unrolled(x1, x2)
    return found.astype(jnp.result_type(int))


@partial(_jit, static_argnames=("axis", "descending", "stable"))
def sort(x: Array, /, *, axis: int | None = -1, descending: bool = False, stable: bool = True) -> Array:
    """JAX orders complex NaNs by their parts."""
    function = partial(complex_order.sort, jnp) if jnp.iscomplexobj(x) else jnp.sort
    return function(x, axis=axis, descending=descending, stable=stable)


@partial(_jit, static_argnames=("axis", "descending", "stable"))
def argsort(x: Array, /, *, axis: int | None = -1, descending: bool = False, stable: bool = True) -> Array:
    """JAX orders complex NaNs by their parts."""
    function = partial(complex_order.argsort, jnp) if jnp.iscomplexobj(x) else jnp.argsort
    return function(x, axis=axis, descending=descending, stable=stable)


def isin(x1: Any, x2: Any, /, *, invert: bool = False) -> Array:
    """A Python integer outside the other operand's dtype is not a member; JAX wraps 300 to 44 for int8."""
    for number, other in ((x1, x2), (x2, x1)):
        if type(number) is int and jnp.isdtype(other.dtype, "integral"):
            limits = iinfo(other.dtype)
            if not limits.min <= number <= limits.max:
                never = jnp.not_equal(other, other)  # a constant would be on the default device
                never = never if other is x1 else jnp.any(never)
                return jnp.logical_not(never) if invert else never
    return jnp.isin(x1, x2, invert=invert)


def unique(
    x: Array, /, *, return_index: bool, return_inverse: bool, return_counts: bool, axis: int | None
) -> Array | tuple[Array, ...]:
    """JAX's own function, except where it merges slices with NaN or orders complex NaNs otherwise."""
    if not jnp.iscomplexobj(x):
        return jnp.unique(x, return_index, return_inverse, return_counts, axis, equal_nan=axis is None)
    options = {"return_index": return_index, "return_inverse": return_inverse, "return_counts": return_counts}
    return HOOKS["unique"](jnp, x, axis=axis, **options)


def _standard_unique(name: str) -> Callable[[Array], Any]:
    """JAX's own function; for complex numbers the generic one, to which elements are slices: each NaN is distinct.

    JAX's options ``size`` and ``fill_value`` are for its own function.
    """
    native = getattr(jnp, name)

    def function(x: Array, /, **size: Any) -> Any:
        if size or not jnp.iscomplexobj(x):
            return native(x, **size)
        options = dict.fromkeys(("return_index", "return_inverse", "return_counts"), True)
        values, indices, inverse, counts = HOOKS["unique"](jnp, x.reshape(-1), axis=0, **options)
        found = {"indices": indices, "inverse_indices": inverse.reshape(x.shape), "counts": counts}
        if name == "unique_values":
            return values
        named = type(native(x.real.reshape(-1)[:0]))
        return named(values, *(found[field] for field in named._fields[1:]))

    function.__name__ = function.__qualname__ = name
    return function


unique_all, unique_counts, unique_inverse, unique_values = map(
    _standard_unique, ("unique_all", "unique_counts", "unique_inverse", "unique_values")
)
