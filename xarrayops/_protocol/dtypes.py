"""The names of dtypes, and the limits of integers."""

from __future__ import annotations

STANDARD_DTYPES = (
    *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    *("float32", "float64", "complex64", "complex128"),
)
EXTRA_DTYPES = ("float16", "bfloat16", "float8_e4m3fn", "float8_e5m2")
DTYPE_NAMES = (*STANDARD_DTYPES, *EXTRA_DTYPES)
INTEGER_LIMITS = {
    **{f"int{bits}": (-(1 << bits - 1), (1 << bits - 1) - 1) for bits in (8, 16, 32, 64)},
    **{f"uint{bits}": (0, (1 << bits) - 1) for bits in (8, 16, 32, 64)},
}
"""The least and the greatest value of each integer dtype."""
