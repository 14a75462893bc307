"""Transformations of functions: JAX's own; and arrays into which neither they nor the compiler look."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp

from xarrayops.errors import Unsupported
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


class _Thread(threading.local):
    """How many functions this thread differentiates."""

    depth = 0


_thread = _Thread()


def value_and_grad(
    function: Callable[..., tuple[Array, tuple[Array, ...]]], arrays: tuple[Array, ...], /
) -> tuple[Array, tuple[Array, ...], tuple[Array, ...]]:
    """`jax.value_and_grad`."""

    def of_all(given: tuple[Array, ...]) -> tuple[Array, tuple[Array, ...]]:
        return function(*given)

    _thread.depth += 1
    try:
        (value, others), found = _jax.value_and_grad(of_all, has_aux=True)(arrays)
    finally:
        _thread.depth -= 1
    return value, others, found


def checkpoint(function: Callable[..., tuple[Array, ...]], arrays: tuple[Array, ...], /) -> tuple[Array, ...]:
    """`jax.checkpoint`."""
    found: tuple[Array, ...] = _jax.checkpoint(function)(*arrays)
    return found


def no_grad() -> AbstractContextManager[Any]:
    """JAX differentiates everything that it traces."""
    if _thread.depth:
        raise Unsupported(
            "xo.no_grad: JAX differentiates everything inside the function that xo.grad differentiates. Instead: "
            "jax.lax.stop_gradient(x)"
        )
    return nullcontext()


@partial(jax.jit, static_argnums=1)
def opaque(x: Array, shape: tuple[int, ...], /) -> Array:
    """Of a quotient x / y with a broadcast y, XLA makes the product of x and 1 / y."""
    return _jax.lax.optimization_barrier(_jax.lax.stop_gradient(jnp.broadcast_to(x, shape)))
