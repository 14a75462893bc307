"""One cell inside a worker: prepare, transfer, check, time, check again; before the first, the library's start-up."""

from __future__ import annotations

import statistics
from time import perf_counter
from typing import Any

import numpy as np

import xarrayops as xo
from xarrayops.bench.measure import cold_caches
from xarrayops.bench.measure.oracle import WrongAnswer, check
from xarrayops.bench.measure.timing import finished, timed, timed_round
from xarrayops.bench.place import Place
from xarrayops.bench.workload import Workload
from xarrayops.plugin import Array

TRANSFERS = 5
"""How many conversions of the inputs stand behind a transfer time."""


class Cell:
    """A workload on one device of one library, at one dtype and size, ready to be timed.

    Making one converts the inputs and calls the function for the first time; ``first`` holds what that told, its times
    in seconds. The answer of that call has been checked.
    """

    def __init__(self, workload: Workload, place: Place, dtype: str, n: int) -> None:
        self.function, self.place, self.dtype = workload.function, place, dtype
        self.case = workload.case(dtype, n)
        transfer, moved = transferred(self.case.inputs, place.backend, place.device)
        self.inputs = workload.arrange(*moved)
        start = perf_counter()
        raw = self.function(*self.inputs)
        results = finished(raw)
        first_call = perf_counter() - start
        self.lazy = xo.is_lazy(raw[0] if isinstance(raw, tuple) else raw)
        self.error = self._checked(results, "the first call")
        del raw, results
        self.first: dict[str, Any] = {
            "transfer_s": transfer,
            "first_call_s": first_call,
            "operations": self.case.operations,
            "nbytes": self.case.nbytes,
            "tolerance": self.case.tolerance,
            "shape": [list(x.shape) for x in self.case.inputs],
        }

    def round(self, seconds: float, *, cold: bool = True) -> dict[str, Any]:
        """Timed calls for so many seconds, then, if that is asked for, one with cold caches.

        The result of the last of either kind is checked before any time is given away.
        """
        found = timed_round(self.function, self.inputs, seconds, lazy=self.lazy)
        error = max(self.error, self._checked(found.results, f"after {found.calls} timed calls"))
        told = {"median_s": statistics.median(found.samples), "calls": found.calls, "error": error}
        if not cold:
            return told
        del found  # no device need hold both results
        cold_caches.fill(*self.place)
        cold_s, results = timed(self.function, self.inputs)
        return {**told, "cold_s": cold_s, "error": max(error, self._checked(results, "with cold caches"))}

    def _checked(self, results: tuple[Any, ...], when: str) -> float:
        try:
            return check(self.case, results, self.dtype)
        except WrongAnswer as error:
            raise WrongAnswer(f"{when}: {error}") from None

    def peak_bytes(self) -> int | None:
        """The memory of the device that one call adds at its peak; nothing may be timed in this process afterwards."""

        def call() -> None:
            timed(self.function, self.inputs)

        return self.place.peak_bytes(call)


def transferred(arrays: tuple[Any, ...], backend: str, device: str) -> tuple[float, tuple[Array, ...]]:
    """Seconds in which NumPy's arrays reach a device, the median of `TRANSFERS` times, and what arrived last."""
    samples: list[float] = []
    moved: tuple[Array, ...] = ()
    for _ in range(TRANSFERS):
        moved = ()  # a device need not hold the inputs twice
        start = perf_counter()
        moved = tuple(xo.convert(x, backend, device=device) for x in arrays)
        xo.synchronize(*moved)
        samples.append(perf_counter() - start)
    return statistics.median(samples), moved


def warm_up(backend: str, device: str) -> None:
    """Let the library start on a device: contexts, threads and handles are no part of any workload's first call.

    The shape is none of a workload's, so what is compiled for one of them is still compiled in its first call.
    """
    _, (x,) = transferred((np.ones((3, 3), dtype="float32"),), backend, device)
    _, (total,) = timed(lambda x: xo.sum(xo.add(xo.matmul(x, x), x)), (x,))
    xo.convert(total, "numpy")
