"""Compiled functions: `torch_xla.compile`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch_xla

from xarrayops.plugin import Array

_torch_xla: Any = torch_xla  # untyped: PyTorch/XLA does not annotate these functions


def compiled(function: Callable[..., Any], dynamic_axes: tuple[tuple[int, int], ...], /) -> Callable[..., Any]:
    """`torch_xla.compile`: each call records its operations, and XLA compiles for each shape.

    A call that reads values, such as for a branch, has a graph before and a graph after it.
    """

    def call(*arrays: Array) -> Any:
        return function(*arrays)

    return _torch_xla.compile(call)
