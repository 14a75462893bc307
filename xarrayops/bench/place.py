"""Where a cell runs: a device of a backend, its memory and its caches."""

from __future__ import annotations

import ctypes
import gc
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import xarrayops as xo
from xarrayops._core.backends import find
from xarrayops._system import machine

METHOD = (
    "growth of the peak resident set, the largest of three calls; on accelerators, the growth of the memory in use by "
    "the library's allocator"
)
"""How `Place.peak_bytes` measures, for the report."""
MIN_CACHE_BYTES, MAX_CACHE_BYTES = 16 << 20, 256 << 20  # more would take longer than the measurement
_TRIM_THRESHOLD, _TOP_PAD, _MMAP_THRESHOLD = -1, -2, -3  # of glibc's mallopt


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
            return peak_host_bytes(call)
        peak: int | None = self._call_hook("peak_bytes", call)
        return peak

    def fill_caches(self) -> None:
        """Fill the caches with other data, so that the next call reads its inputs from memory.

        This reads and writes memory of twice the size of the device's largest cache, at most `MAX_CACHE_BYTES`. On the
        host each CPU writes a part of it, at least twice the size of its own second-largest cache.
        """
        if self.kind == "cpu":
            cpus = machine.usable_cpus()
            parts = np.array_split(_host_memory(), len(cpus))
            with ThreadPoolExecutor(len(cpus)) as pool:
                list(pool.map(_rewrite, cpus, parts))
        else:
            xo.synchronize(xo.add(_device_memory(self.backend, self.device), 1.0))

    def _call_hook(self, hook: str, *arguments: Any) -> Any:
        backend = find.named(self.backend)
        return backend.functions[hook](backend.native_device(self.device), *arguments)


def _rewrite(cpu: int, part: Any) -> None:
    with suppress(AttributeError, OSError):  # not supported or not permitted on every system
        os.sched_setaffinity(0, {cpu})  # of this thread only
    np.add(part, 1, out=part)


@cache
def _host_memory() -> Any:
    *own, largest = sorted(machine.cache_bytes()) or [MIN_CACHE_BYTES]
    whole = min(max(2 * largest, MIN_CACHE_BYTES), MAX_CACHE_BYTES)
    return np.zeros(max(whole, 2 * max(own, default=0) * len(machine.usable_cpus())), dtype=np.uint8)


@cache
def _device_memory(backend: str, device: str) -> Any:
    """Half of the bytes: the result that is written is as large."""
    return xo.convert(np.zeros(MAX_CACHE_BYTES // 8, dtype="float32"), backend, device=device)


def peak_host_bytes(call: Callable[[], Any]) -> int | None:
    """The growth of the resident set of the process during a call, at its peak, in bytes.

    It counts the host memory that any library allocates, results included, in whole pages. It does not count
    accelerator memory. Memory that an allocator caches would not count either, so glibc is configured to return all of
    it. This makes later calls slower: nothing may be timed in this process afterwards. None except on Linux, where the
    peak can be reset.
    """
    with suppress(OSError, AttributeError):
        libc = ctypes.CDLL(None)
        for option, value in ((_TRIM_THRESHOLD, 0), (_TOP_PAD, 0), (_MMAP_THRESHOLD, 1 << 16)):
            libc.mallopt(option, value)
    call()  # replaces memory that was cached before
    try:
        return max(_growth(call) for _ in range(3))
    except OSError:
        return None


def _growth(call: Callable[[], Any]) -> int:
    gc.collect()
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)
    Path("/proc/self/clear_refs").write_text("5")
    before = _resident_bytes("VmRSS")
    call()
    return max(0, _resident_bytes("VmHWM") - before)


def _resident_bytes(field: str) -> int:
    """A field of the status of this process, which has it if its peak can be reset."""
    return int((machine.field("/proc/self/status", field) or "").split()[0]) * 1024
