"""Dtypes: a cast that discards nothing. The other functions of dtypes are in `xarrayops.plugin.host`."""

from __future__ import annotations

from typing import Any

import numpy as np

from xarrayops.plugin import Array
from xarrayops.plugin.host import NUMBERS, refuse_discarding
from xarrayops_backends.numpy._guard import require_numbers as _require_numbers


def astype(x: Array, dtype: Any, /, *, copy: bool = True, device: Any = None) -> Array:
    """NumPy drops imaginary parts with only a warning."""
    refuse_discarding(x.dtype, dtype)
    if np.dtype(dtype).kind not in NUMBERS:
        _require_numbers("astype", np.dtype(dtype))
    return np.astype(x, dtype, copy=copy, device=device)
