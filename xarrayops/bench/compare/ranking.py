"""Which backend is fastest, which are tied with it by the resolution of the run, and the regret of the others."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from xarrayops.bench.measure.timing import CONFIDENCE, coverage
from xarrayops.bench.results import Row

FASTEST, TIE = "fastest", "tie"
QUANTILE = 0.75
"""The share of the cells whose own difference is below the resolution. Cells beyond it have wider intervals."""
_MIN_CELLS = 3
CLEARLY_SLOWER = 2.0
"""A backend is slower if its best round takes this many times as long, whatever disturbed its other rounds."""


def resolution(rows: Sequence[Row]) -> float | None:
    """The relative difference between the medians of two processes, at `QUANTILE`; None with fewer than three cells.

    So much does unchanged work differ when it is measured twice.
    """
    spreads = [spread for row in rows if (spread := row.spread(statistics.median)) is not None]
    return math.expm1(float(np.quantile(spreads, QUANTILE))) if len(spreads) >= _MIN_CELLS else None


def fastest(rows: Sequence[Row], resolution: float | None) -> dict[str, str]:
    """The marks of the cells of one table, by backend and device: `FASTEST`, or `TIE` for all that may be the fastest.

    There are no marks where a cell has no interval yet, or where only one backend was measured. Between machines, the
    coarser of the two resolutions decides.
    """
    measured = [row for row in rows if row.measured]
    if len(measured) < 2 or any(row.low_s is None for row in measured):
        return {}
    best = min(measured, key=lambda row: row.median_s or 0.0)
    coarser = {row.place: max(row.resolution or 0.0, best.resolution or 0.0) or resolution or 0.0 for row in measured}
    first = [row for row in measured if row is best or not _is_slower(row, best, coarser[row.place])]
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


class Regret(NamedTuple):
    """The regret of a backend on a device: the geometric mean of (its time / the fastest time) over all rows.

    Attributes
    ----------
    place : str
        Backend and device.
    factor : float
        The geometric mean of its time over the time of the fastest, at least 1. A tie counts as 1.
    rows : int
        The number of rows: workloads at a dtype and size that it and another library were measured on.
    behind : Row or None
        Its cell in the row where it is farthest behind; None if it is nowhere behind.
    most : float
        Its time over that of the fastest in that row.
    """

    place: str
    factor: float
    rows: int
    behind: Row | None
    most: float


def regrets(groups: Iterable[Sequence[Row]], resolution: float | None) -> list[Regret]:
    """The regret of each backend and device, smallest first, from the rows of each workload, dtype and size.

    Rows without a ranking are not counted: a single library was measured, or a cell has no interval yet.
    """
    ratios: dict[str, list[tuple[float, Row]]] = {}
    for rows in groups:
        marks = fastest(rows, resolution)
        if not marks:
            continue
        measured = [row for row in rows if row.measured]
        best = min(row.median_s or 0.0 for row in measured)
        for row in measured:
            ratio = 1.0 if row.place in marks else (row.median_s or 0.0) / best
            ratios.setdefault(row.place, []).append((ratio, row))
    return sorted((_of(place, found) for place, found in ratios.items()), key=lambda regret: regret.factor)


def _of(place: str, found: Sequence[tuple[float, Row]]) -> Regret:
    factor = math.exp(math.fsum(math.log(ratio) for ratio, _ in found) / len(found))
    most, behind = max(found, key=lambda each: each[0])
    return Regret(place, factor, len(found), behind if most > 1 else None, most)
