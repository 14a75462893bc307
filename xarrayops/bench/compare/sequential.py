"""What became of cells between two runs that were measured one after the other.

The method
----------
The time of a cell is the least that the rounds of a run had for their median, in any of its processes: whatever
disturbs a round makes it longer. What is judged is the logarithm of the ratio of two such times. It must exceed the
largest of four:

- a floor: `FLOOR`, or `FLOOR_SHORT` for cells under `SHORT_S` and for those that only wait for a launch;
- the noise: `DEVIATIONS` standard deviations of a ratio, as all cells tell by how their processes differ within a run;
- the scatter: `DEVIATIONS` standard deviations of how the cells of other workloads moved between the two runs, apart
  from what they moved together, up to `MOST_SCATTER` times the noise;
- the cell's own spread: how far its processes lie apart in either run, up to `MOST_OWN`: one whose processes differ may
  do so by chance from run to run.

And `CALM` of the rounds of the faster run must take less than the best of the slower run: where the same code had
rounds as slow as that, its best may have been a lucky one.

Standard deviations are taken from the quantile of two cells in three, so that a few odd cells, or a third of them that
really changed, do not decide.

What the cells of other workloads moved together, their median, is evidence that the machine changed, not the code: a
noisy neighbour, a warmer CPU. It is not subtracted, since it may as well be the change that is looked for; the
threshold moves by it, to that side alone. Kin of the cell (workloads of its group) have no say in this: they may have
changed with it. With fewer than `FEWEST` other cells nobody knows, and the machine is allowed `DRIFT` to either side.

"same" is said where a difference as large as the threshold (but one between `LEAST_SAME` and `WIDEST_SAME`) is
excluded with 95 %, whether what the others moved counts or not; "undecided" of the rest, with the reason.

What it assumes: that processes of two runs differ as processes of one run do or as other workloads did, and that fewer
than a third of the other workloads' cells changed. Where all cells changed alike, all are undecided, and `exit_status`
says that nothing could be decided. Between other machines nothing is decided.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from xarrayops.bench.compare.thresholds import (
    ALONE,
    DEVIATIONS,
    EXCLUDED,
    FEWEST,
    LEAST_SAME,
    MOST_OWN,
    UNKNOWN_NOISE,
    WIDEST_SAME,
    deviation,
)
from xarrayops.bench.compare.verdict import Change, Outcome, Verdict
from xarrayops.bench.results import Results, Row

MOST_SCATTER = 3.0
"""How many times the noise the scatter may be: beyond that the other cells changed."""
DRIFT = math.log(1.10)
"""How much the machine may have changed, where too few cells tell."""
CALM = 0.8
"""The part of the rounds of the faster run that must lie below the best of the slower."""


class _Move(Change):
    """A cell and how far it moved."""

    @property
    def moved(self) -> float:
        """The logarithm of the ratio of its times."""
        return math.log(self.new.best_s / self.old.best_s)

    @property
    def is_clear(self) -> bool:
        """Whether the faster run was as slow as the slower one's best in few of its rounds alone."""
        faster, slower = (self.old, self.new) if self.moved > 0 else (self.new, self.old)
        return float(np.quantile(faster.rounds_s, CALM)) < slower.best_s


class _Limits(NamedTuple):
    """Logarithms: what differences between the runs can come from anything but the code of a cell.

    ``table`` is the largest of floor, noise and scatter; ``own`` is the cell's spread; ``noise`` is the standard
    deviation of a ratio; ``shift`` is what the other cells moved together, None where too few tell.
    """

    table: float
    own: float
    noise: float
    shift: float | None

    def threshold(self, direction: float) -> float:
        """What a difference to that side must exceed."""
        drift = DRIFT if self.shift is None else max(0.0, self.shift if direction > 0 else -self.shift)
        return max(self.table, self.own) + drift

    @property
    def margin(self) -> float:
        """What must be excluded for a cell to be called the same, beyond what the machine may have done."""
        return min(max(self.table, LEAST_SAME), WIDEST_SAME)

    def excluded(self, moved: float) -> bool:
        """Whether the cell did not move by the margin, neither in all nor beyond what the others moved."""
        farthest = max(abs(moved), abs(moved - (self.shift or 0.0)))
        return self.own <= self.margin and farthest + EXCLUDED * self.noise < self.margin


def judged(changes: Sequence[Change], old: Results, new: Results) -> list[Verdict]:
    """A verdict on each."""
    noise = _noise(old, new)
    moves = [_Move(*change) for change in changes]
    return [_judged(move, _limits(move, moves, noise)) for move in moves]


def _by_process(row: Row) -> list[float]:
    """The best round of each process: what disturbs a round makes it longer, never shorter."""
    return [min(each) for each in row.medians_s if each]


def _spread(row: Row) -> float | None:
    """The logarithm of how much longer a cell took in its slowest process than in its fastest; None with only one."""
    times = _by_process(row)
    return math.log(max(times) / min(times)) if len(times) > 1 else None


def _noise(*runs: Results) -> float:
    """The standard deviation of the logarithm of the ratio of two cells of the same code, the best of two processes.

    A spread is the difference of two processes, and has twice the variance of one. The least of two normal variables
    has 1 - 1/pi of the variance of one, and the ratio is a difference of two such.
    """
    spreads = [spread for run in runs for row in run.rows if (spread := _spread(row)) is not None]
    return deviation(spreads) * math.sqrt(1 - 1 / math.pi) if len(spreads) >= FEWEST else UNKNOWN_NOISE


def _limits(change: _Move, changes: Iterable[_Move], noise: float) -> _Limits:
    row, floor = change.new, change.floor
    own = max(ALONE if spread is None else min(spread, MOST_OWN) for spread in map(_spread, (change.old, row)))
    others = [other.moved for other in changes if other.new.group != row.group]
    if len(others) < FEWEST:
        return _Limits(max(floor, DEVIATIONS * noise), own, noise, None)
    shift = statistics.median(others)
    scatter = min(deviation([moved - shift for moved in others]), MOST_SCATTER * noise)
    return _Limits(max(floor, DEVIATIONS * max(noise, scatter)), own, noise, shift)


def _judged(change: _Move, limits: _Limits) -> Verdict:
    moved = change.moved
    threshold = limits.threshold(moved)
    limit = math.exp(threshold)
    outcome: Outcome
    if abs(moved) > threshold and change.is_clear:
        outcome = "slower" if moved > 0 else "faster"
        beyond = limit if moved > 0 else 1 / limit
        reason = f"beyond {beyond:.2f}, which the same code differs by"
    elif limits.excluded(moved):
        excluded = limits.margin + (DRIFT if limits.shift is None else 0.0)
        outcome, reason = "same", f"a difference of {math.exp(excluded):.2f} is excluded"
    else:
        outcome, reason = "undecided", _doubt(change, limits, limit)
    old_s, new_s = change.old.best_s, change.new.best_s
    return Verdict(change.cell, outcome, reason, math.exp(moved), limit, old_s, new_s)


def _doubt(change: _Move, limits: _Limits, limit: float) -> str:
    """Why nothing can be decided: the first thing that stands in the way."""
    for which, row in (("old", change.old), ("new", change.new)):
        if _spread(row) is None:
            return f"only one process in the {which} run: nothing is known of how the same code differs"
    if limits.own > limits.table:
        apart = max(_spread(row) or 0.0 for row in (change.old, change.new))
        return f"processes of one run lie {math.exp(apart):.2f} apart"
    if limits.shift is not None and limits._replace(shift=0.0).excluded(change.moved - limits.shift):
        return (
            f"other workloads take {math.exp(limits.shift):.2f} times as long: the machine changed, or what all share"
        )
    if abs(change.moved) > limits.threshold(change.moved):
        return "the faster run had rounds as slow as the slower one's best"
    if abs(change.moved) > limits.table:
        return f"the machine may have changed: with that, the same code differs by up to {limit:.2f}"
    return f"the same code differs by up to {limit:.2f}"
