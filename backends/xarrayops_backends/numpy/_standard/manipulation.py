"""Functions that join arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from xarrayops.plugin import Array


def diff(x: Array, /, *, axis: int = -1, n: int = 1, prepend: Any = None, append: Any = None) -> Array:
    """NumPy treats None as a value to prepend or append."""
    ends = {name: end for name, end in (("prepend", prepend), ("append", append)) if end is not None}
    return np.diff(x, n=n, axis=axis, **ends)
