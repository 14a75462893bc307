"""The memory that a call takes at its peak."""

from __future__ import annotations

import ctypes
import gc
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

METHOD = "growth of the resident set at its peak, the largest of three calls"
"""How `peak_bytes` is found, for the report."""
_TRIM_THRESHOLD, _TOP_PAD, _MMAP_THRESHOLD = -1, -2, -3  # of glibc's mallopt


def peak_bytes(call: Callable[[], Any]) -> int | None:
    """How far a call drives the process's resident memory above what it was before, in bytes.

    This counts what any library allocates on the host, results included, in whole pages. It sees no memory of
    accelerators. Memory that an allocator keeps for reuse would be missed, so glibc is told to give all of it back,
    which makes later calls slower: nothing may be timed in this process afterwards. None where the system does not
    tell (it takes Linux, which can reset the mark).
    """
    with suppress(OSError, AttributeError):
        libc = ctypes.CDLL(None)
        for option, value in ((_TRIM_THRESHOLD, 0), (_TOP_PAD, 0), (_MMAP_THRESHOLD, 1 << 16)):
            libc.mallopt(option, value)
    call()  # frees what was kept before
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
