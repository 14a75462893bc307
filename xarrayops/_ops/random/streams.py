"""Streams: a new key for each call of a generator, and a record of the numbers that a function used.

A function whose intermediate values are computed a second time must draw the same random numbers.
"""

from __future__ import annotations

import os
import threading
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from xarrayops._core.backends.registry import Backend
from xarrayops._ops.random.arguments import words_of_seed
from xarrayops.plugin.arrays import Array
from xarrayops.plugin.random import WORD, threefry

# The numbers that a function used, by stream, in the order of its draws.
Numbers = dict[Any, list[int]]


class _Thread(threading.local):
    """The numbers that this thread records and repeats."""

    def __init__(self) -> None:
        self.records: list[Numbers] = []
        self.repeated: dict[Any, Iterator[int]] = {}


_thread = _Thread()


def number_of(stream: Any, fresh: Callable[[], int]) -> int:
    """The number of the next draw of a stream: the repeated one, or a fresh one if none is left to repeat."""
    if not is_recording():
        return fresh()
    # A function that draws more than the recorded call continues with fresh numbers.
    found = next(_thread.repeated.get(stream, iter(())), None)
    found = fresh() if found is None else found
    for numbers in _thread.records:
        numbers[stream].append(found)
    return found


def is_recording() -> bool:
    """Whether this thread records or repeats."""
    return bool(_thread.records or _thread.repeated)


@contextmanager
def recorded() -> Iterator[Numbers]:
    """Record the numbers that this thread uses."""
    numbers: Numbers = defaultdict(list)
    _thread.records.append(numbers)
    try:
        yield numbers
    finally:
        _thread.records.pop()


@contextmanager
def repeated(numbers: Numbers) -> Iterator[None]:
    """Use these numbers again in this thread. Repeated numbers are not recorded again."""
    before = _thread.records, _thread.repeated
    _thread.records, _thread.repeated = [], {stream: iter([*used]) for stream, used in numbers.items()}
    try:
        yield
    finally:
        _thread.records, _thread.repeated = before


def entropy() -> int:
    """A seed from the operating system."""
    return int.from_bytes(os.urandom(8), "little")


class Count:
    """Keys of Python integers, from a root and a count. Threads share the stream; a forked process gets a new root."""

    def __init__(self, root: tuple[int, int], count: int = 0) -> None:
        self.root = root
        self.count = count
        self._lock = threading.Lock()
        self._process = os.getpid()

    def next(self) -> tuple[int, int]:
        """The next key."""
        # A forked child. The lock may be held by a thread that exists in the parent only, and the numbers of the parent
        # must not be repeated.
        if self._process != os.getpid():
            self._lock, self._process = threading.Lock(), os.getpid()
            self.root = words_of_seed(entropy())
        number = number_of(self, self._fresh)
        # As `fold_in` of the root: a key for each call, whatever is drawn in it, so calls do not depend on sizes of
        # others.
        return threefry(self.root, number >> 32, number & WORD)

    def _fresh(self) -> int:
        """A number that no other call gets."""
        with self._lock:
            number = self.count
            self.count += 1
        return number

    def spawned(self) -> Count:
        """An independent stream."""
        return Count(self.next())


class Keys:
    """Keys that are arrays, from a root that may be traced. The count is known while a function is traced."""

    def __init__(self, backend: Backend, root: Array) -> None:
        self._backend = backend
        self._root = root
        self._count = 0

    def _fresh(self) -> int:
        """A number that no other call gets."""
        number = self._count
        self._count += 1
        return number

    def next(self) -> Array:
        """The next key."""
        number = number_of(self, self._fresh)
        backend = self._backend
        counter = backend.functions["full"](
            (), number, dtype=backend.native_dtype("int32"), device=backend.functions["device"](self._root)
        )
        return backend.functions["random_keys"](self._root, counter)

    def spawned(self) -> Keys:
        """An independent stream."""
        return Keys(self._backend, self.next())


Stream = Count | Keys
