"""The hooks of a backend that transform functions: names, signatures and laws."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

from xarrayops.plugin.arrays import Array


class TransformationHooks:
    """The hooks for gradients and batches; the class is a part of `Hooks`."""

    @staticmethod
    def vjp(
        function: Callable[..., tuple[Array, ...]], arrays: tuple[Array, ...], cotangents: tuple[Array, ...], /
    ) -> tuple[Array, ...]:
        """The vector-Jacobian product of a function of floating-point arrays: one array for each of its arguments.

        ``cotangents`` has an array for each result.
        """
        raise NotImplementedError

    @staticmethod
    def vmap(function: Callable[..., Any], /) -> Callable[..., Any]:
        """The function of arrays with a new first axis, for each index of which it calls the given function."""
        raise NotImplementedError

    @staticmethod
    def value_and_grad(
        function: Callable[..., tuple[Array, tuple[Array, ...]]], arrays: tuple[Array, ...], /
    ) -> tuple[Array, tuple[Array, ...], tuple[Array, ...]]:
        """The value of a function of real floating-point arrays, its other results, and the gradient by each array.

        The function returns a floating-point number and other arrays. Law: calls may be nested; a result has a
        gradient of its own only inside another transformation.
        """
        raise NotImplementedError

    @staticmethod
    def checkpoint(function: Callable[..., tuple[Array, ...]], arrays: tuple[Array, ...], /) -> tuple[Array, ...]:
        """The arrays that a function of arrays returns. For gradients the function may be called again, on any thread.

        The generic function calls it once: the library stores nothing for gradients.
        """
        raise NotImplementedError

    @staticmethod
    def no_grad() -> AbstractContextManager[Any]:
        """A context in which the library stores nothing for gradients. Raises `Unsupported` where it would."""
        raise NotImplementedError
