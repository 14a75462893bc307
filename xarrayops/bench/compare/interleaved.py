"""What became of cells between two environments that were measured by turns.

The method
----------
Each round of a cell in one environment is followed by its round in the other. What is judged is the logarithm of their
ratio: the median over the pairs of rounds of a process, and the mean of these over the processes. What disturbs the
machine for longer than a pair of rounds leaves a ratio as it is, and what is shorter disturbs few of them. It must
exceed the largest of four:

- a floor: `FLOOR`, or `FLOOR_SHORT` for cells under `SHORT_S` and for those that only wait for a launch;
- the noise of processes: `DEVIATIONS` standard deviations, as all cells tell by how the medians of their processes
  differ;
- the noise of rounds: as many standard errors, as the cell's own pairs tell by how they scatter about the median of
  their process;
- the cell's spread: how far the medians of its processes lie apart. One whose processes differ may do so by chance.

And the pairs must have moved to that side so often that chance seldom does it: by the sign test, in less than
1 - `SURE` of cases.

Standard deviations are taken from the quantile of two cells, or pairs, in three, so that a few odd ones do not decide.

"same" is said where a difference as large as the threshold (but one between `LEAST_SAME` and `WIDEST_SAME`) is
excluded with 95 %; "undecided" of the rest, with the reason.

What it assumes: that nothing befalls the rounds of one environment alone, and that two processes tell how much a third
would differ from them.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence

from xarrayops.bench.compare.thresholds import (
    ALONE,
    DEVIATIONS,
    EXCLUDED,
    FEWEST,
    LEAST_SAME,
    UNKNOWN_NOISE,
    WIDEST_SAME,
    deviation,
)
from xarrayops.bench.compare.verdict import Change, Outcome, Verdict
from xarrayops.bench.measure.timing import coverage

SURE = 0.9
"""How unlikely it must be that chance alone moved so many of the pairs to one side."""
OF_MEDIANS = math.sqrt(math.pi / 2)
"""How much larger the standard error of a median of normal variables is than that of their mean."""


class _Move(Change):
    """A cell and how far it moved, in logarithms."""

    @property
    def moves(self) -> list[list[float]]:
        """Of each pair of rounds, by process."""
        processes = zip(self.old.medians_s, self.new.medians_s, strict=False)
        found = [[math.log(new / old) for old, new in zip(*process, strict=False)] for process in processes]
        return [process for process in found if process]

    @property
    def medians(self) -> list[float]:
        """That of each process."""
        return list(map(statistics.median, self.moves))

    @property
    def moved(self) -> float:
        """The mean of these."""
        return statistics.mean(self.medians)

    @property
    def spread(self) -> float | None:
        """How far they lie apart; None with only one."""
        return max(self.medians) - min(self.medians) if len(self.medians) > 1 else None

    @property
    def error(self) -> float:
        """The standard error of how far it moved, from how its pairs of rounds scatter."""
        moves = self.moves
        residuals = [move - median for process, median in zip(moves, self.medians, strict=True) for move in process]
        free = max(1, len(residuals) - len(moves))
        of_a_pair = deviation(residuals) * math.sqrt(len(residuals) / free)
        return OF_MEDIANS * of_a_pair * math.sqrt(sum(1 / len(process) for process in moves)) / len(moves)

    @property
    def is_clear(self) -> bool:
        """Whether chance seldom moves so many of the pairs to one side."""
        moves = [move for process in self.moves for move in process]
        return coverage(len(moves), sum(move * self.moved <= 0 for move in moves)) >= SURE


def judged(changes: Sequence[Change]) -> list[Verdict]:
    """A verdict on each."""
    moves = [_Move(*change) for change in changes]
    spreads = [spread for move in moves if move.moves and (spread := move.spread) is not None]
    noise = deviation(spreads) / 2 if len(spreads) >= FEWEST else UNKNOWN_NOISE
    return [_judged(move, noise) if move.moves else _unpaired(move) for move in moves]


def _unpaired(move: _Move) -> Verdict:
    """Of a cell for which the budget, or a process that died, left no round of one side beside one of the other."""
    reason = "no round of one followed a round of the other"
    ratio = move.new.best_s / move.old.best_s
    return Verdict(move.cell, "undecided", reason, ratio, None, move.old.median_s, move.new.median_s)


def _judged(move: _Move, noise: float) -> Verdict:
    moved, own = move.moved, ALONE if move.spread is None else move.spread
    noise = max(noise, move.error)
    table = max(move.floor, DEVIATIONS * noise)
    threshold = max(table, own)
    margin = min(max(table, LEAST_SAME), WIDEST_SAME)
    outcome: Outcome
    if abs(moved) > threshold and move.is_clear:
        outcome = "slower" if moved > 0 else "faster"
        beyond = math.exp(threshold if moved > 0 else -threshold)
        reason = f"beyond {beyond:.2f}, which the same code differs by"
    elif own <= margin and abs(moved) + EXCLUDED * noise < margin:
        outcome, reason = "same", f"a difference of {math.exp(margin):.2f} is excluded"
    else:
        outcome, reason = "undecided", _doubt(move, own > table, math.exp(threshold))
    old_s, new_s = move.old.median_s, move.new.median_s
    return Verdict(move.cell, outcome, reason, math.exp(moved), math.exp(threshold), old_s, new_s)


def _doubt(move: _Move, unlike: bool, limit: float) -> str:
    """Why nothing can be decided: the first thing that stands in the way."""
    if move.spread is None:
        return "only one process measured it: nothing is known of how the same code differs"
    if unlike:
        return f"its processes lie {math.exp(move.spread):.2f} apart"
    if abs(move.moved) > math.log(limit):
        return "as many of its pairs of rounds may have moved to that side by chance"
    return f"the same code differs by up to {limit:.2f}"
