"""Comparisons, whose results are NumPy's booleans."""

from __future__ import annotations

from typing import Any

import numpy as np

from xarrayops.plugin import Array
from xarrayops.plugin.host import NUMBERS
from xarrayops_backends.numpy._guard import require_all_numbers

isclose = np.isclose


def allclose(x1: Any, x2: Any, /, *, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> Array:
    """np.allclose returns a bool."""
    return np.bool_(np.allclose(x1, x2, rtol, atol, equal_nan))


def array_equal(x1: Array, x2: Array, /, *, equal_nan: bool = False) -> Array:
    """np.array_equal returns a bool."""
    if x1.dtype.kind not in NUMBERS or x2.dtype.kind not in NUMBERS:
        require_all_numbers("array_equal", x1, x2)
    if equal_nan:
        return np.bool_(np.array_equal(x1, x2, equal_nan=True))
    return np.bool_(False) if x1.shape != x2.shape else (x1 == x2).all()
