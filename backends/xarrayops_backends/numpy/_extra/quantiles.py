"""Medians and quantiles: complex numbers have a median only, and the quantile of no elements is NaN."""

from __future__ import annotations

from typing import Any

import numpy as np

from xarrayops.plugin import Array, generic

_Axes = int | tuple[int, ...] | None


def median(x: Array, /, *, axis: _Axes = None, keepdims: bool = False) -> Array:
    """np.median without the options of memory."""
    return np.median(x, axis=axis, keepdims=keepdims)


def nanmedian(x: Array, /, *, axis: _Axes = None, keepdims: bool = False) -> Array:
    """np.nanmedian without the options of memory."""
    return np.nanmedian(x, axis=axis, keepdims=keepdims)


def _quantile(function: Any) -> Any:
    """A quantile of NumPy, which raises for no elements, and takes the dtype of the result from q."""

    def quantile(x: Array, /, q: Any, *, axis: _Axes = None, method: str = "linear", keepdims: bool = False) -> Array:
        if x.dtype.kind in "bc":
            if x.dtype.kind == "c":
                raise generic.common.unordered(x.dtype)
            x = x.astype(np.float64)  # np.quantile cannot subtract booleans
        options: dict[str, Any] = {"axis": axis, "method": method, "keepdims": keepdims}
        if type(q) is int:
            q = float(q)
        elif hasattr(q, "dtype") and q.dtype.kind not in "fc" and method not in generic.quantiles.ROUNDED:
            x = x if x.dtype.kind == "f" else x.astype(np.float64)
            return quantile(x, q.astype(np.float64), **options).astype(x.dtype, copy=False)
        if x.size:
            return function(x, q, **options)
        filled = np.median(x, axis=axis, keepdims=keepdims)
        return np.full((*np.shape(q), *filled.shape), filled)

    quantile.__name__ = quantile.__qualname__ = function.__name__
    quantile.__doc__ = _quantile.__doc__
    return quantile


percentile, nanpercentile = _quantile(np.percentile), _quantile(np.nanpercentile)
quantile, nanquantile = _quantile(np.quantile), _quantile(np.nanquantile)
