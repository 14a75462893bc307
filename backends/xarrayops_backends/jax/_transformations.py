"""Transformations of functions: JAX's own; and arrays into which neither they nor the compiler look."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp

from xarrayops.plugin import Array

_jax: Any = jax  # untyped: JAX does not annotate these functions


def vjp(
    function: Callable[..., tuple[Array, ...]], arrays: tuple[Array, ...], cotangents: tuple[Array, ...], /
) -> tuple[Array, ...]:
    """`jax.vjp`."""
    _, pull = _jax.vjp(function, *arrays)
    return tuple(pull(tuple(cotangents)))


def vmap(function: Callable[..., Any], /) -> Callable[..., Any]:
    """`jax.vmap`."""
    return _jax.vmap(function)


@partial(jax.jit, static_argnums=1)
def opaque(x: Array, shape: tuple[int, ...], /) -> Array:
    """Of a quotient x / y with a broadcast y, XLA makes the product of x and 1 / y."""
    return _jax.lax.optimization_barrier(_jax.lax.stop_gradient(jnp.broadcast_to(x, shape)))
