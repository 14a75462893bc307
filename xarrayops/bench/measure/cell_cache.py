"""The cells that a worker keeps ready between their rounds, as far as there is memory for them."""

from __future__ import annotations

import gc
from collections.abc import Callable
from typing import Any

from xarrayops.bench.measure.cell import Cell
from xarrayops.bench.measure.failures import is_out_of_memory
from xarrayops.bench.place import Place
from xarrayops.bench.workload import Workload

KEPT_FREE = 1 / 3
"""The part of the memory, of the host and of the device, that is left to the next cell and to other programs."""


class ReadyCells:
    """Cells are made when they are first asked for; those that went longest unasked make room for others."""

    def __init__(self) -> None:
        self._cells: dict[tuple[str, Place, str, int], Cell] = {}  # longest unasked first

    def get(self, workload: Workload, place: Place, dtype: str, n: int) -> Cell:
        """The cell, made anew if it is not ready."""
        key = (workload.name, place, dtype, n)
        cell = self._cells.pop(key, None)
        if cell is None:
            self._make_room(place)
            cell = Cell(workload, place, dtype, n)
        self._cells[key] = cell
        return cell

    def _make_room(self, place: Place) -> None:
        """While memory is scarce, on the host or on the device, and as long as that helps: others may hold it."""
        room = place.room()
        while self._cells and any(_is_scarce(*each) for each in room):
            del self._cells[next(iter(self._cells))]
            gc.collect()
            place.release()
            before, room = room, place.room()
            if not any(_has_grown(now, then) for (now, _), (then, _) in zip(room, before, strict=True)):
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


def _is_scarce(free: int | None, whole: int | None) -> bool:
    return free is not None and whole is not None and free < KEPT_FREE * whole


def _has_grown(now: int | None, before: int | None) -> bool:
    return now is None or before is None or now > before
