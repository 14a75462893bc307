"""Sets of elements."""

from __future__ import annotations

import numpy as np

intersect1d, setdiff1d, setxor1d, union1d = np.intersect1d, np.setdiff1d, np.setxor1d, np.union1d
