"""The cells that a worker keeps ready between their rounds, as far as there is memory for them."""

from __future__ import annotations

import gc
from collections.abc import Callable
from typing import Any

from xarrayops import _machine
from xarrayops.bench.cell import Cell, Place
from xarrayops.bench.failures import is_out_of_memory
from xarrayops.bench.workloads._contract import Workload

KEPT_FREE = 1 / 3
"""The part of the host's memory that is left to the next cell and to other programs."""


class ReadyCells:
    """Cells are made when they are first asked for; those that went longest unasked make room for others."""

    def __init__(self) -> None:
        self._cells: dict[tuple[str, Place, str, int], Cell] = {}  # longest unasked first

    def get(self, workload: Workload, place: Place, dtype: str, n: int) -> Cell:
        """The cell, made anew if it is not ready."""
        key = (workload.name, place, dtype, n)
        cell = self._cells.pop(key, None)
        if cell is None:
            self._make_room()
            cell = Cell(workload, place, dtype, n)
        self._cells[key] = cell
        return cell

    def _make_room(self) -> None:
        """While memory is scarce, and as long as that helps: others may hold it."""
        free = _machine.available_bytes()
        while self._cells and free is not None and free < KEPT_FREE * _whole():
            del self._cells[next(iter(self._cells))]
            gc.collect()
            before, free = free, _machine.available_bytes()
            if free is not None and free <= before:
                return

    def with_room(self, action: Callable[[bool], dict[str, Any]]) -> dict[str, Any]:
        """What the action gives; where a device is full, it is emptied and the action, told so, tried once more."""
        try:
            return action(False)
        except Exception as error:
            if not (self._cells and is_out_of_memory(error)):
                raise
        self._cells.clear()  # the error, and what it held on to, are gone
        gc.collect()
        return action(True)

    def forget(self, cell: Cell) -> None:
        """Give its memory back."""
        self._cells = {key: each for key, each in self._cells.items() if each is not cell}


def _whole() -> int:
    return _machine.memory_limit_bytes() or _machine.memory_bytes() or 0
