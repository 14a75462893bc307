"""Elementwise functions where NumPy deviates from the standard."""

from __future__ import annotations

from typing import Any

import numpy as np

from xarrayops.plugin import Array
from xarrayops.plugin.host import elementwise
from xarrayops_backends.numpy._dtypes import astype


def floor_divide(x1: Any, x2: Any, /) -> Array:
    """NumPy follows Python: ``1.0 // -inf`` is -1, ``inf // 1`` is NaN. The check for infinities costs 1 %."""
    kind = (x1 if hasattr(x1, "dtype") else x2).dtype.kind
    x1, x2 = (float(x) if type(x) is int and kind == "f" else x for x in (x1, x2))  # isfinite takes no large integers
    if kind != "f" or (np.isfinite(x1).all() and np.isfinite(x2).all()):
        return np.floor_divide(x1, x2)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(np.isinf(x1) | np.isinf(x2), np.divide(x1, x2), np.floor_divide(x1, x2))[()]


def maximum(x1: Any, x2: Any, /) -> Array:
    """NumPy does not vectorise the maximum of an array and a number."""
    return _extremum(np.maximum, x1, x2)


def minimum(x1: Any, x2: Any, /) -> Array:
    """NumPy does not vectorise the minimum of an array and a number."""
    return _extremum(np.minimum, x1, x2)


def _extremum(ufunc: np.ufunc, x: Any, value: Any) -> Array:
    if type(value) in (float, int) and type(x) is np.ndarray and x.dtype.kind == "f" and elementwise.is_served(x):
        return elementwise.extremum(ufunc, x, value, np.empty_like(x))
    found: Array = ufunc(x, value)
    return found


def clip(x: Array, /, min: Any = None, max: Any = None) -> Array:
    """The result keeps the dtype of x. Bounds are cast to it, within its limits."""
    return x.copy() if min is None and max is None else np.clip(x, _bound(x, min), _bound(x, max))


def _bound(x: Array, value: Any) -> Any:
    """A bound in the dtype of x; beyond the range of an integer dtype, the nearest limit."""
    has_dtype = hasattr(value, "dtype")
    if value is None or (has_dtype and value.dtype == x.dtype):
        return value
    if x.dtype.kind not in "iu":
        return astype(value, x.dtype, copy=False) if has_dtype else value
    limits = np.iinfo(x.dtype)
    if not has_dtype:
        return limits.min if value <= limits.min else limits.max if value >= limits.max else int(value)
    low, high = (x.dtype.type(limit) for limit in (limits.min, limits.max))
    with np.errstate(invalid="ignore"):  # the cast of values out of range
        return np.where(value <= limits.min, low, np.where(value >= limits.max, high, value.astype(x.dtype)))
