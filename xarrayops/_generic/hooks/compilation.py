"""Branches and loops on a standard namespace: Python's own, because there is no compiler."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

from xarrayops.plugin.arrays import Array, unsupported

Arrays = tuple[Array, ...]

compiled = unsupported(
    "it has no compiler of functions", instead='engine="jax" or engine="torch", which compile for NumPy arrays'
)


def is_transformed(xp: ModuleType) -> bool:
    """The standard transforms no functions."""
    return False


def random_state(xp: ModuleType) -> tuple[Any, Callable[[], None]] | None:
    """The standard has no generators."""
    return None


def cond(
    xp: ModuleType,
    predicate: Array,
    if_true: Callable[..., Any],
    if_false: Callable[..., Any],
    operands: Arrays,
    /,
) -> Any:
    """A branch on the value."""
    return if_true(*operands) if bool(predicate) else if_false(*operands)


def while_loop(
    xp: ModuleType, condition: Callable[..., Array], body: Callable[..., Arrays], values: Arrays, /
) -> Arrays:
    """A loop on the values of the condition."""
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
    """A loop over the items."""
    rows = []
    for i in range(length):
        carry, row = step(carry, tuple(x[i, ...] for x in xs))
        rows.append(row)
    return carry, stacked(rows)
