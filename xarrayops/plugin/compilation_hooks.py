"""The hooks of a backend that compile functions, and branches and loops in them: names, signatures and laws."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from xarrayops.plugin.arrays import Array

Arrays = tuple[Array, ...]


class CompilationHooks:
    """The hooks for compiled functions; the class is a part of `Hooks`."""

    @staticmethod
    def compiled(function: Callable[..., Any], dynamic_axes: tuple[tuple[int, int], ...], /) -> Callable[..., Any]:
        """The function of arrays, compiled by its first call for arrays of some shapes and dtypes.

        ``dynamic_axes`` has pairs of an argument and an axis whose length may change; compilers for constant shapes
        compile again.

        Its result is arrays, in nested tuples, lists and dictionaries, and other values, which are constants. Law: a
        call raises where the compiler cannot trace the function; inside a transformation it gives what the function
        gives. Each result has its own programs: it shares none with another function of the same code. After its first
        call it may have an attribute ``direct``, a function that does the same in less time.
        """
        raise NotImplementedError

    @staticmethod
    def is_transformed() -> bool:
        """Whether the library compiles, differentiates or batches a function now, so that arrays may have no values.

        False where only the results are recorded for gradients, as by autograd.
        """
        raise NotImplementedError

    @staticmethod
    def random_state() -> tuple[Any, Callable[[], None]] | None:
        """A value that changes when the library's global generators are used, and a function that sets them back.

        Values are compared by ``==``. None if the library has no such generators.
        """
        raise NotImplementedError

    @staticmethod
    def cond(predicate: Array, if_true: Callable[..., Any], if_false: Callable[..., Any], operands: Arrays, /) -> Any:
        """The result of one of two functions of the operands, by a boolean array without axes; it is nested or not."""
        raise NotImplementedError

    @staticmethod
    def while_loop(condition: Callable[..., Array], body: Callable[..., Arrays], values: Arrays, /) -> Arrays:
        """The values after ``values = body(*values)``, repeated while ``condition(*values)`` is true.

        The body checks that it keeps shapes and dtypes.
        """
        raise NotImplementedError

    @staticmethod
    def scan(
        step: Callable[[Arrays, Arrays], tuple[Arrays, Any]],
        carry: Arrays,
        xs: Arrays,
        length: int,
        stacked: Callable[[list[Any]], Any],
        /,
    ) -> tuple[Arrays, Any]:
        """The last carry, and the results of all steps, stacked along a new first axis.

        Step i gets the carry and item i of each array of ``xs``, and returns the next carry and a result: None, an
        array, or nested ones. ``stacked`` stacks a list of results. The length is positive. The step checks that it
        keeps the shapes and dtypes of the carry.
        """
        raise NotImplementedError
