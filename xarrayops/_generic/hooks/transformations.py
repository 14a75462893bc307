"""The generic hooks about runs of functions: modes in compiled code, what is counted, ways to run, transformations."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from types import ModuleType
from typing import Any

from xarrayops.plugin.arrays import Array, unsupported
from xarrayops.plugin.operations import Operation
from xarrayops.plugin.runs import RunMode


def carry_mode(xp: ModuleType, name: str, key: str, /) -> AbstractContextManager[Any]:
    """The standard has no compiler."""
    return nullcontext()


def carries_mode(xp: ModuleType, name: str, key: str, /) -> bool:
    """The standard has no compiler."""
    return True


def crossings(xp: ModuleType, report: Callable[..., None], /) -> AbstractContextManager[Any]:
    """The standard does not tell of crossings."""
    return nullcontext()


def compilations(xp: ModuleType) -> int:
    """The standard has no compiler."""
    return 0


def run_modes(xp: ModuleType) -> tuple[RunMode, ...]:
    """The standard has no compiler, and all arrays have values."""
    return (RunMode(),)


def carry_operation(xp: ModuleType, operation: Operation, /) -> Callable[..., Any]:
    """The function that serves plain calls."""
    return operation.serve


native_kernel = unsupported(
    "it has no way to call compiled functions", instead='xo.convert(x, "numpy") if the arrays are in host memory'
)
vjp = value_and_grad = unsupported(
    "it does not differentiate functions", instead='xo.convert(x, "torch") or xo.convert(x, "jax")'
)
vmap = unsupported("it does not transform functions", instead='xo.convert(x, "torch") or xo.convert(x, "jax")')


def checkpoint(
    xp: ModuleType, function: Callable[..., tuple[Array, ...]], arrays: tuple[Array, ...], /
) -> tuple[Array, ...]:
    """The standard stores nothing for gradients."""
    return function(*arrays)


def no_grad(xp: ModuleType) -> AbstractContextManager[Any]:
    """The standard stores nothing for gradients."""
    return nullcontext()
