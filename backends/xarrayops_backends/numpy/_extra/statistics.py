"""Statistics."""

from __future__ import annotations

from typing import Any

import numpy as np

from xarrayops.plugin import Array, generic
from xarrayops.plugin.host import NUMBERS, sums
from xarrayops_backends.numpy._guard import require_all_numbers

_np: Any = np
"""Typed as Any: the overloads of some functions do not know arrays of any dtype."""
_Axes = int | tuple[int, ...] | None


def average(x: Array, /, *, axis: _Axes = None, weights: Any = None, keepdims: bool = False) -> Array:
    """np.average raises ZeroDivisionError where the weights sum to 0."""
    if x.dtype.kind not in NUMBERS or weights is not None:
        require_all_numbers("average", x, weights)
    if weights is None:
        return sums.mean(x, axis=axis, keepdims=keepdims)
    if weights.shape != x.shape:
        weights = generic.statistics.along(np, weights, x, axis)
    floating = [a for a in (x, weights) if a.dtype.kind in "fc"]
    dtype = np.result_type(*floating) if floating else np.dtype(np.float64)
    total = sums.sum(np.multiply(x, weights, dtype=dtype), axis, None, keepdims)
    with np.errstate(divide="ignore", invalid="ignore"):
        divisor = sums.sum(weights, axis, dtype, keepdims)
        return total / (generic.statistics.finite_or_nan(_np, divisor) if sums.has_overflowed(divisor) else divisor)


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
        require_all_numbers("cov", x, y)
    if fweights is not None or aweights is not None:
        require_all_numbers("cov", fweights, aweights)
        count = x.shape[-1 if rowvar or x.ndim < 2 else 0] if x.ndim else 1
        generic.statistics.require_observations("fweights", fweights, count)
        generic.statistics.require_observations("aweights", aweights, count)
    dtype = _of_variables(x, y)
    found: Array = np.cov(x, y, rowvar, ddof=correction, fweights=fweights, aweights=aweights, dtype=dtype)
    return found.astype(dtype, copy=False)


def corrcoef(x: Array, y: Any = None, /, *, rowvar: bool = True) -> Array:
    """np.corrcoef computes in float64, unless it is given a dtype."""
    return np.corrcoef(x, y, rowvar, dtype=_of_variables(x, y))


def _of_variables(x: Array, y: Any) -> Any:
    """The dtype of a covariance: the dtype of the variables, where integers count as float64."""
    return np.result_type(*(a if a.dtype.kind in "fc" else np.float64 for a in (x, y) if a is not None))


def histogram(
    x: Array, /, bins: Any = 10, *, density: bool = False, weights: Any = None, **options: Any
) -> tuple[Array, Array]:
    """np.histogram also takes complex numbers, and computes densities in double precision for float32."""
    if x.dtype.kind == "c":
        raise generic.common.unordered(x.dtype)
    if weights is not None and weights.dtype.kind in "biu":
        weights = weights.astype(np.float64)
    try:
        found, edges = np.histogram(x, bins, density=density, weights=weights, **options)
    except (ValueError, IndexError):  # the range of float32 may overflow; other errors are raised again
        if x.dtype.char != "f":
            raise
        found, edges = np.histogram(x.astype(np.float64), bins, density=density, weights=weights, **options)
        edges = edges.astype(x.dtype)
    if not density:
        return found, edges
    dtype = weights.dtype if weights is not None else x.dtype if x.dtype.kind == "f" else np.float64
    return found.astype(dtype, copy=False), edges


def digitize(x: Array, bins: Array, /, *, right: bool = False) -> Array:
    """np.digitize, whose error for complex numbers names a cast."""
    try:
        return np.digitize(x, bins, right)
    except (TypeError, ValueError):
        generic.common.require_vector("bins", bins)
        generic.common.require_real(np, x, bins)
        raise


def ptp(x: Array, /, *, axis: _Axes = None, keepdims: bool = False) -> Array:
    """Two reductions, without the wrapper of np.ptp."""
    return _np.maximum.reduce(x, axis, keepdims=keepdims) - _np.minimum.reduce(x, axis, keepdims=keepdims)
