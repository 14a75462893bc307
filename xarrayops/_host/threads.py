"""A small pool of threads for kernels that release the interpreter lock."""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import lru_cache
from typing import TYPE_CHECKING, TypeVar

from xarrayops.errors import XArrayOpsError

if TYPE_CHECKING:
    from concurrent.futures import Future, ThreadPoolExecutor

Task = TypeVar("Task")
_this_thread = threading.local()


def thread_count() -> int:
    """How many threads our kernels use: ``XARRAYOPS_THREADS``, else the CPUs that this process may run on."""
    asked = os.environ.get("XARRAYOPS_THREADS")
    if not asked:
        return len(_cpus()) or os.cpu_count() or 1
    if not asked.isdecimal() or int(asked) == 0:
        raise XArrayOpsError(f"XARRAYOPS_THREADS={asked!r} must be a positive integer. Instead: 1 or more, or unset it")
    return int(asked)


def run(work: Callable[[Iterable[Task]], None], tasks: Iterable[Task]) -> None:
    """Spread the tasks over the pool: each thread calls ``work`` once, with an iterator that it draws its tasks from.

    The caller waits; a thread of the pool that calls this does all by itself, so that none waits for another. The first
    error is raised, after every thread has come to rest (but for a caller that is interrupted a second time); the tasks
    that were not begun by then are dropped.
    """
    waiting = deque(tasks)
    if len(waiting) < 2:  # at once: what is below takes as long as many a task
        work(waiting)
        return
    resting = threading.Condition()
    active, over = 0, False

    def drawn() -> Iterable[Task]:
        while True:
            try:
                yield waiting.popleft()
            except IndexError:
                return

    def share() -> None:
        nonlocal active
        with resting:
            if over:
                return
            active += 1
        try:
            work(drawn())
        except BaseException:
            waiting.clear()
            raise
        finally:
            with resting:
                active -= 1
                resting.notify_all()

    count = thread_count()
    wanted = min(count, len(waiting))
    if wanted < 2 or getattr(_this_thread, "of_pool", False):
        share()
        return
    futures: list[Future[None]] = []
    with suppress(RuntimeError):  # the interpreter is shutting down, or the system gives no more threads
        for _ in range(wanted):
            futures.append(_pool(count, _cpus()).submit(share))  # noqa: PERF401 - those that were given are waited for
    try:
        if len(futures) < wanted:
            share()
        for future in futures:
            if waiting or not future.cancel():
                future.result()
    except BaseException:
        waiting.clear()
        raise
    finally:
        with resting:
            over = True  # to those that a pool begins late, with or without a future that we know of
            resting.wait_for(lambda: not active)


def hold(test: Callable[[Task], bool], tasks: Iterable[Task]) -> bool:
    """Whether a test holds of all; after the first of which it does not, every thread stops."""
    failed = threading.Event()

    def work(some: Iterable[Task]) -> None:
        for each in some:
            if failed.is_set() or not test(each):
                failed.set()
                return

    run(work, tasks)
    return not failed.is_set()


def _cpus() -> frozenset[int]:
    """The CPUs that this thread may run on; empty where the system does not say."""
    return frozenset(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else frozenset()


@lru_cache(maxsize=2)
def _pool(count: int, cpus: frozenset[int]) -> ThreadPoolExecutor:
    """Threads that stay; with one for each CPU, each is bound to its own.

    Threads that hand the interpreter lock to each other are woken on the CPU of the one that lets go, and virtual
    machines leave them there together for tens of milliseconds.
    """
    from concurrent.futures import ThreadPoolExecutor  # it brings in logging, which no first dispatch should wait for

    bound = deque(sorted(cpus) if len(cpus) == count else ())
    return ThreadPoolExecutor(count, "xarrayops", initializer=_begin, initargs=(bound,))


def _begin(cpus: deque[int]) -> None:
    _this_thread.of_pool = True
    if cpus:
        with suppress(OSError):  # a CPU that was taken away meanwhile
            os.sched_setaffinity(0, {cpus.popleft()})


if hasattr(os, "register_at_fork"):  # a forked child has none of its parent's threads
    os.register_at_fork(after_in_child=_pool.cache_clear)
