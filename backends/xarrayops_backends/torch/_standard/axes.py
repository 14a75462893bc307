"""Axes: PyTorch and array-api-compat compare them with (), or use their length."""

from __future__ import annotations

from operator import index
from typing import Any

Axes = int | tuple[int, ...] | None


def _as_axes(axis: Any) -> Any:
    """The axes as Python integers. Others, such as NumPy's, have no length and compare elementwise."""
    if axis is None or type(axis) is int:
        return axis
    return tuple(map(index, axis)) if isinstance(axis, (tuple, list)) else index(axis)
