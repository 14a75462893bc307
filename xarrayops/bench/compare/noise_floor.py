"""The resolution of a run: how much unchanged work differs when it is measured twice."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence

import numpy as np

from xarrayops.bench.results import Row

QUANTILE = 0.75
"""The share of the cells whose own difference is below the resolution. Cells beyond it have wider intervals."""
_MIN_CELLS = 3


def resolution(rows: Sequence[Row]) -> float | None:
    """The relative difference between the medians of two processes, at `QUANTILE`; None with fewer than three cells."""
    spreads = [spread for row in rows if (spread := own_spread(row)) is not None]
    if len(spreads) < _MIN_CELLS:
        return None
    return math.expm1(float(np.quantile(spreads, QUANTILE)))


def own_spread(row: Row) -> float | None:
    """The log ratio of the medians of the slowest and the fastest process; None with a single process."""
    medians = [statistics.median(each) for each in row.medians_s if each]
    return math.log(max(medians) / min(medians)) if len(medians) > 1 else None
