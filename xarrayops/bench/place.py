"""Where a cell runs: a device of a backend, and the memory that is available there."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any, NamedTuple

from xarrayops._core.backends import find
from xarrayops._system import machine
from xarrayops.bench.measure import peak_memory

METHOD = f"{peak_memory.METHOD}; on accelerators, the growth of the memory in use by the library's allocator"
"""How `Place.peak_bytes` measures, for the report."""


class Place(NamedTuple):
    """A device of a backend: the backend's name, the device's name, and its kind ("cpu", "cuda", ...)."""

    backend: str
    device: str
    kind: str

    def free_and_total_bytes(self) -> list[tuple[int | None, int | None]]:
        """Free and total bytes of the host, which holds the oracle, and of an accelerator; None where unknown."""
        host = (machine.available_bytes(), machine.memory_limit_bytes() or machine.memory_bytes())
        if self.kind == "cpu":
            return [host]
        with suppress(Exception):  # the device may have failed
            attributes = self._call_hook("device_attributes")
            return [host, (self._call_hook("free_bytes"), attributes.get("memory_bytes"))]
        return [host, (None, None)]

    def release(self) -> None:
        """Return the memory that the library caches, so that other processes can use the accelerator."""
        if self.kind != "cpu":
            with suppress(Exception):  # the device may have failed
                self._call_hook("release_memory")

    def peak_bytes(self, call: Callable[[], Any]) -> int | None:
        """The peak memory of a call. Nothing may be timed in this process afterwards."""
        if self.kind == "cpu":
            return peak_memory.peak_bytes(call)
        peak: int | None = self._call_hook("peak_bytes", call)
        return peak

    def _call_hook(self, hook: str, *arguments: Any) -> Any:
        backend = find.named(self.backend)
        return backend.functions[hook](backend.native_device(self.device), *arguments)
