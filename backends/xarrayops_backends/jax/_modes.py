"""Modes of xarrayops in functions that JAX compiles, which are part of the key of its caches, and compilations."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import cache, partial
from typing import Any

import jax
import jax.monitoring
import jax.numpy as jnp

from xarrayops.plugin import RunMode

_jax: Any = jax  # untyped: JAX does not annotate these functions
_modes = _jax.make_user_context(default_value=())
"""The modes of this thread, as sorted pairs of a name and a key."""


def carry_mode(name: str, key: str, /) -> AbstractContextManager[None]:
    """A context in which `jax.jit` and similar transforms trace functions for this mode."""
    pairs = [pair for pair in _modes.value if pair[0] != name]
    context: AbstractContextManager[None] = _modes(tuple(sorted([*pairs, (name, key)] if key else pairs)))
    return context


def carries_mode(name: str, key: str, /) -> bool:
    """Whether the current trace is for this mode. `jax.grad` and `jax.vmap` alone do not compile."""
    return dict(_modes.value).get(name, "") == key or not isinstance(jnp.zeros(()), jax.core.Tracer)


def _jitted(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function under `jax.jit`. Arrays are traced; other arguments and results are constants."""

    def run(*args: Any, **kwargs: Any) -> Any:
        leaves, tree = _jax.tree.flatten((args, kwargs))
        is_array = [isinstance(leaf, jax.Array) for leaf in leaves]
        returned: list[Any] = []

        def traced(arrays: list[Any]) -> list[Any]:
            remaining = iter(arrays)
            filled = [next(remaining) if array else leaf for leaf, array in zip(leaves, is_array, strict=True)]
            args, kwargs = _jax.tree.unflatten(tree, filled)
            returned[:] = _jax.tree.flatten(function(*args, **kwargs))
            return [x for x in returned[0] if isinstance(x, jax.Array)]

        arrays = [leaf for leaf, array in zip(leaves, is_array, strict=True) if array]
        values = iter(_jax.jit(traced)(arrays))
        results, shape = returned
        return _jax.tree.unflatten(shape, [next(values) if isinstance(x, jax.Array) else x for x in results])

    return run


_COMPILED = "/jax/core/compile/backend_compile_duration"
"""The event of each program that XLA compiles."""


@cache
def _compiled() -> Counter[str]:
    """The events of JAX by name, from now on."""
    found: Counter[str] = Counter()
    jax.monitoring.register_event_duration_secs_listener(lambda event, *_, **__: found.update((event,)))
    return found


def compilations() -> int:
    """The number of programs that XLA compiled, including single functions and programs in the cache on disk."""
    return _compiled()[_COMPILED]


def run_modes() -> tuple[RunMode, ...]:
    """With 64-bit types: eagerly and under `jax.jit`."""
    context = partial(_jax.enable_x64, True)
    return RunMode(context=context), RunMode("jit", compiled=_jitted, context=context, traces=True)


def set_default_dtype(name: str | None, /) -> None:
    """JAX lacks this setting. Its compiled functions have the earlier defaults as constants, so they are dropped."""
    _jax.clear_caches()
