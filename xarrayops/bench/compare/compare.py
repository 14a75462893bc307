"""Two runs of the benchmark compared: which cells became slower or faster beyond the noise.

Interleaved runs are compared pair by pair (`xarrayops.bench.compare.interleaved`). Between other runs the machine may
have changed, so they are compared by their best rounds (`xarrayops.bench.compare.sequential`).
"""

from __future__ import annotations

from collections.abc import Sequence

from xarrayops.bench.compare import interleaved, sequential
from xarrayops.bench.compare.verdict import OUTCOMES, CellName, Change, Outcome, Verdict
from xarrayops.bench.results import Results, Row, Status

_FAULTS: set[Status] = {"unsupported", "out-of-memory", "timeout", "crashed", "wrong-answer", "not-synchronised"}
"""The statuses that code can cause. The others depend on time and on what is installed."""


def compare(old: Results, new: Results) -> list[Verdict]:
    """A verdict for each cell of either run, worst first."""
    olds, news = _by_identity(old), _by_identity(new)
    everywhere = dict.fromkeys([*olds, *news])
    here = {cell._replace(device="") for cell in everywhere if cell.device}
    pairs = {cell: (_found(olds, cell), _found(news, cell)) for cell in everywhere if cell not in here}
    changes = [
        Change(cell, before, after)
        for cell, (before, after) in pairs.items()
        if before is not None and after is not None and _obstacle(before, after) is None
    ]
    compared = interleaved.verdicts(changes) if is_interleaved(old, new) else sequential.verdicts(changes, old, new)
    known = {verdict.cell for verdict in compared}
    verdicts = [*compared, *(_incomparable(cell, *rows) for cell, rows in pairs.items() if cell not in known)]
    return sorted(verdicts, key=lambda v: (OUTCOMES.index(v.outcome), -(v.ratio or 0.0), v.cell))


def is_interleaved(old: Results, new: Results) -> bool:
    """Whether the two are the environments of one interleaved run."""
    before, after = (results.environment.get("interleaved") for results in (old, new))
    if not before or not after or old.environment.get("date") != new.environment.get("date"):
        return False
    return before["pythons"] == after["pythons"] and before["index"] != after["index"]


def exit_status(verdicts: Sequence[Verdict]) -> int:
    """1 if a cell is slower or broken, 3 if no cell could be decided, otherwise 0."""
    outcomes = {verdict.outcome for verdict in verdicts}
    if outcomes & {"slower", "broken"}:
        return 1
    return 0 if outcomes & {"same", "faster"} else 3


def _by_identity(results: Results) -> dict[CellName, Row]:
    return {CellName.of(row): row for row in results.rows}


def _found(rows: dict[CellName, Row], cell: CellName) -> Row | None:
    """The row of the cell, or the row that says why its library has no devices."""
    return rows.get(cell) or rows.get(cell._replace(device=""))


def _obstacle(old: Row, new: Row) -> str | None:
    """Why the two times cannot be compared; None if they can."""
    if not (old.measured and new.measured):
        return "not measured in both runs"
    if old.machine != new.machine or old.device_label != new.device_label:
        return "different machines: the ratio says nothing about the code"
    return None


def _incomparable(cell: CellName, old: Row | None, new: Row | None) -> Verdict:
    """The verdict on a cell without two comparable times."""
    before, after = (row.best_s if row is not None and row.measured else None for row in (old, new))
    if old is not None and new is not None and before is not None and after is not None:
        return Verdict(cell, "undecided", _obstacle(old, new) or "", after / before, None, before, after)
    outcome: Outcome
    if before is not None:
        outcome = "broken" if new is not None and new.status in _FAULTS else "missing"
        reason = f"was measured, now {_state(new)}" if new is not None else "not in the new run"
    elif after is not None:
        outcome = "fixed" if old is not None and old.status in _FAULTS else "new"
        reason = f"measured now, was {_state(old)}" if old is not None else "not in the old run"
    else:
        outcome, reason = "empty", f"measured in neither run: {_state(old)}, then {_state(new)}"
    return Verdict(cell, outcome, reason, None, None, before, after)


def _state(row: Row | None) -> str:
    return f"{row.status}: {row.reason}".removesuffix(": ") if row is not None else "absent"
