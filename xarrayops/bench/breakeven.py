"""From when on a backend beats NumPy: after how many calls, and from what size on."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import groupby

from xarrayops.bench.results import Row

BASELINE = "numpy"


def calls(row: Row, numpy: Row) -> int | None:
    """How many calls it takes until a backend, transfer and first call included, is ahead of NumPy; None if never.

    Both start with the inputs in NumPy's memory and their library imported.
    """
    if row.median_s is None or numpy.median_s is None:
        return None
    behind = _start(row) - _start(numpy)
    gain = numpy.median_s - row.median_s
    if behind <= 0:
        return 1 if gain >= 0 else None
    return 1 + math.ceil(behind / gain) if gain > 0 else None


def lead(row: Row, numpy: Row) -> int | None:
    """The last call up to which a backend that is slower per call is ahead, for it starts sooner; None if never."""
    if row.median_s is None or numpy.median_s is None:
        return None
    ahead = _start(numpy) - _start(row)
    loss = row.median_s - numpy.median_s
    return 1 + math.floor(ahead / loss) if ahead > 0 and loss > 0 else None


def told(row: Row, numpy: Row | None) -> str:
    """When a backend is ahead of NumPy, in words; nothing where there is nothing to be relied on."""
    if numpy is None or row.backend == BASELINE or not row.measured or row.suspect or numpy.suspect:
        return ""
    count = calls(row, numpy)
    if count is None and (last := lead(row, numpy)) is not None:
        return f"up to {_calls_text(last)} only"
    return "never" if count is None else _calls_text(count)


def _calls_text(count: int) -> str:
    return f"{count:,} call{'s' * (count != 1)}"


def _start(row: Row) -> float:
    return (row.transfer_s or 0.0) + (row.first_call_s or 0.0)


def size(rows: Sequence[Row], numpy: Sequence[Row], resolution: float) -> int | None:
    """The smallest measured size from which on a backend is faster than NumPy by more than the resolution.

    None if it is not even at the largest, or where both have fewer than two sizes in common.
    """
    theirs = {row.size: row.median_s for row in filter(_reliable, numpy)}
    common = sorted(
        (row for row in filter(_reliable, rows) if row.size in theirs), key=lambda row: row.size, reverse=True
    )
    if len(common) < 2:
        return None
    found = None
    for row in common:
        if (row.median_s or 0.0) * (1 + resolution) >= (theirs[row.size] or 0.0):
            break
        found = row.size
    return found


def _reliable(row: Row) -> bool:
    return row.measured and not row.suspect


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
        common = {row.size for row in filter(_reliable, numpy)}
        if len(common) < 2:
            continue
        several = Counter(
            row.place for row in filter(_reliable, cells) if row.backend != BASELINE and row.size in common
        )
        places = [place for place, count in several.items() if count > 1]
        by_place = {p: size([row for row in cells if row.place == p], numpy, resolution) for p in places}
        found.append((workload, dtype, by_place))
    return found
