"""The comparison of two environments whose rounds were interleaved.

The method
----------
Each round of a cell in one environment is followed by its round in the other: the two form a pair. The log ratio of a
cell is the median over the pairs of a process, averaged over the processes. A disturbance that lasts longer than a pair
does not change a ratio; a shorter one affects few pairs. The log ratio must exceed the largest of:

- a floor: `FLOOR`, or `FLOOR_SHORT` for cells below `SHORT_S` and for launch-bound cells;
- the noise between processes: `DEVIATIONS` standard deviations, estimated from how the medians of the processes of all
  cells differ;
- the noise between rounds: as many standard errors, estimated from the scatter of the cell's own pairs about the median
  of their process;
- the cell's spread: the difference between the medians of its processes.

In addition, the sign test over the pairs must exclude chance with a confidence of `SIGN_CONFIDENCE`.

Standard deviations are estimated from the 68 % quantile, so that a few outliers do not matter.

A cell is "same" where a difference as large as the threshold, bounded by `MIN_MARGIN` and `MAX_MARGIN`, is excluded
with 95 % confidence. All other cells are "undecided", with a reason.

Assumptions: disturbances affect both environments alike, and the difference between two processes is representative.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence

from xarrayops.bench.compare import verdict
from xarrayops.bench.measure.timing import coverage

SIGN_CONFIDENCE = 0.9
"""The confidence that the sign test over the pairs must reach."""
MEDIAN_ERROR = math.sqrt(math.pi / 2)
"""The standard error of a median of normal variables, relative to that of their mean."""


class PairedRounds(verdict.Change):
    """The log ratios of the pairs of rounds of a cell."""

    @property
    def log_ratios(self) -> list[list[float]]:
        """The log ratio of each pair, by process."""
        processes = zip(self.old.medians_s, self.new.medians_s, strict=False)
        found = [[math.log(new / old) for old, new in zip(*process, strict=False)] for process in processes]
        return [process for process in found if process]

    @property
    def medians(self) -> list[float]:
        """The median of each process."""
        return list(map(statistics.median, self.log_ratios))

    @property
    def log_ratio(self) -> float:
        """The mean of the medians."""
        return statistics.mean(self.medians)

    @property
    def spread(self) -> float | None:
        """The difference between the largest and the smallest median; None with a single process."""
        return max(self.medians) - min(self.medians) if len(self.medians) > 1 else None

    @property
    def error(self) -> float:
        """The standard error of the log ratio, from the scatter of the pairs."""
        log_ratios = self.log_ratios
        residuals = [
            each - median for process, median in zip(log_ratios, self.medians, strict=True) for each in process
        ]
        free = max(1, len(residuals) - len(log_ratios))
        pair_error = verdict.deviation(residuals) * math.sqrt(len(residuals) / free)
        return MEDIAN_ERROR * pair_error * math.sqrt(sum(1 / len(process) for process in log_ratios)) / len(log_ratios)

    @property
    def is_clear(self) -> bool:
        """Whether the sign test excludes chance."""
        log_ratios = [each for process in self.log_ratios for each in process]
        opposed = sum(each * self.log_ratio <= 0 for each in log_ratios)
        return coverage(len(log_ratios), opposed) >= SIGN_CONFIDENCE


def verdicts(changes: Sequence[verdict.Change]) -> list[verdict.Verdict]:
    """A verdict on each change."""
    pairs = [PairedRounds(*change) for change in changes]
    spreads = [spread for each in pairs if each.log_ratios and (spread := each.spread) is not None]
    noise = verdict.noise_of(spreads, 1 / 2)
    return [_judged(each, noise) if each.log_ratios else _unpaired(each) for each in pairs]


def _unpaired(pairs: PairedRounds) -> verdict.Verdict:
    """The verdict on a cell without a pair: the budget was spent, or a process died."""
    reason = "no pair of rounds was measured"
    ratio = pairs.new.best_s / pairs.old.best_s
    return verdict.Verdict(pairs.cell, "undecided", reason, ratio, None, pairs.old.median_s, pairs.new.median_s)


def _judged(pairs: PairedRounds, noise: float) -> verdict.Verdict:
    noise = max(noise, pairs.error)
    spread = verdict.SINGLE_PROCESS_SPREAD if pairs.spread is None else pairs.spread
    limits = verdict.Limits(max(pairs.floor, verdict.DEVIATIONS * noise), spread, noise)
    times = pairs.old.median_s, pairs.new.median_s
    doubt = _doubt(pairs, limits)
    return verdict.judged(pairs.cell, pairs.log_ratio, limits, times, clear=pairs.is_clear, doubt=doubt)


def _doubt(pairs: PairedRounds, limits: verdict.Limits) -> str:
    """The first reason why nothing can be decided."""
    threshold = limits.threshold(pairs.log_ratio)
    if pairs.spread is None:
        return "measured in one process only: the noise between processes is unknown"
    if pairs.spread > limits.noise_limit:
        return f"its processes differ by {math.exp(pairs.spread):.2f}x"
    if abs(pairs.log_ratio) > threshold:
        return "the sign test over the pairs of rounds does not exclude chance"
    return verdict.noise_doubt(threshold)
