"""Elements combined by index: each block gives one array of all results, and these are combined elementwise."""

from __future__ import annotations

from types import ModuleType
from typing import Any

from xarrayops._generic.extra import counting
from xarrayops.plugin.arrays import Array

COMBINED = {"add": "add", "subtract": "add", "min": "minimum", "max": "maximum"}
"""The function of the standard that combines the elements of an index, for each operation that `combined` serves."""


def combined(xp: ModuleType, operation: str, values: Array, ids: Array, first: Any, count: int) -> Array:
    """The elements (axis 0) of a block, combined by index, for the indices from ``first`` to ``first + count``.

    Elements of other indices are ignored. An index without elements has the neutral element of the operation.
    """
    if COMBINED[operation] == "add":
        operation, start = "add", 0 if xp.isdtype(values.dtype, "integral") else -0.0  # x + 0.0 loses the sign of -0.0
    else:
        start = counting.limit_of(xp, values, is_least=operation == "max")
    return counting.reduced(xp, operation, start, values, ids - first, count)
