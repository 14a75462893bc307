"""Quantised arrays: the numbers that their definition contains."""

from __future__ import annotations

LIMITS = {"int8": (-128, 127), "uint8": (0, 255)}
"""The least and the greatest value of each dtype of quantised values."""
SYMMETRIC_LIMIT = 127
"""The greatest magnitude of values in the symmetric scheme: without -128, the values of -x are those of x, negated."""
LEAST_SCALE = {"float32": 2.0**-62, "float64": 2.0**-510}
"""The least scale, by its dtype.

The product of two scales is then a normal number, and so is each of its multiples. Some libraries flush subnormal
numbers to zero and others do not.
"""
