"""Overflow of results."""

from __future__ import annotations

import cmath

from xarrayops.plugin import Array


def has_overflowed(x: Array, /) -> bool:
    """By the sum of the squares, which BLAS adds without warnings. One that overflows costs a second computation."""
    if not x.ndim:
        return not cmath.isfinite(x)
    flat = x.ravel("K")
    return not cmath.isfinite(flat.dot(flat))
