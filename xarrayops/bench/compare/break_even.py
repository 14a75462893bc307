"""From when on a backend beats NumPy: after how many calls, and from what size on."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import NamedTuple

from xarrayops.bench.results import Row

BASELINE = "numpy"


class Ahead(NamedTuple):
    """The calls at which a backend, transfer and first call included, is ahead of NumPy.

    From the first of them on, up to the last of them; there is no last one where it stays ahead, and no first one where
    it never is.
    """

    first: int | None
    last: int | None

    def __str__(self) -> str:
        if self.first is None:
            return "never"
        return _calls_text(self.first) if self.last is None else f"up to {_calls_text(self.last)} only"


def ahead(row: Row, numpy: Row | None) -> Ahead | None:
    """When a backend is ahead of NumPy; None where one of the two was not measured.

    Both start with the inputs in NumPy's memory and their library imported.
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
    """The smallest measured size from which on a backend is faster than NumPy by more than the resolution.

    None if it is not even at the largest, or where both have fewer than two sizes in common.
    """
    theirs = {row.size: row.median_s for row in numpy if row.measured}
    common = sorted(
        (row for row in rows if row.measured and row.size in theirs), key=lambda row: row.size, reverse=True
    )
    if len(common) < 2:
        return None
    found = None
    for row in common:
        if (row.median_s or 0.0) * (1 + resolution) >= (theirs[row.size] or 0.0):
            break
        found = row.size
    return found


def baselines(rows: Iterable[Row]) -> dict[tuple[str, str, int], Row]:
    """NumPy's measured cells by workload, dtype and size."""
    return {(row.workload, row.dtype, row.size): row for row in rows if row.backend == BASELINE and row.measured}


def sizes(rows: Sequence[Row], resolution: float) -> list[tuple[str, str, dict[str, int | None]]]:
    """For each workload and dtype of several sizes, by backend and device, the size from which on NumPy is beaten."""
    found = []
    order = sorted(rows, key=lambda row: (row.workload, row.dtype))
    for (workload, dtype), group in groupby(order, key=lambda row: (row.workload, row.dtype)):
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
