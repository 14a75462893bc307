"""Which backend is fastest, and which are tied with it."""

from __future__ import annotations

from collections.abc import Sequence

from xarrayops.bench.measure.timing import CONFIDENCE, coverage
from xarrayops.bench.results import Row

FASTEST, TIE = "fastest", "tie"
CLEARLY_SLOWER = 2.0
"""A backend is slower if its best round takes this many times as long, whatever disturbed its other rounds."""


def fastest(rows: Sequence[Row], resolution: float | None) -> dict[str, str]:
    """The marks of the cells of one table, by backend and device: `FASTEST`, or `TIE` for all that may be the fastest.

    There are no marks where a cell has no interval yet, or where only one backend was measured.
    """
    measured = [row for row in rows if row.measured]
    if len(measured) < 2 or any(row.low_s is None for row in measured):
        return {}
    best = min(measured, key=lambda row: row.median_s or 0.0)
    first = [row for row in measured if row is best or not _is_slower(row, best, resolution or 0.0)]
    return {row.place: FASTEST if len(first) == 1 else TIE for row in first}


def _is_slower(row: Row, best: Row, resolution: float) -> bool:
    """Whether its median differs by more than the resolution, and its rounds confirm it.

    The rounds confirm it by a two-sided sign test at 95 %: two-sided, because the same rounds selected the best. Or the
    best round takes `CLEARLY_SLOWER` times as long as that of the fastest. Rounds of one process are assumed to be
    independent; the resolution accounts for differences between processes.
    """
    if (row.median_s or 0.0) <= (best.median_s or 0.0) * (1 + resolution):
        return False
    rounds = row.paired(best)
    as_fast = sum(own <= other for own, other in rounds)
    return coverage(len(rounds), as_fast) > CONFIDENCE or row.best_s >= CLEARLY_SLOWER * best.best_s
