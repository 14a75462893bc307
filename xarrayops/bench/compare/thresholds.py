"""The thresholds that both comparators use. Differences are logarithms of ratios."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

FLOOR, FLOOR_SHORT = math.log(1.10), math.log(1.25)
"""Smaller differences are never reported, whatever the noise. The second value is for short calls."""
SHORT_S = 1e-3
"""Calls below this duration are short."""
DEVIATIONS = 2.6
"""A threshold in standard deviations, as estimated here: 1 % false positives."""
EXCLUSION_DEVIATIONS = 1.645
"""The one-sided 95 % quantile of the normal distribution, in standard deviations."""
ONE_DEVIATION = 0.683
"""The share of a normal distribution within one standard deviation of its mean."""
MIN_MARGIN, MAX_MARGIN = math.log(1.15), math.log(1.25)
"""Bounds of the difference that must be excluded before a cell is reported as the same."""
MAX_SPREAD = math.log(1.25)
"""The largest spread of a cell that counts. A larger one means that one of its processes was disturbed."""
MIN_CELLS = 4
"""The minimum number of cells for an estimate of the noise, and of other workloads for an estimate of the drift."""
DEFAULT_NOISE = 0.05
"""The standard deviation that is assumed where fewer than `MIN_CELLS` cells were measured in several processes."""
SINGLE_PROCESS_SPREAD = math.log(2.0)
"""The spread that is assumed for a cell that a single process measured."""


def deviation(differences: Sequence[float]) -> float:
    """A robust standard deviation of differences whose mean is 0."""
    return float(np.quantile(np.abs(differences), ONE_DEVIATION))
