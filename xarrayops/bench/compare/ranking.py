"""Who is fastest, and who cannot be told from it."""

from __future__ import annotations

from collections.abc import Sequence

from xarrayops.bench.measure.timing import CONFIDENCE, coverage
from xarrayops.bench.results import Row

FASTEST, TIE = "fastest", "tie"
APART = 2.0
"""Who takes so many times as long in its best round is slower, however the other rounds were disturbed."""


def fastest(rows: Sequence[Row], resolution: float | None) -> dict[str, str]:
    """What is said of the cells of one table, by place: `FASTEST`, or `TIE` where nothing tells them from the fastest.

    Nothing is said where a cell has no interval yet, or has no rival.
    """
    measured = [row for row in rows if row.measured]
    if len(measured) < 2 or any(row.low_s is None for row in measured):
        return {}
    best = min(measured, key=lambda row: row.median_s or 0.0)
    first = [row for row in measured if row is best or not _is_slower(row, best, resolution or 0.0)]
    return {row.place: FASTEST if len(first) == 1 else TIE for row in first}


def _is_slower(row: Row, best: Row, resolution: float) -> bool:
    """Whether its median is beyond the resolution, and its rounds say so too.

    They do where it was as fast in so few of the rounds of both that chance explains it in less than 5 %, by the
    two-sided sign test, for who is called the best is told by the same rounds; or where even its best round took
    `APART` times as long as the other's. Rounds of one process are taken for independent: what processes differ by,
    the resolution tells.
    """
    if (row.median_s or 0.0) <= (best.median_s or 0.0) * (1 + resolution):
        return False
    rounds = row.paired(best)
    as_fast = sum(own <= other for own, other in rounds)
    return coverage(len(rounds), as_fast) > CONFIDENCE or row.best_s >= APART * best.best_s
