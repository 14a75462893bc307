"""Hold BLAS to one thread while threads of our own call it.

The number of BLAS's threads is one for the whole process. So those who hold it are counted, and the last one to let go
restores it: two callers that each did so for themselves could leave the process at one thread for ever. Since
threadpoolctl 3.8 the first thread that sets the number is the only one that can, until it restores the number.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

_lock = threading.Lock()
_holders: set[object] = set()
_limits: list[Any] = []
"""What restores the number of threads, while somebody holds it."""

AVX512 = ("SkylakeX", "Cooperlake", "SapphireRapids")
"""Processors as OpenBLAS names them."""
SMALL = 1_000_000
"""Multiplications up to which OpenBLAS takes matrices to be small."""


def with_one_thread(work: Callable[[], None]) -> None:
    """Call work while BLAS has one thread, whoever else asks for that at the same time."""
    me = object()
    try:
        with _lock:
            if not _limits:
                _free()
                _limits.append(_controller().limit(limits=1))
            _holders.add(me)
        work()
    finally:
        with _lock:
            _holders.discard(me)
            if not _holders:
                _restore()


def _restore() -> None:
    while _limits:
        _free()
        _limits[-1].restore_original_limits()
        _free()
        _limits.pop()


def _free() -> None:
    """Let any thread set the number of threads."""
    for library in _controller().lib_controllers:
        if hasattr(library, "clear_controlling_thread"):
            library.clear_controlling_thread(force=True)


@lru_cache(maxsize=1)
def _controller() -> Any:
    """The BLAS libraries that are loaded by now, NumPy's among them. To look for them takes a millisecond."""
    import threadpoolctl  # not before it is needed: it looks up the libraries of the system

    return threadpoolctl.ThreadpoolController().select(user_api="blas")


def takes_as_they_lie(rows: int, columns: int, inner: int, dtype: np.dtype[Any]) -> bool:
    """Whether BLAS multiplies matrices in C order of such extents without a copy into an order of its own.

    OpenBLAS does where processors have AVX-512: ``sgemm_small_matrix_permit`` in its kernel/x86_64.
    """
    return rows * columns * inner <= SMALL and dtype == np.float32 and _has_small_kernels()


@lru_cache(maxsize=1)
def _has_small_kernels() -> bool:
    return all(each.get("architecture") in AVX512 for each in _controller().info())


def _begin_anew() -> None:
    """In a forked child nobody holds BLAS, whoever did in the parent."""
    global _lock
    _lock = threading.Lock()
    _holders.clear()
    _restore()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin_anew)
