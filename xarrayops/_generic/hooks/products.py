"""The generic hook of exact products."""

from __future__ import annotations

from types import ModuleType

from xarrayops.plugin.arrays import Array
from xarrayops.plugin.products import exact_terms


def matmul_int32(xp: ModuleType, x1: Array, x2: Array, /) -> Array:
    """Products of float32 with so few terms that they are exact, summed in int32.

    float32 may be multiplied in bfloat16 or TF32: both hold integers of 8 bits.
    """
    first, second = ("int8" if x.dtype == xp.int8 else "uint8" for x in (x1, x2))
    terms = exact_terms(first, second)
    count, total = x1.shape[-1], None
    # Without terms one empty product is needed, which is 0 and has the shape of the result.
    for start in range(0, max(1, count), terms):
        these = slice(start, min(start + terms, count))
        left = xp.astype(x1[..., these], xp.float32)
        right = xp.astype(x2[these] if x2.ndim == 1 else x2[..., these, :], xp.float32)
        # An integer of at most 2**24, which float32 holds in any order of the sum, so the cast is exact.
        part = xp.astype(xp.matmul(left, right), xp.int32)
        total = part if total is None else total + part
    return total
