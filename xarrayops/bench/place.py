"""Where a cell runs, and the memory that is there, as far as the system and the library tell."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any, NamedTuple

from xarrayops._core import registry
from xarrayops._system import machine
from xarrayops.bench.measure import peak_memory

METHOD = f"{peak_memory.METHOD}; on accelerators the growth of what the library's allocator has in use"
"""How `Place.peak_bytes` is found, for the report."""


class Place(NamedTuple):
    """A device of a backend: its name, and its kind ("cpu", "cuda", ...)."""

    backend: str
    device: str
    kind: str

    def room(self) -> list[tuple[int | None, int | None]]:
        """Bytes that are free, and bytes in all: of the host, which holds the oracle, and of an accelerator."""
        host = (machine.available_bytes(), machine.memory_limit_bytes() or machine.memory_bytes())
        if self.kind == "cpu":
            return [host]
        with suppress(Exception):  # a device that failed tells nothing
            attributes = self._asked("device_attributes")
            return [host, (self._asked("free_bytes"), attributes.get("memory_bytes"))]
        return [host, (None, None)]

    def release(self) -> None:
        """Give back what the library holds for reuse, so that others find the accelerator as empty as can be."""
        if self.kind != "cpu":
            with suppress(Exception):  # a device that failed gives nothing back
                self._asked("release_memory")

    def peak_bytes(self, call: Callable[[], Any]) -> int | None:
        """The memory that a call takes at its peak; nothing may be timed in this process afterwards."""
        if self.kind == "cpu":
            return peak_memory.peak_bytes(call)
        peak: int | None = self._asked("peak_bytes", call)
        return peak

    def _asked(self, hook: str, *arguments: Any) -> Any:
        backend = registry.backend_by_name(self.backend)
        return backend.functions[hook](backend.native_device(self.device), *arguments)
