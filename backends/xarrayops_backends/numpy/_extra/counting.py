"""Counts."""

from __future__ import annotations

from typing import Any

import numpy as np

from xarrayops.plugin import Array, generic
from xarrayops_backends.numpy._guard import require_all_numbers


def bincount(x: Array, /, weights: Any = None, *, minlength: int = 0, length: int | None = None) -> Array:
    """np.bincount lacks a fixed length, sums in float64, and refuses uint64. It comes first: checks cost time."""
    if length is not None:
        counts = _checked_bincount(x, weights, minlength, length)
    else:
        try:
            counts = np.bincount(x, weights, minlength)
        except (TypeError, ValueError):
            counts = _checked_bincount(x, weights, minlength, None)
    is_narrow = weights is not None and weights.dtype.kind == "f" and weights.dtype != counts.dtype
    return counts.astype(weights.dtype) if is_narrow else counts


def _checked_bincount(x: Array, weights: Any, minlength: int, length: int | None) -> Array:
    require_all_numbers("bincount", x, weights)
    generic.counting.require_counts(np, x, weights, minlength, length)
    if x.dtype.kind == "u":
        x = x.astype(np.int64)
    if length is not None:
        if x.size and x.max() >= length:
            kept = x < length
            x, weights = x[kept], weights if weights is None else weights[kept]
        minlength = length
    return np.bincount(x, weights, minlength)
