"""Transformations of functions: JAX's own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax

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
