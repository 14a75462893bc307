"""What a comparison finds in a cell of two runs, and the verdict that follows from it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, NamedTuple, Self, get_args

from xarrayops.bench.compare.thresholds import FLOOR, FLOOR_SHORT, SHORT_S
from xarrayops.bench.results import Row

Outcome = Literal["broken", "slower", "undecided", "missing", "new", "fixed", "faster", "same", "empty"]
"""The outcome for a cell, worst first. "empty" means that neither run measured the cell."""
OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)


class CellName(NamedTuple):
    """The identity of a cell across runs. The device is empty where the library is not installed."""

    workload: str
    backend: str
    device: str
    dtype: str
    size: int

    @classmethod
    def of(cls, row: Row) -> Self:
        """The identity of a row's cell."""
        return cls(row.workload, row.backend, row.device, row.dtype, row.size)


@dataclass(frozen=True)
class Verdict:
    """The verdict on a cell.

    ``old_s`` and ``new_s`` are the times of the best rounds; in interleaved runs, the medians. ``ratio`` is new over
    old. ``threshold`` is the factor that the ratio or its inverse must exceed to be reported. Unknown values are None.
    """

    cell: CellName
    outcome: Outcome
    reason: str
    ratio: float | None = None
    threshold: float | None = None
    old_s: float | None = None
    new_s: float | None = None


class Change(NamedTuple):
    """A cell with comparable times in both runs."""

    cell: CellName
    old: Row
    new: Row

    @property
    def floor(self) -> float:
        """The smallest difference that is reported. It is larger for short and launch-bound cells."""
        short = self.new.roof == "launch" or min(self.old.best_s, self.new.best_s) < SHORT_S
        return FLOOR_SHORT if short else FLOOR


@dataclass(frozen=True)
class Comparison:
    """The evidence of a comparator on one cell. Differences are logarithms of ratios.

    Attributes
    ----------
    log_ratio, threshold : float
        The logarithm of new over old, and what its magnitude must exceed.
    is_clear : bool
        Whether the rounds support a difference beyond the threshold.
    excluded : float or None
        The smallest difference that is excluded with 95 % confidence; None where none is small enough.
    doubt : str
        Why nothing can be decided, for a cell that is neither different nor the same.
    old_s, new_s : float or None
        The times to report.
    """

    change: Change
    log_ratio: float
    threshold: float
    is_clear: bool
    excluded: float | None
    doubt: str
    old_s: float | None
    new_s: float | None

    def verdict(self) -> Verdict:
        """Slower or faster beyond the threshold, the same where a difference is excluded, otherwise undecided."""
        outcome: Outcome
        if abs(self.log_ratio) > self.threshold and self.is_clear:
            outcome = "slower" if self.log_ratio > 0 else "faster"
            limit = math.exp(math.copysign(self.threshold, self.log_ratio))
            reason = f"beyond {limit:.2f}, the limit of what noise explains"
        elif self.excluded is not None:
            outcome, reason = "same", f"a difference of {math.exp(self.excluded):.2f}x is excluded"
        else:
            outcome, reason = "undecided", self.doubt
        ratio, threshold = math.exp(self.log_ratio), math.exp(self.threshold)
        return Verdict(self.change.cell, outcome, reason, ratio, threshold, self.old_s, self.new_s)


def noise_doubt(limit: float) -> str:
    """The doubt where the noise alone explains the difference; the limit is a logarithm."""
    return f"noise alone explains up to {math.exp(limit):.2f}x"
