"""Arrays allocated by several threads: each thread has its own heap, so the addresses are far from each other."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import cycle
from typing import Any, TypeVar

import numpy as np

Result = TypeVar("Result")
Host = np.ndarray[Any, Any]


class Heaps:
    """Persistent threads, each with its own heap, which are used in rotation."""

    def __init__(self, count: int = 4) -> None:
        self._threads = cycle([ThreadPoolExecutor(1) for _ in range(count)])

    def run(self, function: Callable[..., Result], /, *args: Any) -> Result:
        """Run a function in the next thread, so that its memory comes from the heap of that thread."""
        return next(self._threads).submit(function, *args).result()

    def copied(self, a: Host) -> Host:
        """A copy of an array in the heap of the next thread."""
        return self.run(np.array, a)
