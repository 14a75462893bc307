"""Functions of each element."""

from __future__ import annotations

import numpy as np

cbrt = np.cbrt
