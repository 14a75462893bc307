"""The programs that JAX and torch.compile keep in memory: those of a sweep fill 20 GiB."""

import ctypes
import gc
import os
import sys
from contextlib import suppress
from pathlib import Path

MOST = 3 << 30
"""The bytes that a process may gain before it forgets its programs."""
_after_last = 0


def forget() -> None:
    """Forget the programs of this process, and give their memory back to the system."""
    for name, clear in (("jax", "clear_caches"), ("torch._dynamo", "reset")):
        if name in sys.modules:
            getattr(sys.modules[name], clear)()
    gc.collect()
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)  # of glibc, which keeps half of it otherwise


def forget_many() -> None:
    """Forget the programs of this process if they take much memory."""
    global _after_last
    if resident() > _after_last + MOST:
        forget()
        _after_last = resident()


def resident() -> int:
    """The bytes of memory that this process holds; 0 if the system does not say."""
    with suppress(OSError):
        return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    return 0
