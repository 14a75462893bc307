"""Two runs of the benchmark against each other: what became slower or faster, beyond what the same code differs by.

Interleaved runs are judged round by round (`xarrayops.bench.compare.interleaved`); others, between which the machine
may have changed, by their best rounds (`xarrayops.bench.compare.sequential`).
"""

from __future__ import annotations

from collections.abc import Sequence

from xarrayops.bench.compare import interleaved, sequential
from xarrayops.bench.compare.verdict import OUTCOMES, CellName, Change, Outcome, Verdict
from xarrayops.bench.results import Results, Row, Status

_FAULTS: tuple[Status, ...] = (
    *("unsupported", "out-of-memory", "timeout", "crashed", "wrong-answer", "not-synchronised"),
)
"""Why a cell is empty, where that is the doing of code; the others tell of time and of what is installed."""


def compare(old: Results, new: Results) -> list[Verdict]:
    """A verdict for each cell that is in either run, the worst first."""
    olds, news = _by_identity(old), _by_identity(new)
    everywhere = dict.fromkeys([*olds, *news])
    here = {cell._replace(device="") for cell in everywhere if cell.device}
    pairs = {cell: (_found(olds, cell), _found(news, cell)) for cell in everywhere if cell not in here}
    changes = [
        Change(cell, before, after)
        for cell, (before, after) in pairs.items()
        if before is not None and after is not None and _hindrance(before, after) is None
    ]
    judged = interleaved.judged(changes) if by_turns(old, new) else sequential.judged(changes, old, new)
    known = {verdict.cell for verdict in judged}
    verdicts = [*judged, *(_unjudged(cell, *rows) for cell, rows in pairs.items() if cell not in known)]
    return sorted(verdicts, key=lambda v: (OUTCOMES.index(v.outcome), -(v.ratio or 0.0), v.cell))


def by_turns(old: Results, new: Results) -> bool:
    """Whether the two are the sides of one run, in which they were measured by turns."""
    before, after = (results.environment.get("turns") for results in (old, new))
    if not before or not after or old.environment.get("date") != new.environment.get("date"):
        return False
    return before["pythons"] == after["pythons"] and before["side"] != after["side"]


def exit_status(verdicts: Sequence[Verdict]) -> int:
    """1 if a cell is slower or broken, 3 if no time could be told from another or to be the same, else 0."""
    outcomes = {verdict.outcome for verdict in verdicts}
    if outcomes & {"slower", "broken"}:
        return 1
    return 0 if outcomes & {"same", "faster"} else 3


def _by_identity(results: Results) -> dict[CellName, Row]:
    return {CellName.of(row): row for row in results.rows}


def _found(rows: dict[CellName, Row], cell: CellName) -> Row | None:
    """The cell's row, or the one that says why its library has no devices."""
    return rows.get(cell) or rows.get(cell._replace(device=""))


def _hindrance(old: Row, new: Row) -> str | None:
    """None if two times can be told apart by their code alone, else why not."""
    if not (old.measured and new.measured):
        return "not measured in both"
    if old.machine != new.machine or old.device_label != new.device_label:
        return "other machine: the ratio tells nothing of the code"
    return None


def _unjudged(cell: CellName, old: Row | None, new: Row | None) -> Verdict:
    """Of a cell without two times that can be compared."""
    before, after = (row.best_s if row is not None and row.measured else None for row in (old, new))
    if old is not None and new is not None and before is not None and after is not None:
        return Verdict(cell, "undecided", _hindrance(old, new) or "", after / before, None, before, after)
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
