"""A cache of prepared cells. A worker keeps them between rounds while memory allows."""

from __future__ import annotations

import gc
from collections.abc import Callable
from typing import Any

from xarrayops.bench.measure.cell import Cell
from xarrayops.bench.measure.failures import is_out_of_memory
from xarrayops.bench.place import Place
from xarrayops.bench.workload import Workload

FREE_MEMORY_SHARE = 1 / 3
"""The share of the memory of the host and of the device that stays free for the next cell and for other programs."""


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
