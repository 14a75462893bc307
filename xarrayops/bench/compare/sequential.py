"""The comparison of two runs that were measured one after the other.

The method
----------
The time of a cell is its best round, the smallest median of a round in any process: a disturbance makes a round longer,
never shorter. The log ratio of two such times must exceed the largest of:

- a floor: `FLOOR`, or `FLOOR_SHORT` for cells below `SHORT_S` and for launch-bound cells;
- the noise: `DEVIATIONS` standard deviations of a ratio, estimated from how the processes of all cells differ within a
  run;
- the scatter: `DEVIATIONS` standard deviations of the log ratios of the cells of other workloads about their median, at
  most `MAX_SCATTER` times the noise;
- the cell's spread: the difference between its processes in either run, at most `MAX_SPREAD`.

In addition, a share of `CALM_SHARE` of the rounds of the faster run must be faster than the best round of the slower
run. Otherwise the best round of the faster run may be an outlier.

Standard deviations are estimated from the 68 % quantile, so that up to a third of the cells may really have changed.

The drift is the median log ratio of the cells of other workloads. It is evidence that the machine changed and not the
code, such as a noisy neighbour or a warmer CPU. It is not subtracted, because it may as well be the change in question.
Instead it raises the threshold on its own side. Workloads of the same group do not count: they may have changed for the
same reason. With fewer than `MIN_CELLS` other cells the drift is unknown, and `DEFAULT_DRIFT` is allowed on both sides.

A cell is "same" where a difference as large as the threshold, bounded by `MIN_MARGIN` and `MAX_MARGIN`, is excluded
with 95 % confidence, both with and without the drift. All other cells are "undecided", with a reason.

Assumptions: the processes of two runs differ as the processes of one run do, or as other workloads did, and fewer than
a third of the cells of other workloads changed. Where all cells changed alike, all are undecided, and the exit status
says so. Nothing is decided between two machines.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from xarrayops.bench.compare.thresholds import (
    DEFAULT_NOISE,
    DEVIATIONS,
    EXCLUSION_DEVIATIONS,
    MAX_MARGIN,
    MAX_SPREAD,
    MIN_CELLS,
    MIN_MARGIN,
    SINGLE_PROCESS_SPREAD,
    deviation,
)
from xarrayops.bench.compare.verdict import Change, Comparison, Verdict, noise_doubt
from xarrayops.bench.results import Results, Row

MAX_SCATTER = 3.0
"""The largest scatter that counts, in units of the noise. Beyond it the other cells changed."""
DEFAULT_DRIFT = math.log(1.10)
"""The drift that is allowed where too few cells of other workloads were measured."""
CALM_SHARE = 0.8
"""The share of the rounds of the faster run that must be faster than the best round of the slower run."""


class BestRounds(Change):
    """A cell, judged by the best round of either run."""

    @property
    def log_ratio(self) -> float:
        """The logarithm of the ratio of the best rounds."""
        return math.log(self.new.best_s / self.old.best_s)

    @property
    def is_clear(self) -> bool:
        """Whether most rounds of the faster run are faster than the best round of the slower run."""
        faster, slower = (self.old, self.new) if self.log_ratio > 0 else (self.new, self.old)
        return float(np.quantile(faster.rounds_s, CALM_SHARE)) < slower.best_s


class _Limits(NamedTuple):
    """Differences, as logarithms, that have other causes than the code of a cell.

    ``noise_limit`` is the largest of floor, noise and scatter. ``spread`` is the cell's own. ``noise`` is the standard
    deviation of a ratio. ``drift`` is the median log ratio of other workloads, None where too few were measured.
    """

    noise_limit: float
    spread: float
    noise: float
    drift: float | None

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


def verdicts(changes: Sequence[Change], old: Results, new: Results) -> list[Verdict]:
    """A verdict on each change."""
    noise = _noise(old, new)
    best = [BestRounds(*change) for change in changes]
    return [_compared(each, _limits(each, best, noise)).verdict() for each in best]


def _spread(row: Row) -> float | None:
    """The log ratio of the best rounds of the slowest and the fastest process; None with a single process."""
    times = [min(process) for process in row.medians_s if process]
    return math.log(max(times) / min(times)) if len(times) > 1 else None


def _noise(*runs: Results) -> float:
    """The standard deviation of the log ratio of two unchanged cells, each the better of two processes.

    A spread is the difference of two processes and has twice the variance of one. The minimum of two normal variables
    has 1 - 1/pi of the variance of one, and the ratio is the difference of two minima.
    """
    spreads = [spread for run in runs for row in run.rows if (spread := _spread(row)) is not None]
    return deviation(spreads) * math.sqrt(1 - 1 / math.pi) if len(spreads) >= MIN_CELLS else DEFAULT_NOISE


def _limits(change: BestRounds, changes: Iterable[BestRounds], noise: float) -> _Limits:
    row, floor = change.new, change.floor
    spreads = map(_spread, (change.old, row))
    spread = max(SINGLE_PROCESS_SPREAD if each is None else min(each, MAX_SPREAD) for each in spreads)
    others = [other.log_ratio for other in changes if other.new.group != row.group]
    if len(others) < MIN_CELLS:
        return _Limits(max(floor, DEVIATIONS * noise), spread, noise, None)
    drift = statistics.median(others)
    scatter = min(deviation([log_ratio - drift for log_ratio in others]), MAX_SCATTER * noise)
    return _Limits(max(floor, DEVIATIONS * max(noise, scatter)), spread, noise, drift)


def _compared(change: BestRounds, limits: _Limits) -> Comparison:
    excluded = limits.margin + (DEFAULT_DRIFT if limits.drift is None else 0.0)
    return Comparison(
        change,
        change.log_ratio,
        limits.threshold(change.log_ratio),
        is_clear=change.is_clear,
        excluded=excluded if limits.excludes_margin(change.log_ratio) else None,
        doubt=_doubt(change, limits),
        old_s=change.old.best_s,
        new_s=change.new.best_s,
    )


def _doubt(change: BestRounds, limits: _Limits) -> str:
    """The first reason why nothing can be decided."""
    spreads = {"old": _spread(change.old), "new": _spread(change.new)}
    for run, spread in spreads.items():
        if spread is None:
            return f"measured in one process only in the {run} run: the noise between processes is unknown"
    if limits.spread > limits.noise_limit:
        return f"processes of one run differ by {math.exp(max(spread or 0.0 for spread in spreads.values())):.2f}x"
    if limits.drift is not None and limits._replace(drift=0.0).excludes_margin(change.log_ratio - limits.drift):
        return (
            f"other workloads also take {math.exp(limits.drift):.2f} times as long: the machine or shared code changed"
        )
    threshold = limits.threshold(change.log_ratio)
    if abs(change.log_ratio) > threshold:
        return "the faster run has rounds as slow as the best round of the slower run"
    if abs(change.log_ratio) > limits.noise_limit:
        return f"the machine may have changed: {noise_doubt(threshold)}"
    return noise_doubt(threshold)
