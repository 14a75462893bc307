"""Two runs of the benchmark against each other: what became slower or faster, beyond what the same code differs by.

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
from dataclasses import dataclass
from typing import Literal, NamedTuple, get_args

import numpy as np

from xarrayops.bench.results import Results, Row, Status

Outcome = Literal["broken", "slower", "undecided", "gone", "new", "mended", "faster", "same", "empty"]
"""What became of a cell, the worst first; "empty" is one that neither run measured."""
OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)

FLOOR, FLOOR_SHORT = math.log(1.10), math.log(1.25)
"""Differences below these are never told, whatever the noise."""
SHORT_S = 1e-3
DEVIATIONS = 2.6
"""So many standard deviations, as they are estimated here, keep the same code from being told to differ in 99 %."""
EXCLUDED = 1.645
"""So many standard deviations a normal variable exceeds in 5 %, to one side."""
ONE_DEVIATION = 0.683
"""The part of the values of a normal variable that lie within one standard deviation of its mean."""
LEAST_SAME, WIDEST_SAME = math.log(1.15), math.log(1.25)
"""What must be excluded for a cell to be called the same is the threshold, but within these."""
MOST_OWN = math.log(1.25)
"""How much of a cell's own spread counts: beyond that one of its processes was disturbed, and the other one tells."""
MOST_SCATTER = 3.0
"""How many times the noise the scatter may be: beyond that the other cells changed."""
DRIFT = math.log(1.10)
"""How much the machine may have changed, where too few cells tell."""
FEWEST = 4
"""So many cells of other workloads tell how the machine changed."""
UNKNOWN_NOISE = 0.05
"""The standard deviation that is assumed where fewer than `FEWEST` cells were measured by several processes."""
CALM = 0.8
"""The part of the rounds of the faster run that must lie below the best of the slower."""
ALONE = math.log(2.0)
"""The spread of a cell that a single process measured."""
_FAULTS: tuple[Status, ...] = (
    *("unsupported", "out-of-memory", "timeout", "crashed", "wrong-answer", "not-synchronised"),
)
"""Why a cell is empty, where that is the doing of code; the others tell of time and of what is installed."""


class Identity(NamedTuple):
    """What makes a cell of two runs the same one; where a library is missing, its device has no name."""

    workload: str
    backend: str
    device: str
    dtype: str
    size: int


@dataclass(frozen=True)
class Verdict:
    """What became of a cell.

    ``old_s`` and ``new_s`` are the times that are compared, as `steady` has them, and ``ratio`` is new over old;
    ``threshold`` is the factor that the ratio, or its inverse, must exceed to be told. None where there is none.
    """

    cell: Identity
    outcome: Outcome
    reason: str
    ratio: float | None = None
    threshold: float | None = None
    old_s: float | None = None
    new_s: float | None = None


class _Change(NamedTuple):
    """A cell with a time in both runs, and the logarithm of their ratio."""

    old: Row
    new: Row
    moved: float

    @property
    def is_clear(self) -> bool:
        """Whether the faster run was as slow as the slower one's best in few of its rounds alone."""
        faster, slower = (self.old, self.new) if self.moved > 0 else (self.new, self.old)
        rounds = [seconds for process in faster.medians_s for seconds in process]
        return float(np.quantile(rounds, CALM)) < steady(slower)


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


def compare(old: Results, new: Results) -> list[Verdict]:
    """A verdict for each cell that is in either run, the worst first."""
    olds, news = _by_identity(old), _by_identity(new)
    everywhere = dict.fromkeys([*olds, *news])
    here = {cell._replace(device="") for cell in everywhere if cell.device}
    pairs = {cell: (_found(olds, cell), _found(news, cell)) for cell in everywhere if cell not in here}
    changes = {
        cell: _Change(before, after, math.log(steady(after) / steady(before)))
        for cell, (before, after) in pairs.items()
        if before is not None and after is not None and _comparable(before, after) is None
    }
    noise = _noise(old, new)
    verdicts = [
        _judged(cell, changes[cell], _limits(changes[cell], changes.values(), noise))
        if cell in changes
        else _unjudged(cell, *rows)
        for cell, rows in pairs.items()
    ]
    return sorted(verdicts, key=lambda v: (OUTCOMES.index(v.outcome), -(v.ratio or 0.0), v.cell))


def exit_status(verdicts: Sequence[Verdict]) -> int:
    """1 if a cell is slower or broken, 3 if nothing could be decided, else 0."""
    outcomes = {verdict.outcome for verdict in verdicts}
    if outcomes & {"slower", "broken"}:
        return 1
    return 0 if outcomes & {"same", "faster", "mended"} else 3


# --- what is compared -------------------------------------------------------------------------------------------------


def _by_identity(results: Results) -> dict[Identity, Row]:
    return {Identity(row.workload, row.backend, row.device, row.dtype, row.size): row for row in results.rows}


def _found(rows: dict[Identity, Row], cell: Identity) -> Row | None:
    """The cell's row, or the one that says why its library has no devices."""
    return rows.get(cell) or rows.get(cell._replace(device=""))


def steady(row: Row) -> float:
    """The time that is compared: that of the best round."""
    return min(_by_process(row))


def _by_process(row: Row) -> list[float]:
    """The best round of each process: what disturbs a round makes it longer, never shorter."""
    return [min(each) for each in row.medians_s if each]


def _spread(row: Row) -> float | None:
    """The logarithm of how much longer a cell took in its slowest process than in its fastest; None with only one."""
    times = _by_process(row)
    return math.log(max(times) / min(times)) if len(times) > 1 else None


def _comparable(old: Row, new: Row) -> str | None:
    """None if two times can be told apart by their code alone, else why not."""
    if not (old.measured and new.measured):
        return "not measured in both"
    if old.machine != new.machine or old.device_label != new.device_label:
        return "other machine: the ratio tells nothing of the code"
    for which, row in (("old", old), ("new", new)):
        if row.suspect:
            return f"the {which} time is not to be relied on: {row.suspect}"
    return None


def _noise(*runs: Results) -> float:
    """The standard deviation of the logarithm of the ratio of two cells of the same code, the best of two processes.

    A spread is the difference of two processes, and has twice the variance of one. The least of two normal variables
    has 1 - 1/pi of the variance of one, and the ratio is a difference of two such.
    """
    spreads = [spread for run in runs for row in run.rows if (spread := _spread(row)) is not None]
    return _deviation(spreads) * math.sqrt(1 - 1 / math.pi) if len(spreads) >= FEWEST else UNKNOWN_NOISE


def _deviation(differences: Sequence[float]) -> float:
    """The standard deviation, robust, of what has the mean 0."""
    return float(np.quantile(np.abs(differences), ONE_DEVIATION))


def _limits(change: _Change, changes: Iterable[_Change], noise: float) -> _Limits:
    row = change.new
    short = row.roof == "launch" or min(steady(change.old), steady(row)) < SHORT_S
    floor = FLOOR_SHORT if short else FLOOR
    own = max(ALONE if spread is None else min(spread, MOST_OWN) for spread in map(_spread, (change.old, row)))
    others = [other.moved for other in changes if other.new.group != row.group]
    if len(others) < FEWEST:
        return _Limits(max(floor, DEVIATIONS * noise), own, noise, None)
    shift = statistics.median(others)
    scatter = min(_deviation([moved - shift for moved in others]), MOST_SCATTER * noise)
    return _Limits(max(floor, DEVIATIONS * max(noise, scatter)), own, noise, shift)


# --- what is said of it -----------------------------------------------------------------------------------------------


def _judged(cell: Identity, change: _Change, limits: _Limits) -> Verdict:
    """Of a cell with a time in both runs that can be compared."""
    moved = change.moved
    threshold = limits.threshold(moved)
    ratio, limit = math.exp(moved), math.exp(threshold)
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
    return Verdict(cell, outcome, reason, ratio, limit, steady(change.old), steady(change.new))


def _doubt(change: _Change, limits: _Limits, limit: float) -> str:
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


def _unjudged(cell: Identity, old: Row | None, new: Row | None) -> Verdict:
    """Of a cell without two times that can be compared."""
    before, after = (steady(row) if row is not None and row.measured else None for row in (old, new))
    if old is not None and new is not None and before is not None and after is not None:
        return Verdict(cell, "undecided", _comparable(old, new) or "", after / before, None, before, after)
    outcome: Outcome
    if before is not None:
        outcome = "broken" if new is not None and new.status in _FAULTS else "gone"
        reason = f"was measured, {f'now {_state(new)}' if new is not None else 'and is not in the new run'}"
    elif after is not None:
        outcome = "mended" if old is not None and old.status in _FAULTS else "new"
        reason = f"is measured now, {f'was {_state(old)}' if old is not None else 'and is not in the old run'}"
    else:
        outcome, reason = "empty", f"measured in neither run: {_state(old)}, then {_state(new)}"
    return Verdict(cell, outcome, reason, None, None, before, after)


def _state(row: Row | None) -> str:
    return f"{row.status}: {row.reason}".removesuffix(": ") if row is not None else "absent"
