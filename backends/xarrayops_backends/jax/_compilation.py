"""Compiled functions: `jax.jit`, and the branches and loops of `jax.lax`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax

from xarrayops.plugin import Array
from xarrayops.plugin.nested import fill, leaves
from xarrayops_backends.jax._random import trace_state

_jax: Any = jax  # untyped: JAX does not annotate these functions
Arrays = tuple[Array, ...]


class _Place:
    """Stands for an array among the results."""


class _Results:
    """The arrays among the results of a function, and the results with placeholders for them, of one trace."""

    def __init__(self, form: Any, arrays: Any) -> None:
        self.form = form
        self.arrays = arrays


_jax.tree_util.register_pytree_node(
    _Results, lambda found: ((found.arrays,), _Constant(found.form)), lambda form, parts: _Results(form.value, parts[0])
)


class _Constant:
    """A value that JAX keeps with a program, and compares by identity."""

    def __init__(self, value: Any) -> None:
        self.value = value


def compiled(function: Callable[..., Any], dynamic_axes: tuple[tuple[int, int], ...], /) -> Callable[..., Any]:
    """`jax.jit`, which compiles for each shape. Results that are not JAX arrays are constants; arrays are copied."""

    def traced(*arrays: Array) -> Any:
        result = function(*arrays)
        if isinstance(result, jax.Array):
            return result
        found = [leaf for leaf in leaves(result) if isinstance(leaf, jax.Array)]
        return _Results(fill(result, lambda leaf: _Place() if isinstance(leaf, jax.Array) else leaf), found)

    program = _jax.jit(traced)

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

        return fill(found.form, of_place)

    return call


def is_transformed() -> bool:
    """Whether a trace is active."""
    return trace_state() is not None


def cond(predicate: Array, if_true: Callable[..., Any], if_false: Callable[..., Any], operands: Arrays, /) -> Any:
    """`jax.lax.cond`."""
    return _jax.lax.cond(predicate, if_true, if_false, *operands)


def while_loop(condition: Callable[..., Array], body: Callable[..., Arrays], values: Arrays, /) -> Arrays:
    """`jax.lax.while_loop`."""
    found: Arrays = _jax.lax.while_loop(lambda given: condition(*given), lambda given: body(*given), values)
    return found


def scan(
    step: Callable[[Arrays, Arrays], tuple[Arrays, Any]],
    carry: Arrays,
    xs: Arrays,
    length: int,
    stacked: Callable[[list[Any]], Any],
    /,
) -> tuple[Arrays, Any]:
    """`jax.lax.scan`."""
    found: tuple[Arrays, Any] = _jax.lax.scan(step, carry, xs, length)
    return found
