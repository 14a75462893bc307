"""What a table can tell apart: the same work, measured twice, differs by so much."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence

import numpy as np

from xarrayops.bench.results import Row

QUANTILE = 0.75
"""So many cells differ from themselves by less than the resolution. Those that differ by more have wider intervals."""
_LEAST_CELLS = 3


def resolution(rows: Sequence[Row]) -> float | None:
    """How far the medians of two processes lie apart in most cells, as a part; None where too few have two."""
    spreads = [spread for row in rows if (spread := own_spread(row)) is not None]
    if len(spreads) < _LEAST_CELLS:
        return None
    return math.expm1(float(np.quantile(spreads, QUANTILE)))


def own_spread(row: Row) -> float | None:
    """The logarithm of how much longer a cell took in its slowest process than in its fastest; None with only one."""
    medians = [statistics.median(each) for each in row.medians_s if each]
    return math.log(max(medians) / min(medians)) if len(medians) > 1 else None
