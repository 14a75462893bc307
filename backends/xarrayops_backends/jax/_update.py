"""Indexed updates. JAX arrays are immutable, so each update returns a new array."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from xarrayops.errors import Unsupported
from xarrayops.plugin import Array
from xarrayops_backends.jax._creation import asarray

_COMBINE: dict[str, Callable[[Array, Array], Array]] = {
    "set": lambda x, value: value,
    "add": jnp.add,
    "multiply": jnp.multiply,
    "min": jnp.minimum,
    "max": jnp.maximum,
}


def update(x: Array, index: Any, op: str, value: Any, /, *, copy: bool | None) -> Array:
    """Update by x.at[index], or by a selection if the index is a traced mask."""
    if copy is False:
        raise Unsupported("JAX arrays are immutable. Instead: copy=None or copy=True, and use the result")
    value = asarray(value, dtype=x.dtype)
    if isinstance(index, tuple) and len(index) == 1:
        (index,) = index
    if isinstance(index, jax.core.Tracer) and index.dtype == bool:
        return _select(x, index, op, value)
    return getattr(x.at[index], op)(value)


def _select(x: Array, mask: Array, op: str, value: Array) -> Array:
    """``x[mask] = value`` for a traced mask, whose number of True elements is unknown: each gets the same value."""
    inner = x.ndim - mask.ndim
    if mask.shape != x.shape[: mask.ndim]:
        raise IndexError(f"a mask of shape {mask.shape} does not index an array of shape {x.shape}")
    if value.ndim > inner + 1 or (value.ndim == inner + 1 and value.shape[0] != 1):
        raise Unsupported(
            f"under jax.jit, values of shape {value.shape} cannot be assigned to the True elements of a mask, because "
            "their number is unknown. Instead: xo.where(mask, values, x) with values that broadcast against x"
        )
    if value.ndim == inner + 1:
        value = value[0]
    return jnp.where(jnp.expand_dims(mask, tuple(range(mask.ndim, x.ndim))), _COMBINE[op](x, value), x)
