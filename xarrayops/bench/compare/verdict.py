"""What both comparators share: the thresholds, and the verdict on a cell. Differences are logarithms of ratios."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, Self, get_args

import numpy as np

from xarrayops.bench.results import Row

FLOOR, FLOOR_SHORT = math.log(1.10), math.log(1.25)
"""Smaller differences are never reported, whatever the noise. The second value is for short calls."""
SHORT_S = 1e-3
"""Calls below this duration are short."""
DEVIATIONS = 2.6
"""A threshold in standard deviations, as estimated here: 1 % false positives."""
EXCLUSION_DEVIATIONS = 1.645
"""The one-sided 95 % quantile of the normal distribution, in standard deviations."""
ONE_DEVIATION = 0.683
"""The share of a normal distribution within one standard deviation of its mean."""
MIN_MARGIN, MAX_MARGIN = math.log(1.15), math.log(1.25)
"""Bounds of the difference that must be excluded before a cell is reported as the same."""
MAX_SPREAD = math.log(1.25)
"""The largest spread of a cell that counts. A larger one means that one of its processes was disturbed."""
MIN_CELLS = 4
"""The minimum number of cells for an estimate of the noise, and of other workloads for an estimate of the drift."""
DEFAULT_NOISE = 0.05
"""The standard deviation that is assumed where fewer than `MIN_CELLS` cells were measured in several processes."""
SINGLE_PROCESS_SPREAD = math.log(2.0)
"""The spread that is assumed for a cell that a single process measured."""
DEFAULT_DRIFT = math.log(1.10)
"""The drift that is allowed where too few cells of other workloads were measured."""

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


class Limits(NamedTuple):
    """Differences, as logarithms, that have other causes than the code of a cell.

    ``noise_limit`` is the largest of floor, noise and scatter. ``spread`` is the cell's own. ``noise`` is the standard
    deviation of a ratio. ``drift`` is the median log ratio of other workloads: None where too few were measured, and 0
    where the rounds were interleaved.
    """

    noise_limit: float
    spread: float
    noise: float
    drift: float | None = 0.0

    def threshold(self, direction: float) -> float:
        """The threshold for a difference in that direction."""
        drift = DEFAULT_DRIFT if self.drift is None else max(0.0, self.drift if direction > 0 else -self.drift)
        return max(self.noise_limit, self.spread) + drift

    @property
    def margin(self) -> float:
        """The difference that must be excluded before a cell is the same, drift aside."""
        return min(max(self.noise_limit, MIN_MARGIN), MAX_MARGIN)

    def excludes_margin(self, log_ratio: float) -> bool:
        """Whether a difference as large as the margin is excluded, both with and without the drift."""
        farthest = max(abs(log_ratio), abs(log_ratio - (self.drift or 0.0)))
        return self.spread <= self.margin and farthest + EXCLUSION_DEVIATIONS * self.noise < self.margin


def judged(
    cell: CellName,
    log_ratio: float,
    limits: Limits,
    times: tuple[float | None, float | None],
    *,
    clear: bool,
    doubt: str,
) -> Verdict:
    """Slower or faster beyond the threshold, the same where a difference is excluded, otherwise undecided.

    ``times`` are the old and the new time to report. ``clear`` says whether the rounds support a difference beyond the
    threshold; ``doubt`` says why nothing can be decided, for a cell that is neither different nor the same.
    """
    outcome: Outcome
    threshold = limits.threshold(log_ratio)
    if abs(log_ratio) > threshold and clear:
        outcome = "slower" if log_ratio > 0 else "faster"
        reason = f"beyond {math.exp(math.copysign(threshold, log_ratio)):.2f}, the limit of what noise explains"
    elif limits.excludes_margin(log_ratio):
        excluded = limits.margin + (DEFAULT_DRIFT if limits.drift is None else 0.0)
        outcome, reason = "same", f"a difference of {math.exp(excluded):.2f}x is excluded"
    else:
        outcome, reason = "undecided", doubt
    return Verdict(cell, outcome, reason, math.exp(log_ratio), math.exp(threshold), *times)


def noise_doubt(limit: float) -> str:
    """The doubt where the noise alone explains the difference; the limit is a logarithm."""
    return f"noise alone explains up to {math.exp(limit):.2f}x"


def deviation(differences: Sequence[float]) -> float:
    """A robust standard deviation of differences whose mean is 0."""
    return float(np.quantile(np.abs(differences), ONE_DEVIATION))


def noise_of(spreads: Sequence[float], share: float) -> float:
    """The standard deviation of a ratio: this share of that of the spreads, or `DEFAULT_NOISE` if these are too few."""
    return deviation(spreads) * share if len(spreads) >= MIN_CELLS else DEFAULT_NOISE
