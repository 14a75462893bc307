"""Compiled functions: `jax.jit`, branches and loops of `jax.lax`, and modes, which are part of the keys of caches."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import cache, partial
from typing import Any

import jax
import jax.monitoring
import jax.numpy as jnp
import numpy as np

from xarrayops.plugin import Array, RunMode
from xarrayops.plugin.nested import fill, leaves
from xarrayops_backends.jax._compiler import _jit, _with_options, trace_state
from xarrayops_backends.jax._dtypes import _CONFIG
from xarrayops_backends.jax._exchange import _NARROW, _WIDE

_jax: Any = jax  # untyped: JAX does not annotate these functions
Arrays = tuple[Array, ...]
Step = Callable[[Arrays, Arrays], tuple[Arrays, Any]]


class _Place:
    """Stands for an array among the results."""


class _Results:
    """The arrays among the results of a function, and what fills the results of one trace with other arrays.

    JAX keeps ``filled`` with a program, and compares it by identity.
    """

    def __init__(self, filled: Callable[[Callable[[Any], Any]], Any], arrays: Any) -> None:
        self.filled = filled
        self.arrays = arrays


_jax.tree_util.register_pytree_node(
    _Results, lambda found: ((found.arrays,), found.filled), lambda filled, parts: _Results(filled, parts[0])
)


def compiled(function: Callable[..., Any], dynamic_axes: tuple[tuple[int, int], ...], /) -> Callable[..., Any]:
    """`jax.jit`, which compiles for each shape. Results that are not JAX arrays are constants; arrays are copied."""

    def traced(*arrays: Array) -> Any:
        result = function(*arrays)
        if isinstance(result, jax.Array):
            return result
        found = [leaf for leaf in leaves(result) if isinstance(leaf, jax.Array)]
        places = fill(result, lambda leaf: _Place() if isinstance(leaf, jax.Array) else leaf)
        return _Results(partial(fill, places), found)

    program = _jit(traced)

    def call(*arrays: Array) -> Any:
        found = program(*arrays)
        if not isinstance(found, _Results):
            vars(call)["direct"] = program
            return found
        given = iter(found.arrays)

        def of_place(leaf: Any) -> Any:
            if type(leaf) is _Place:
                return next(given)
            return leaf.copy() if hasattr(leaf, "shape") and hasattr(leaf, "copy") else leaf

        return found.filled(of_place)

    vars(call)["takes"] = _takes
    return call


def _takes(x: Any) -> bool:
    """Whether a program takes x as it is: a NumPy array whose values JAX keeps, and passes to the first CPU itself.

    The program then takes 2 microseconds more, and an array for it 20.
    """
    return (
        type(x) is np.ndarray
        and (x.dtype in _NARROW or (x.dtype in _WIDE and _CONFIG.jax_enable_x64))
        and x.flags.c_contiguous
        and x.flags.aligned
        and _CONFIG.jax_default_device is None
        and _CONFIG.jax_transfer_guard_host_to_device in (None, "allow")
        and jax.default_backend() == "cpu"
    )


def is_transformed() -> bool:
    """Whether a trace is active."""
    return trace_state() is not None


def cond(predicate: Array, if_true: Callable[..., Any], if_false: Callable[..., Any], operands: Arrays, /) -> Any:
    """`jax.lax.cond`, if the predicate has no value yet: the compiler needs both functions then."""
    try:
        chosen = if_true if predicate else if_false
    except jax.errors.TracerBoolConversionError:
        return _with_options(lambda *given: _jax.lax.cond(given[0], if_true, if_false, *given[1:]))(
            predicate, *operands
        )
    return chosen(*operands)


def while_loop(condition: Callable[..., Array], body: Callable[..., Arrays], values: Arrays, /) -> Arrays:
    """`jax.lax.while_loop`."""
    loop = partial(_jax.lax.while_loop, lambda given: condition(*given), lambda given: body(*given))
    return _with_options(loop)(values)


def scan(
    step: Step, carry: Arrays, xs: Arrays, length: int, stacked: Callable[[list[Any]], Any], /
) -> tuple[Arrays, Any]:
    """`jax.lax.scan`."""
    return _with_options(partial(_jax.lax.scan, step, length=length))(carry, xs)


_modes = _jax.make_user_context(default_value=())
"""The modes of this thread, as sorted pairs of a name and a key."""


def carry_mode(name: str, key: str, /) -> AbstractContextManager[None]:
    """A context in which `jax.jit` and similar transforms trace functions for this mode."""
    pairs = [pair for pair in _modes.value if pair[0] != name]
    return _modes(tuple(sorted([*pairs, (name, key)] if key else pairs)))


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
        values = iter(_jit(traced)(arrays))
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
    note = "JAX ran with its 64-bit types on, which are off when it starts"
    eager = RunMode(context=partial(_jax.enable_x64, True), has_devices=True, note=note)
    return eager, eager._replace(label="jit", compiled=_jitted, traces=True)


def set_default_dtype(name: str | None, /) -> None:
    """JAX lacks this setting. Its compiled functions have the earlier defaults as constants, so they are dropped."""
    _jax.clear_caches()
