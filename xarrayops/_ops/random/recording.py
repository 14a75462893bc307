"""Record which random numbers a function used, and repeat them when the function is called again.

A function whose intermediate values are computed a second time must draw the same random numbers.
"""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

# The numbers that a function used, by stream, in the order of its draws.
Numbers = dict[Any, list[int]]


class _Thread(threading.local):
    """The numbers that this thread records and repeats."""

    def __init__(self) -> None:
        self.records: list[Numbers] = []
        self.repeated: dict[Any, Iterator[int]] = {}


_thread = _Thread()


def number(stream: Any, fresh: Callable[[], int]) -> int:
    """The number of the next draw of a stream: the repeated one, or a fresh one if none is left to repeat."""
    if not is_active():
        return fresh()
    # A function that draws more than the recorded call continues with fresh numbers.
    found = next(_thread.repeated.get(stream, iter(())), None)
    found = fresh() if found is None else found
    for numbers in _thread.records:
        numbers[stream].append(found)
    return found


def is_active() -> bool:
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
