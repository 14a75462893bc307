"""Dtypes: a cast that discards nothing. The other functions of dtypes are in `xarrayops.plugin.host`."""

from __future__ import annotations

from typing import Any

import numpy as np

from xarrayops.errors import Unsupported as _Unsupported
from xarrayops.plugin import Array
from xarrayops.plugin.host import NUMBERS, gap_of as _gap_of, refuse_discarding
from xarrayops_backends.numpy._guard import (
    ARRAY_TYPES as _ARRAY_TYPES,
    require_array as _require_array,
)

_REAL = NUMBERS.replace("c", "")


def astype(x: Array, dtype: Any, /, *, copy: bool = True, device: Any = None) -> Array:
    """NumPy drops imaginary parts with only a warning."""
    target = np.dtype(dtype)
    is_array = type(x) is np.ndarray
    if not is_array or x.dtype.kind not in _REAL:
        _require_array("astype", x)
        if isinstance(x, _ARRAY_TYPES):
            refuse_discarding(x.dtype, target)
    if target.kind not in NUMBERS and _gap_of(target) is not None:
        raise _Unsupported(f"xo.astype: dtype {target} is not numeric. Instead: NumPy's own functions")
    if is_array and device is None:  # in two thirds of the time of np.astype
        return x.astype(target, copy=copy)
    return np.astype(x, target, copy=copy, device=device)
