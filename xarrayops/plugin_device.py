"""What a backend module may define about the memory of its devices and its global switches; part of its hooks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class DeviceHooks:
    """The hooks that the benchmark and the doctor ask: names, signatures and laws."""

    @staticmethod
    def free_bytes(device: Any, /) -> int | None:
        """The memory of a native device that the library could still get; None where it does not tell."""
        raise NotImplementedError

    @staticmethod
    def release_memory(device: Any, /) -> None:
        """Give the memory of a native device back that the library holds for reuse, as far as it can."""
        raise NotImplementedError

    @staticmethod
    def peak_bytes(device: Any, call: Callable[[], Any], /) -> int | None:
        """The memory of a native device that a call takes at its peak, beyond what was held before; None if unknown.

        ``call`` waits for its results.
        """
        raise NotImplementedError

    @staticmethod
    def precision_switches() -> dict[str, str]:
        """The library's global settings, as they are now, that decide on the precision of products."""
        raise NotImplementedError
