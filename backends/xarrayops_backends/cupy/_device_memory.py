"""Free and used device memory, from CuPy's memory pool."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import cupy

from xarrayops_backends.cupy._devices import _on


def free_bytes(device: Any, /) -> int | None:
    """The free memory that the driver reports, plus the unused memory that the pool keeps."""
    with _on(device):
        return int(device.mem_info[0] + cupy.get_default_memory_pool().free_bytes())


def release_memory(device: Any, /) -> None:
    """Free the unused blocks of the pools of device memory and of page-locked memory."""
    with _on(device):
        cupy.get_default_memory_pool().free_all_blocks()
        cupy.get_default_pinned_memory_pool().free_all_blocks()


def peak_bytes(device: Any, call: Callable[[], Any], /) -> int | None:
    """The pool records no peak, so this counts each allocation and each release."""
    with _Count(device.id) as count:
        call()
    return count.peak


class _Count(cupy.cuda.MemoryHook):  # type: ignore[misc]
    """Counts the bytes that this thread allocates from the pool of one device, and their peak."""

    name = "xarrayops-peak"

    def __init__(self, index: int) -> None:
        self.index, self.used, self.peak = index, 0, 0

    def malloc_postprocess(self, **known: int) -> None:
        if known["device_id"] == self.index and known["mem_ptr"]:
            self.used += known["mem_size"]
            self.peak = max(self.peak, self.used)

    def free_postprocess(self, **known: int) -> None:
        if known["device_id"] == self.index:
            self.used -= known["mem_size"]
