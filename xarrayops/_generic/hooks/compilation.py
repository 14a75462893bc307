"""Compiled functions, branches and loops, and modes in compiled code.

Generic functions run in Python.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from types import ModuleType
from typing import Any

from xarrayops._generic import declared
from xarrayops.plugin.arrays import Array
from xarrayops.plugin.runs import RunMode

Arrays = tuple[Array, ...]


@declared("it cannot compile functions", instead='engine="jax" or engine="torch", which compile for NumPy arrays')
def compiled(
    xp: ModuleType, function: Callable[..., Any], dynamic_axes: tuple[tuple[int, int], ...], /
) -> Callable[..., Any]:
    """The function of arrays, compiled at its first call for each combination of shapes and dtypes.

    ``dynamic_axes`` has pairs of an argument and an axis whose length may change; compilers that need constant shapes
    compile again.

    It returns a pytree of arrays, in tuples, lists and dictionaries, and of other values, which are constants. Law: a
    call raises if the compiler cannot trace the function; inside a transformation it returns the same as the function.
    Each compiled function has its own programs and shares none with another function of the same code. After its first
    call it may have an attribute ``direct``, an equivalent faster function.
    """
    raise NotImplementedError


def cond(
    xp: ModuleType, predicate: Array, if_true: Callable[..., Any], if_false: Callable[..., Any], operands: Arrays, /
) -> Any:
    """The result, a pytree, of one of two functions of the operands, selected by a 0-d boolean array."""
    return if_true(*operands) if bool(predicate) else if_false(*operands)


def while_loop(
    xp: ModuleType, condition: Callable[..., Array], body: Callable[..., Arrays], values: Arrays, /
) -> Arrays:
    """The values after ``values = body(*values)``, repeated while ``condition(*values)`` is true.

    The body itself checks that it keeps shapes and dtypes.
    """
    while bool(condition(*values)):
        values = body(*values)
    return values


def scan(
    xp: ModuleType,
    step: Callable[[Arrays, Arrays], tuple[Arrays, Any]],
    carry: Arrays,
    xs: Arrays,
    length: int,
    stacked: Callable[[list[Any]], Any],
    /,
) -> tuple[Arrays, Any]:
    """The last carry, and the results of all steps, stacked along a new first axis.

    Step i gets the carry and item i of each array of ``xs``, and returns the next carry and a result: None, an array,
    or a pytree. ``stacked`` stacks a list of results. The length is positive. The step itself checks that it keeps the
    shapes and dtypes of the carry.
    """
    rows = []
    for i in range(length):
        carry, row = step(carry, tuple(x[i, ...] for x in xs))
        rows.append(row)
    return carry, stacked(rows)


def is_transformed(xp: ModuleType) -> bool:
    """Whether the library compiles, differentiates or batches a function now, so that arrays may have no values.

    False if operations are only recorded for gradients, as by autograd.
    """
    return False  # the standard transforms no functions


def trace_state(xp: ModuleType) -> Any:
    """A value that identifies the current trace of the library's compiler, comparable by ``==``; None outside a trace.

    A different value means a different trace, such as a loop or a vectorised function inside a compiled one.
    """
    return None  # the standard has no compiler


def random_state(xp: ModuleType) -> tuple[Any, Callable[[], None]] | None:
    """A value that changes when the library's global generators are used, and a function that resets them.

    Values are compared by ``==``. None if the library has no such generators.
    """
    return None  # the standard has no generators


def carry_mode(xp: ModuleType, name: str, key: str, /) -> AbstractContextManager[Any]:
    """A context in which the library's compiler caches the code of a mode with this key separately.

    A mode is a setting such as `xarrayops.use`, which is its name. Functions that the compiler traced in one mode are
    retraced in another. The key is empty outside of all blocks.
    """
    return nullcontext()  # the standard has no compiler


def carries_mode(xp: ModuleType, name: str, key: str, /) -> bool:
    """Whether a function that is traced now would be compiled for that mode only. True outside a trace."""
    return True  # the standard has no compiler


def compilations(xp: ModuleType) -> int:
    """How often the library has compiled something since the first call of this hook."""
    return 0  # the standard has no compiler


def run_modes(xp: ModuleType) -> tuple[RunMode, ...]:
    """The ways in which the library runs a function: eagerly, compiled, on arrays without values."""
    return (RunMode(),)  # the standard has no compiler, and all arrays have values
