"""The cells inside a worker: prepare, transfer, check, time, check again. The library is warmed up before the first.

A worker keeps prepared cells between rounds while memory allows.
"""

from __future__ import annotations

import gc
import statistics
from collections.abc import Callable
from time import perf_counter
from typing import Any

import numpy as np

import xarrayops as xo
from xarrayops.bench.measure.answers import WrongAnswer, check, is_out_of_memory
from xarrayops.bench.measure.timing import finished, timed, timed_round
from xarrayops.bench.place import Place
from xarrayops.bench.workload import Workload
from xarrayops.plugin import Array

TRANSFERS = 5
"""The number of conversions of the inputs; the transfer time is their median."""
FREE_MEMORY_SHARE = 1 / 3
"""The share of the memory of the host and of the device that stays free for the next cell and for other programs."""


class Cell:
    """A workload on one device of one library, at one dtype and size, ready to be timed.

    The constructor converts the inputs, makes the first call and checks its answer. ``first`` holds the results of this
    preparation, with times in seconds.
    """

    def __init__(self, workload: Workload, place: Place, dtype: str, n: int) -> None:
        self.function, self.place, self.dtype = workload.function, place, dtype
        self.case = workload.case(dtype, n)
        transfer, converted = transferred(self.case.inputs, place.backend, place.device)
        self.inputs = workload.arrange(*converted)
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
        """Timed calls for this many seconds, then one call with cold caches if requested.

        The last result of both kinds is checked before any time is returned.
        """
        found = timed_round(self.function, self.inputs, seconds, lazy=self.lazy)
        error = max(self.error, self._checked(found.results, f"after {found.calls} timed calls"))
        warm = {"median_s": statistics.median(found.samples), "calls": found.calls, "error": error}
        if not cold:
            return warm
        del found  # the device must not hold both results
        self.place.fill_caches()
        cold_s, results = timed(self.function, self.inputs)
        return {**warm, "cold_s": cold_s, "error": max(error, self._checked(results, "with cold caches"))}

    def _checked(self, results: tuple[Any, ...], when: str) -> float:
        try:
            return check(self.case, results, self.dtype)
        except WrongAnswer as error:
            raise WrongAnswer(f"{when}: {error}") from None

    def peak_bytes(self) -> int | None:
        """The peak memory that one call adds on its device. Nothing may be timed in this process afterwards."""

        def call() -> None:
            timed(self.function, self.inputs)

        return self.place.peak_bytes(call)


def transferred(arrays: tuple[Any, ...], backend: str, device: str) -> tuple[float, tuple[Array, ...]]:
    """The seconds of a transfer of NumPy arrays to a device, the median of `TRANSFERS`, and the arrays there."""
    samples: list[float] = []
    converted: tuple[Array, ...] = ()
    for _ in range(TRANSFERS):
        converted = ()  # the device must not hold the inputs twice
        start = perf_counter()
        converted = tuple(xo.convert(x, backend, device=device) for x in arrays)
        xo.synchronize(*converted)
        samples.append(perf_counter() - start)
    return statistics.median(samples), converted


def warm_up(backend: str, device: str) -> None:
    """Start the library on a device, so that contexts, threads and handles do not count in any first call.

    No workload uses this shape, so the first call of a workload still includes its compilation.
    """
    _, (x,) = transferred((np.ones((3, 3), dtype="float32"),), backend, device)
    _, (total,) = timed(lambda x: xo.sum(xo.add(xo.matmul(x, x), x)), (x,))
    xo.convert(total, "numpy")


class CellCache:
    """Prepares cells on first use and evicts the least recently used ones when memory is scarce."""

    def __init__(self) -> None:
        self._cells: dict[tuple[str, Place, str, int], Cell] = {}  # least recently used first

    def get(self, workload: Workload, place: Place, dtype: str, n: int) -> Cell:
        """The cell, prepared if it is not in the cache."""
        key = (workload.name, place, dtype, n)
        cell = self._cells.pop(key, None)
        if cell is None:
            self._evict(place)
            cell = Cell(workload, place, dtype, n)
        self._cells[key] = cell
        return cell

    def _evict(self, place: Place) -> None:
        """Evict cells while memory is scarce on the host or on the device and an eviction frees some."""
        memory = place.free_and_total_bytes()
        while self._cells and any(_is_scarce(*each) for each in memory):
            del self._cells[next(iter(self._cells))]
            gc.collect()
            place.release()
            before, memory = memory, place.free_and_total_bytes()
            if not any(_has_grown(now, then) for (now, _), (then, _) in zip(memory, before, strict=True)):
                return

    def retried(self, action: Callable[[bool], dict[str, Any]]) -> dict[str, Any]:
        """The result of ``action(False)``. If it runs out of memory, that of ``action(True)`` with an empty cache."""
        try:
            return action(False)
        except Exception as error:
            if not (self._cells and is_out_of_memory(error)):
                raise
        self._cells.clear()  # outside the except clause: the exception no longer holds references
        gc.collect()
        return action(True)

    def remove(self, cell: Cell) -> None:
        """Remove a cell and free its memory."""
        self._cells = {key: each for key, each in self._cells.items() if each is not cell}


def _is_scarce(free: int | None, total: int | None) -> bool:
    return free is not None and total is not None and free < FREE_MEMORY_SHARE * total


def _has_grown(now: int | None, before: int | None) -> bool:
    return now is None or before is None or now > before
