"""What became of a cell between two runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple, Self, get_args

from xarrayops.bench.compare.thresholds import FLOOR, FLOOR_SHORT, SHORT_S
from xarrayops.bench.results import Row

Outcome = Literal["broken", "slower", "undecided", "gone", "new", "mended", "faster", "same", "empty"]
"""What became of a cell, the worst first; "empty" is one that neither run measured."""
OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)


class CellName(NamedTuple):
    """What makes a cell of two runs the same one; where a library is missing, its device has no name."""

    workload: str
    backend: str
    device: str
    dtype: str
    size: int

    @classmethod
    def of(cls, row: Row) -> Self:
        """That of a row."""
        return cls(row.workload, row.backend, row.device, row.dtype, row.size)


@dataclass(frozen=True)
class Verdict:
    """What became of a cell.

    ``old_s`` and ``new_s`` are the times of the best rounds, of runs by turns the medians; ``ratio`` is new over old;
    ``threshold`` the factor that the ratio, or its inverse, must exceed to be told. None where there is none.
    """

    cell: CellName
    outcome: Outcome
    reason: str
    ratio: float | None = None
    threshold: float | None = None
    old_s: float | None = None
    new_s: float | None = None


class Change(NamedTuple):
    """A cell with a time in both runs that can be compared."""

    cell: CellName
    old: Row
    new: Row

    @property
    def floor(self) -> float:
        """The logarithm of a ratio below which nothing is told; larger for short cells and launches alone."""
        short = self.new.roof == "launch" or min(self.old.best_s, self.new.best_s) < SHORT_S
        return FLOOR_SHORT if short else FLOOR
