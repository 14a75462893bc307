"""The memory of devices as CuPy's pool has it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import cupy

from xarrayops_backends.cupy._devices import _on


def free_bytes(device: Any, /) -> int | None:
    """What the driver has left, and what the pool keeps without using it."""
    with _on(device):
        return int(device.mem_info[0] + cupy.get_default_memory_pool().free_bytes())


def release_memory(device: Any, /) -> None:
    """What the pools of the device and of page-locked memory keep without using it."""
    with _on(device):
        cupy.get_default_memory_pool().free_all_blocks()
        cupy.get_default_pinned_memory_pool().free_all_blocks()


def peak_bytes(device: Any, call: Callable[[], Any], /) -> int | None:
    """The pool counts no peak, so each block that it hands out and takes back is counted."""
    with _Count(device.id) as count:
        call()
    return count.peak


class _Count(cupy.cuda.MemoryHook):  # type: ignore[misc]
    """The bytes of the pool's blocks on one device that this thread uses more than at first, and the most of them."""

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
