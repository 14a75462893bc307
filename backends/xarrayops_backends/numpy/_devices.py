"""The one device."""

from __future__ import annotations

from typing import Any

import numpy as np

from xarrayops.errors import available_names
from xarrayops.plugin import Array


class __array_namespace_info__(np.__array_namespace_info__):  # type: ignore[misc]  # noqa: N801 - the standard's name
    """NumPy returns a list of devices; since 2025.12 the standard requires a tuple."""

    def devices(self) -> tuple[str, ...]:  # type: ignore[override]
        """The CPU."""
        return ("cpu",)

    def capabilities(self) -> dict[str, Any]:  # type: ignore[override]
        """NumPy before 2.2 does not report its limit."""
        return {"max dimensions": 64, **super().capabilities()}


def as_device(device: Any, /) -> str:
    """Only the CPU."""
    if device not in ("cpu", "cpu:0"):
        raise ValueError(available_names(device, ("cpu",)))
    return "cpu"


def device(x: Array, /) -> str:
    """Always the CPU."""
    return "cpu"


def is_lazy(x: Array, /) -> bool:
    """NumPy runs eagerly. The generic function costs one more call."""
    return False


def to_device(x: Array, device: Any, /) -> Array:
    """x itself: there is one device."""
    return x
