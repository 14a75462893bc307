"""The peak memory of a call on the host."""

from __future__ import annotations

import ctypes
import gc
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

METHOD = "growth of the peak resident set, the largest of three calls"
"""How `peak_bytes` measures, for the report."""
_TRIM_THRESHOLD, _TOP_PAD, _MMAP_THRESHOLD = -1, -2, -3  # of glibc's mallopt


def peak_bytes(call: Callable[[], Any]) -> int | None:
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
    before = _status_bytes("VmRSS")
    call()
    return max(0, _status_bytes("VmHWM") - before)


def _status_bytes(field: str) -> int:
    for line in Path("/proc/self/status").read_text().splitlines():
        name, _, value = line.partition(":")
        if name == field:
            return int(value.split()[0]) * 1024
    raise LookupError(field)
