"""A small pool of threads for kernels that release the interpreter lock."""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import lru_cache
from operator import length_hint
from typing import TYPE_CHECKING, TypeVar

from xarrayops.errors import XArrayOpsError

if TYPE_CHECKING:
    from concurrent.futures import Future, ThreadPoolExecutor

Task = TypeVar("Task")
_this_thread = threading.local()


def thread_count() -> int:
    """The number of threads of our kernels: ``XARRAYOPS_THREADS``, else the number of CPUs of this process."""
    asked = os.environ.get("XARRAYOPS_THREADS")
    if not asked:
        return len(_cpus()) or os.cpu_count() or 1
    if not asked.isdecimal() or int(asked) == 0:
        raise XArrayOpsError(f"XARRAYOPS_THREADS={asked!r} must be a positive integer. Instead: 1 or more, or unset it")
    return int(asked)


def run(work: Callable[[Iterable[Task]], None], tasks: Iterable[Task]) -> None:
    """Distribute the tasks over the caller and the pool: each thread calls ``work`` once, with an iterator over tasks.

    The caller works too: a thread of the pool takes some 30 microseconds to wake. A thread of the pool that calls this
    runs all tasks itself, so that threads never wait for each other. The first error is raised after all threads have
    stopped, unless the caller is interrupted a second time; tasks that have not begun are dropped.
    """
    waiting = list(tasks)
    if len(waiting) < 2:
        # Using the pool takes as long as many tasks.
        work(waiting)
        return
    # Threads draw tasks without a lock, because the next item of a list's iterator is taken atomically. When the list
    # is cleared, the iterator ends.
    shared = iter(waiting)
    resting = threading.Condition()
    active, over = 0, False

    def share() -> None:
        nonlocal active
        # `over` is read and `active` is raised under one lock: either the caller waits for this share, or it does
        # nothing.
        with resting:
            if over:
                return
            active += 1
        try:
            work(shared)
        except BaseException:
            # The other threads finish their current task and find nothing more to draw.
            waiting.clear()
            raise
        finally:
            with resting:
                active -= 1
                resting.notify_all()

    count = thread_count()
    wanted = min(count, len(waiting))
    # A thread of the pool must not wait for the pool: all its threads could be waiting.
    if wanted < 2 or getattr(_this_thread, "of_pool", False):
        share()
        return
    futures: list[Future[None]] = []
    with suppress(RuntimeError):  # the interpreter shuts down, or the system has no more threads
        for _ in range(wanted - 1):
            futures.append(_pool(count, _cpus()).submit(share))  # noqa: PERF401 - submitted futures must be kept
    try:
        share()
        for future in futures:
            # When no task is left, a share that has not begun is not waited for: the pool may be busy with other
            # callers. `result` raises the error of a share.
            if length_hint(shared) or not future.cancel():
                future.result()
    except BaseException:
        waiting.clear()
        raise
    finally:
        with resting:
            # A share that the pool begins later does nothing. Those that have begun may write to the caller's arrays,
            # so this function does not return, nor raise, before they have stopped.
            over = True
            resting.wait_for(lambda: not active)


@contextmanager
def none_of_pool() -> Iterator[None]:
    """Let this thread run all tasks itself."""
    before = getattr(_this_thread, "of_pool", False)
    _this_thread.of_pool = True
    try:
        yield
    finally:
        _this_thread.of_pool = before


def all_true(test: Callable[[Task], bool], tasks: Iterable[Task]) -> bool:
    """Whether a test is true for all tasks; threads stop after the first task for which it is false."""
    failed = threading.Event()

    def work(some: Iterable[Task]) -> None:
        for each in some:
            if failed.is_set() or not test(each):
                failed.set()
                return

    run(work, tasks)
    return not failed.is_set()


def _cpus() -> frozenset[int]:
    """The CPUs that this thread may run on; empty if the system does not report them."""
    # The affinity of a process, for example in a container, may allow fewer CPUs than os.cpu_count reports.
    return frozenset(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else frozenset()


@lru_cache(maxsize=2)
def _pool(count: int, cpus: frozenset[int]) -> ThreadPoolExecutor:
    """A persistent pool. If it has one thread for each CPU, each thread is bound to one CPU.

    A thread that waits for the interpreter lock is woken on the CPU of the thread that releases it, and on virtual
    machines both may stay on that CPU for tens of milliseconds.
    """
    from concurrent.futures import ThreadPoolExecutor  # slow to import: it imports logging

    # With more threads than CPUs, or fewer, the system distributes them better than a fixed choice.
    bound = deque(sorted(cpus) if len(cpus) == count else ())
    return ThreadPoolExecutor(count, "xarrayops", initializer=_begin, initargs=(bound,))


def _begin(cpus: deque[int]) -> None:
    # Marks the thread for `run`, which must not wait for the pool in it.
    _this_thread.of_pool = True
    if cpus:
        with suppress(OSError):  # the CPU may no longer be available
            os.sched_setaffinity(0, {cpus.popleft()})


if hasattr(os, "register_at_fork"):  # a forked child does not inherit threads
    os.register_at_fork(after_in_child=_pool.cache_clear)
