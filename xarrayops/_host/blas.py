"""Limit BLAS to one thread while several of our threads call it.

The limit applies to the whole process. Its users are counted, and the last one restores the previous number: if two
users did that independently, the process could stay at one thread. Since threadpoolctl 3.8 only the thread that sets
the limit can change it until it restores the number.
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
# Restores the number of threads, while the limit is in use.
_limits: list[Any] = []

# Processors with AVX-512, by OpenBLAS's names: only for these it has kernels that do not pack.
AVX512 = ("SkylakeX", "Cooperlake", "SapphireRapids")
# The number of multiplications up to which OpenBLAS treats matrices as small.
SMALL = 1_000_000


def with_one_thread(work: Callable[[], None]) -> None:
    """Call ``work`` while BLAS is limited to one thread; other threads may do so at the same time."""
    # A token for each call instead of a count: after an interrupt between the lines below, discarding a token that was
    # not added does nothing, whereas a count would stay one too low.
    me = object()
    try:
        with _lock:
            # Only the first user sets the limit. A second one would record 1 as the number to restore.
            if not _limits:
                # Since threadpoolctl 3.8 a limit that another thread has set keeps this one from setting its own.
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
        # The last user may be another thread than the first, which set the limit.
        _limits[-1].restore_original_limits()
        _free()
        _limits.pop()


def _free() -> None:
    """Allow any thread to change the number of threads."""
    for library in _controller().lib_controllers:
        # threadpoolctl before 3.8 has no owner of a limit.
        if hasattr(library, "clear_controlling_thread"):
            library.clear_controlling_thread(force=True)


class _Uncontrolled:
    """Without threadpoolctl nothing is known of BLAS, and its threads are not limited."""

    lib_controllers: tuple[Any, ...] = ()

    def limit(self, limits: int) -> _Uncontrolled:
        return self

    def restore_original_limits(self) -> None:
        """Restore nothing."""

    def info(self) -> list[dict[str, Any]]:
        return [{}]


@lru_cache(maxsize=1)
def _controller() -> Any:
    """The loaded BLAS libraries, NumPy's included. Finding them takes a millisecond."""
    try:
        import threadpoolctl  # slow to import: it searches the libraries of the system
    except ImportError:
        return _Uncontrolled()
    return threadpoolctl.ThreadpoolController().select(user_api="blas")


def takes_as_they_lie(rows: int, columns: int, inner: int, dtype: np.dtype[Any]) -> bool:
    """Whether BLAS multiplies C-ordered matrices of these extents without packing them first.

    OpenBLAS does so on processors with AVX-512: ``sgemm_small_matrix_permit`` in its kernel/x86_64.
    """
    return rows * columns * inner <= SMALL and dtype == np.float32 and _has_small_kernels()


@lru_cache(maxsize=1)
def _has_small_kernels() -> bool:
    # All, because it is not known which of the loaded libraries NumPy calls.
    return all(each.get("architecture") in AVX512 for each in _controller().info())


def _begin_anew() -> None:
    """In a forked child the limit is not in use, even if it was in the parent."""
    # The lock may be held by a thread of the parent that does not exist here: it would never be released.
    global _lock
    _lock = threading.Lock()
    _holders.clear()
    _restore()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin_anew)
