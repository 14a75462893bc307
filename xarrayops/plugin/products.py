"""Exact products of 8-bit integers: how many terms a sum may have."""

from __future__ import annotations

from xarrayops.plugin.arrays import Array

# The greatest absolute value of each 8-bit integer dtype.
MAGNITUDES = {"int8": 128, "uint8": 255}


def exact_terms(first: str, second: str, /) -> int:
    """The number of products of two such dtypes whose sum is exact in float32, in any order: at most 2**24.

    >>> exact_terms("int8", "int8"), exact_terms("uint8", "int8"), exact_terms("uint8", "uint8")
    (1024, 514, 258)
    """
    return (1 << 24) // (MAGNITUDES[first] * MAGNITUDES[second])


def greatest_terms(first: str, second: str, /, *, zeros: int = 0) -> int:
    """The number of products of two such dtypes whose sum fits int32, whatever their values.

    A zero point of its dtype is subtracted from each operand that has one, which may double the magnitude.

    >>> greatest_terms("int8", "int8"), greatest_terms("uint8", "int8"), greatest_terms("uint8", "uint8")
    (131071, 65793, 33025)
    >>> greatest_terms("int8", "int8", zeros=1), greatest_terms("int8", "int8", zeros=2)
    (65535, 32767)
    """
    # A difference of two 8-bit numbers takes one more bit.
    return ((1 << 31) - 1) // ((MAGNITUDES[first] * MAGNITUDES[second]) << zeros)


def multiplications(x1: Array, x2: Array, /) -> int:
    """The number of scalar multiplications in a matrix product of two arrays; 0 if their shapes do not fit.

    A stack in the first operand counts completely; a stack in the second counts as one matrix.
    """
    if not (x1.ndim and x2.ndim) or x1.shape[-1] != x2.shape[-2 if x2.ndim > 1 else 0]:
        return 0
    count: int = x1.size * (x2.shape[-1] if x2.ndim > 1 else 1)
    return count
