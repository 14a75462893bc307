"""Memory of several heaps: the C library gives each thread a heap of its own, far from those of the others."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import cycle
from typing import Any, TypeVar

import numpy as np

Result = TypeVar("Result")
Host = np.ndarray[Any, Any]


class Heaps:
    """Threads that stay, each with a heap of its own, and are asked one after the other."""

    def __init__(self, count: int = 4) -> None:
        self._threads = cycle([ThreadPoolExecutor(1) for _ in range(count)])

    def run(self, function: Callable[..., Result], /, *args: Any) -> Result:
        """What a function returns in the next thread: what it allocates is in the heap of that thread."""
        return next(self._threads).submit(function, *args).result()

    def copied(self, a: Host) -> Host:
        """A copy of an array in the next heap."""
        return self.run(np.array, a)
