"""Modes of xarrayops in functions that JAX compiles: part of the key of its caches."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any

import jax
import jax.numpy as jnp

_jax: Any = jax  # untyped: JAX does not annotate these functions
_modes = _jax.make_user_context(default_value=())
"""The modes of this thread, as sorted pairs of a name and a key."""


def carry_mode(name: str, key: str, /) -> AbstractContextManager[None]:
    """A context in which `jax.jit` and its like trace functions for this mode."""
    pairs = [pair for pair in _modes.value if pair[0] != name]
    context: AbstractContextManager[None] = _modes(tuple(sorted([*pairs, (name, key)] if key else pairs)))
    return context


def carries_mode(name: str, key: str, /) -> bool:
    """Whether the current trace is for this mode. `jax.grad` and `jax.vmap` alone compile nothing."""
    return dict(_modes.value).get(name, "") == key or not isinstance(jnp.zeros(()), jax.core.Tracer)


def set_default_dtype(name: str | None, /) -> None:
    """JAX has no such setting. Its compiled functions have the earlier defaults as constants, so they are dropped."""
    _jax.clear_caches()
