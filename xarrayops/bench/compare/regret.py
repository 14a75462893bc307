"""The regret of each library: the geometric mean of (its time / the fastest time) over all rows."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from xarrayops.bench.compare.ranking import fastest
from xarrayops.bench.results import Row


class Regret(NamedTuple):
    """The regret of a backend on a device.

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
