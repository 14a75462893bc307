"""The cells that a worker keeps ready between their rounds, as far as there is memory for them."""

from __future__ import annotations

import gc

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
        """The cell, made anew if it is not ready; a device that is full is emptied first."""
        key = (workload.name, place, dtype, n)
        cell = self._cells.pop(key, None)
        if cell is None:
            while self._cells and _is_scarce():
                del self._cells[next(iter(self._cells))]
            try:
                cell = Cell(workload, place, dtype, n)
            except Exception as error:
                if not (self._cells and is_out_of_memory(error)):
                    raise
            if cell is None:  # the error, and what it held on to, are gone
                self._cells.clear()
                gc.collect()
                cell = Cell(workload, place, dtype, n)
        self._cells[key] = cell
        return cell

    def forget(self, cell: Cell) -> None:
        """Give its memory back."""
        self._cells = {key: each for key, each in self._cells.items() if each is not cell}


def _is_scarce() -> bool:
    free = _machine.available_bytes()
    total = _machine.memory_limit_bytes() or _machine.memory_bytes()
    return free is not None and total is not None and free < KEPT_FREE * total
