"""NumPy's statistics, with results that follow the contract of `xarrayops`."""

from __future__ import annotations

from typing import Any

import numpy as np

from xarrayops.plugin import Array
from xarrayops.plugin.generic import statistics
from xarrayops.plugin.host import NUMBERS, sums
from xarrayops_backends.numpy._guard import require_all_numbers as _require_numbers

_np: Any = np
"""Typed as Any: the overloads of these functions do not know arrays of any dtype."""
_Axes = int | tuple[int, ...] | None


digitize = np.digitize


def average(x: Array, /, *, axis: _Axes = None, weights: Any = None, keepdims: bool = False) -> Array:
    """np.average raises ZeroDivisionError where the weights sum to 0."""
    if x.dtype.kind not in NUMBERS or weights is not None:
        _require_numbers("average", x, weights)
    if weights is None:
        return sums.mean(x, axis, keepdims)
    if weights.shape != x.shape:
        weights = statistics.along(np, weights, x, axis)
    floating = [a for a in (x, weights) if a.dtype.kind in "fc"]
    dtype = np.result_type(*floating) if floating else np.dtype(np.float64)
    # The sum of half types can overflow them although the average does not.
    wide = np.dtype(np.float32) if sums.is_half(dtype) else dtype
    total = np.multiply(x, weights, dtype=wide).sum(axis, keepdims=keepdims)
    with np.errstate(divide="ignore", invalid="ignore"):
        return (total / weights.sum(axis, wide, keepdims=keepdims)).astype(dtype, copy=False)


def cov(
    x: Array,
    y: Any = None,
    /,
    *,
    rowvar: bool = True,
    correction: float = 1,
    fweights: Any = None,
    aweights: Any = None,
) -> Array:
    """np.cov calls the correction ddof, and computes in float64."""
    if x.dtype.kind not in NUMBERS or y is not None:
        _require_numbers("cov", x, y)
    if fweights is not None or aweights is not None:
        _require_numbers("cov", fweights, aweights)
        count = x.shape[-1 if rowvar or x.ndim < 2 else 0] if x.ndim else 1
        statistics.require_observations("fweights", fweights, count)
        statistics.require_observations("aweights", aweights, count)
    dtype = _of_variables(x, y)
    found: Array = np.cov(x, y, rowvar, ddof=correction, fweights=fweights, aweights=aweights, dtype=dtype)
    return found.astype(dtype, copy=False)


def corrcoef(x: Array, y: Any = None, /, *, rowvar: bool = True) -> Array:
    """np.corrcoef computes in float64, unless it is given a dtype."""
    found: Array = np.corrcoef(x, y, rowvar, dtype=_of_variables(x, y))
    return found


def _of_variables(x: Array, y: Any) -> Any:
    """The dtype of a covariance: the dtype of the variables, where integers count as float64."""
    return np.result_type(*(a if a.dtype.kind in "fc" else np.float64 for a in (x, y) if a is not None))


def histogram(
    x: Array,
    /,
    bins: Any = 10,
    *,
    range: tuple[float, float] | None = None,
    density: bool = False,
    weights: Any = None,
) -> tuple[Array, Array]:
    """np.histogram also takes complex numbers, and computes densities in double precision for float32."""
    if x.dtype.kind == "c":
        raise TypeError(f"complex numbers have no order; the dtype of x is {x.dtype}")
    if weights is not None and weights.dtype.kind in "biu":
        weights = weights.astype(np.float64)
    found, edges = np.histogram(x, bins, range, density, weights)
    if not density:
        return found, edges
    dtype = weights.dtype if weights is not None else x.dtype if x.dtype.kind == "f" else np.float64
    return found.astype(dtype, copy=False), edges


def ptp(x: Array, /, *, axis: _Axes = None, keepdims: bool = False) -> Array:
    """Two reductions, without the wrapper of np.ptp."""
    return _np.maximum.reduce(x, axis, keepdims=keepdims) - _np.minimum.reduce(x, axis, keepdims=keepdims)
