"""From when on a difference is told: what every comparison of runs holds itself to. Differences are logarithms."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

FLOOR, FLOOR_SHORT = math.log(1.10), math.log(1.25)
"""Differences below these are never told, whatever the noise."""
SHORT_S = 1e-3
DEVIATIONS = 2.6
"""So many standard deviations, as they are estimated here, keep the same code from being told to differ in 99 %."""
EXCLUDED = 1.645
"""So many standard deviations a normal variable exceeds in 5 %, to one side."""
ONE_DEVIATION = 0.683
"""The part of the values of a normal variable that lie within one standard deviation of its mean."""
LEAST_SAME, WIDEST_SAME = math.log(1.15), math.log(1.25)
"""What must be excluded for a cell to be called the same is the threshold, but within these."""
MOST_OWN = math.log(1.25)
"""How much of a cell's own spread counts: beyond that one of its processes was disturbed, and the other one tells."""
FEWEST = 4
"""So many cells tell of the noise, and so many of other workloads how the machine changed."""
UNKNOWN_NOISE = 0.05
"""The standard deviation that is assumed where fewer than `FEWEST` cells were measured by several processes."""
ALONE = math.log(2.0)
"""The spread of a cell that a single process measured."""


def deviation(differences: Sequence[float]) -> float:
    """The standard deviation, robust, of what has the mean 0."""
    return float(np.quantile(np.abs(differences), ONE_DEVIATION))
