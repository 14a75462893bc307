"""NumPy's medians and quantiles. Complex numbers raise; the quantile of no elements is NaN."""

from __future__ import annotations

from typing import Any

import numpy as np

from xarrayops.plugin import Array
from xarrayops.plugin.generic import quantiles

_Axes = int | tuple[int, ...] | None


def _reduced(x: Array, *, is_median: bool = False) -> Array:
    """x for a median or a quantile: no complex numbers, and numbers for booleans, which np.quantile cannot subtract."""
    if x.dtype.kind == "c":
        raise TypeError(f"complex numbers have no quantiles; the dtype of x is {x.dtype}")
    return x.astype(np.float64) if x.dtype.kind == "b" and not is_median else x


def median(x: Array, /, *, axis: _Axes = None, keepdims: bool = False) -> Array:
    """np.median also orders complex numbers, which raise here."""
    return np.median(_reduced(x, is_median=True), axis=axis, keepdims=keepdims)


def nanmedian(x: Array, /, *, axis: _Axes = None, keepdims: bool = False) -> Array:
    """np.nanmedian also orders complex numbers, which raise here."""
    return np.nanmedian(_reduced(x, is_median=True), axis=axis, keepdims=keepdims)


def _quantile(function: Any, x: Array, q: Any, axis: _Axes, method: str, keepdims: bool) -> Array:
    """NumPy raises for no elements, and takes the dtype of the result from q."""
    x = _reduced(x)
    if type(q) is int:
        q = float(q)
    elif hasattr(q, "dtype") and q.dtype.kind not in "fc" and method not in quantiles.ROUNDED:
        x = x if x.dtype.kind == "f" else x.astype(np.float64)
        return _quantile(function, x, q.astype(np.float64), axis, method, keepdims).astype(x.dtype, copy=False)
    if x.size:
        return function(x, q, axis=axis, method=method, keepdims=keepdims)
    filled = np.median(x, axis=axis, keepdims=keepdims)
    return np.full((*np.shape(q), *filled.shape), filled)


def percentile(x: Array, /, q: Any, *, axis: _Axes = None, method: str = "linear", keepdims: bool = False) -> Array:
    """See `_quantile`."""
    return _quantile(np.percentile, x, q, axis, method, keepdims)


def nanpercentile(x: Array, /, q: Any, *, axis: _Axes = None, method: str = "linear", keepdims: bool = False) -> Array:
    """See `_quantile`."""
    return _quantile(np.nanpercentile, x, q, axis, method, keepdims)


def quantile(x: Array, /, q: Any, *, axis: _Axes = None, method: str = "linear", keepdims: bool = False) -> Array:
    """See `_quantile`."""
    return _quantile(np.quantile, x, q, axis, method, keepdims)


def nanquantile(x: Array, /, q: Any, *, axis: _Axes = None, method: str = "linear", keepdims: bool = False) -> Array:
    """See `_quantile`."""
    return _quantile(np.nanquantile, x, q, axis, method, keepdims)
