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

import numpy as np

from xarrayops.bench.compare import verdict
from xarrayops.bench.results import Results

MAX_SCATTER = 3.0
"""The largest scatter that counts, in units of the noise. Beyond it the other cells changed."""
CALM_SHARE = 0.8
"""The share of the rounds of the faster run that must be faster than the best round of the slower run."""


class BestRounds(verdict.Change):
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


def verdicts(changes: Sequence[verdict.Change], old: Results, new: Results) -> list[verdict.Verdict]:
    """A verdict on each change."""
    noise = _noise(old, new)
    best = [BestRounds(*change) for change in changes]
    return [_judged(each, _limits(each, best, noise)) for each in best]


def _noise(*runs: Results) -> float:
    """The standard deviation of the log ratio of two unchanged cells, each the better of two processes.

    A spread is the difference of two processes and has twice the variance of one. The minimum of two normal variables
    has 1 - 1/pi of the variance of one, and the ratio is the difference of two minima.
    """
    spreads = [spread for run in runs for row in run.rows if (spread := row.spread(min)) is not None]
    return verdict.noise_of(spreads, math.sqrt(1 - 1 / math.pi))


def _limits(change: BestRounds, changes: Iterable[BestRounds], noise: float) -> verdict.Limits:
    row, floor = change.new, change.floor
    spreads = (each.spread(min) for each in (change.old, row))
    spread = max(verdict.SINGLE_PROCESS_SPREAD if each is None else min(each, verdict.MAX_SPREAD) for each in spreads)
    others = [other.log_ratio for other in changes if other.new.group != row.group]
    if len(others) < verdict.MIN_CELLS:
        return verdict.Limits(max(floor, verdict.DEVIATIONS * noise), spread, noise, None)
    drift = statistics.median(others)
    scatter = min(verdict.deviation([log_ratio - drift for log_ratio in others]), MAX_SCATTER * noise)
    return verdict.Limits(max(floor, verdict.DEVIATIONS * max(noise, scatter)), spread, noise, drift)


def _judged(change: BestRounds, limits: verdict.Limits) -> verdict.Verdict:
    times = change.old.best_s, change.new.best_s
    doubt = _doubt(change, limits)
    return verdict.judged(change.cell, change.log_ratio, limits, times, clear=change.is_clear, doubt=doubt)


def _doubt(change: BestRounds, limits: verdict.Limits) -> str:
    """The first reason why nothing can be decided."""
    spreads = {"old": change.old.spread(min), "new": change.new.spread(min)}
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
        return f"the machine may have changed: {verdict.noise_doubt(threshold)}"
    return verdict.noise_doubt(threshold)
