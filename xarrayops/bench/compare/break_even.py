"""The break-even points against NumPy: after how many calls, and at which size, a backend is faster."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import groupby, takewhile
from typing import NamedTuple

from xarrayops.bench.results import Row

BASELINE = "numpy"
Baseline = tuple[str, str, int, str]


class Ahead(NamedTuple):
    """The numbers of calls for which a backend takes less total time than NumPy, transfer and first call included.

    ``first`` is None where the backend is never ahead; ``last`` is None where it stays ahead.
    """

    first: int | None
    last: int | None

    def __str__(self) -> str:
        if self.first is None:
            return "never"
        return _calls_text(self.first) if self.last is None else f"up to {_calls_text(self.last)} only"


def ahead(row: Row, numpy: Row | None) -> Ahead | None:
    """The calls for which a backend is ahead of NumPy; None where one of the two was not measured.

    Both start with their library imported and the inputs in NumPy's memory.
    """
    if numpy is None or row.backend == BASELINE or not (row.measured and numpy.measured):
        return None
    if row.median_s is None or numpy.median_s is None or row.first_call_s is None or numpy.first_call_s is None:
        return None
    behind = (row.transfer_s or 0.0) + row.first_call_s - (numpy.transfer_s or 0.0) - numpy.first_call_s
    gain = numpy.median_s - row.median_s
    if behind > 0:
        return Ahead(1 + math.ceil(behind / gain) if gain > 0 else None, None)
    if gain >= 0:
        return Ahead(1, None)
    return Ahead(1, 1 + math.floor(behind / gain)) if behind < 0 else Ahead(None, None)


def _calls_text(count: int) -> str:
    return f"{count:,} call{'s' * (count != 1)}"


def size(rows: Sequence[Row], numpy: Sequence[Row], resolution: float) -> int | None:
    """The smallest size at and above which a backend is faster than NumPy by more than the resolution.

    None if it is slower at the largest size, or if fewer than two sizes were measured on both.
    """
    theirs = {row.size: row.median_s for row in numpy if row.measured}
    ours = {row.size: row.median_s for row in rows if row.measured and row.size in theirs}
    if len(ours) < 2:
        return None
    largest_first = sorted(ours, reverse=True)
    faster = takewhile(lambda n: (ours[n] or 0.0) * (1 + resolution) < (theirs[n] or 0.0), largest_first)
    return min(faster, default=None)


def baselines(rows: Iterable[Row]) -> dict[Baseline, Row]:
    """The measured cells of NumPy by workload, dtype, size and machine."""
    return {baseline_of(row): row for row in rows if row.backend == BASELINE and row.measured}


def baseline_of(row: Row) -> Baseline:
    """What a cell has in common with the cell of NumPy that it is compared with."""
    return row.workload, row.dtype, row.size, row.label


def sizes(rows: Sequence[Row], resolution: float) -> list[tuple[str, str, dict[str, int | None]]]:
    """The break-even sizes by backend and device, for each workload and dtype with several sizes on a machine."""
    found = []
    order = sorted(rows, key=lambda row: (row.workload, row.dtype, row.label))
    for (workload, dtype, _), group in groupby(order, key=lambda row: (row.workload, row.dtype, row.label)):
        cells = list(group)
        numpy = [row for row in cells if row.backend == BASELINE]
        common = {row.size for row in numpy if row.measured}
        if len(common) < 2:
            continue
        several = Counter(row.place for row in cells if row.measured and row.backend != BASELINE and row.size in common)
        places = [place for place, count in several.items() if count > 1]
        by_place = {p: size([row for row in cells if row.place == p], numpy, resolution) for p in places}
        found.append((workload, dtype, by_place))
    return found
