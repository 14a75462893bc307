"""Creation functions: checks of dtypes and of values that are not numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from xarrayops.plugin import Array
from xarrayops.plugin.host import NUMBERS, refuse_discarding
from xarrayops_backends.numpy._guard import ARRAY_TYPES, require_numbers as _require_numbers


def asarray(obj: Any, /, *, dtype: Any = None, device: Any = None, copy: bool | None = None) -> Array:
    """NumPy's asarray, without its arrays of objects, text or dates for values that are not numbers."""
    if dtype is not None and isinstance(obj, ARRAY_TYPES):
        refuse_discarding(obj.dtype, dtype)
    result = np.asarray(obj, dtype=dtype, device=device, copy=copy)
    if result.dtype.kind not in NUMBERS:
        _require_numbers("asarray", result.dtype)
    return result


def fft_fftfreq(n: int, /, *, d: float = 1.0, dtype: Any = None, device: Any = None) -> Array:
    """NumPy's function takes no dtype."""
    return np.fft.fftfreq(n, d=d).astype(dtype or np.float64, copy=False)


def fft_rfftfreq(n: int, /, *, d: float = 1.0, dtype: Any = None, device: Any = None) -> Array:
    """NumPy's function takes no dtype."""
    return np.fft.rfftfreq(n, d=d).astype(dtype or np.float64, copy=False)
