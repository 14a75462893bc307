"""Overflow of results."""

from __future__ import annotations

import math

import numpy as np

from xarrayops.plugin import Array


def has_overflowed(x: Array, /) -> bool:
    """Whether a value is not finite."""
    return not (np.isfinite(x).all() if x.ndim else math.isfinite(x))
