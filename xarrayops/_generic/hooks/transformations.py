"""Gradients, batches and checkpoints."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from types import ModuleType
from typing import Any

from xarrayops._generic import declared
from xarrayops.plugin.arrays import Array


@declared("it does not differentiate functions", instead='xo.convert(x, "torch") or xo.convert(x, "jax")')
def vjp(
    xp: ModuleType,
    function: Callable[..., tuple[Array, ...]],
    arrays: tuple[Array, ...],
    cotangents: tuple[Array, ...],
    /,
) -> tuple[Array, ...]:
    """The vector-Jacobian product of a function of floating-point arrays: one array for each of its arguments.

    ``cotangents`` has an array for each result.
    """
    raise NotImplementedError


@declared("it does not transform functions", instead='xo.convert(x, "torch") or xo.convert(x, "jax")')
def vmap(xp: ModuleType, function: Callable[..., Any], /) -> Callable[..., Any]:
    """The given function, mapped over a new first axis of its array arguments."""
    raise NotImplementedError


@declared("it does not differentiate functions", instead='xo.convert(x, "torch") or xo.convert(x, "jax")')
def value_and_grad(
    xp: ModuleType, function: Callable[..., tuple[Array, tuple[Array, ...]]], arrays: tuple[Array, ...], /
) -> tuple[Array, tuple[Array, ...], tuple[Array, ...]]:
    """The value of a function of real floating-point arrays, its other results, and the gradient for each array.

    The function returns a floating-point number and other arrays. Law: calls may be nested; results are differentiable
    only inside another transformation.
    """
    raise NotImplementedError


def checkpoint(
    xp: ModuleType, function: Callable[..., tuple[Array, ...]], arrays: tuple[Array, ...], /
) -> tuple[Array, ...]:
    """The arrays that a function of arrays returns. For gradients it may be called again, on any thread.

    The generic function calls it once: the library stores nothing for gradients.
    """
    return function(*arrays)  # the standard stores nothing for gradients


def no_grad(xp: ModuleType) -> AbstractContextManager[Any]:
    """A context in which the library stores nothing for gradients. Raises `Unsupported` if it cannot prevent that."""
    return nullcontext()  # the standard stores nothing for gradients


def register_state(xp: ModuleType, cls: type, data: tuple[str, ...], constants: tuple[str, ...], /) -> None:
    """Register a class as a pytree of the library, so that its transformations take and return instances.

    ``data`` names the attributes that are numbers or arrays, ``constants`` the others, which compiled functions treat
    as constants. The class is called with all of them by keyword. Called once for each class.
    """
