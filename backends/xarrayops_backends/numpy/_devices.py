"""The one device, and versions."""

from __future__ import annotations

from typing import Any

import numpy as np

from xarrayops.errors import available_names
from xarrayops.plugin import Array, Device


class __array_namespace_info__(np.__array_namespace_info__):  # type: ignore[misc]  # noqa: N801 - the standard's name
    """NumPy returns a list of devices; since 2025.12 the standard requires a tuple."""

    def devices(self) -> tuple[str, ...]:  # type: ignore[override]
        """The CPU."""
        return ("cpu",)

    def capabilities(self) -> dict[str, Any]:  # type: ignore[override]
        """NumPy before 2.2 does not report its limit."""
        return {"max dimensions": 64, **super().capabilities()}


def versions() -> dict[str, str]:
    """NumPy's version."""
    return {"numpy": np.__version__}


def devices() -> list[Device]:
    """The CPU."""
    return [Device("cpu", "cpu", "cpu")]


def as_device(device: Any, /) -> str:
    """Only the CPU."""
    if device not in ("cpu", "cpu:0"):
        raise ValueError(available_names(device, ("cpu",)))
    return "cpu"


def device(x: Array, /) -> str:
    """Always the CPU."""
    return "cpu"


def to_device(x: Array, device: Any, /) -> Array:
    """x itself: there is one device."""
    return x


def is_lazy(x: Array, /) -> bool:
    """NumPy computes at once."""
    return False
