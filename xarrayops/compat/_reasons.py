"""The functions of the standard that the namespaces take from xarrayops, with the calls that these serve."""

from __future__ import annotations

from typing import NamedTuple

ARRAYS = "arrays of the library"
COMPLEX = "complex arrays"
FLOATING = "floating-point arrays"
UNSIGNED = "arrays of unsigned integers"
DTYPES = "arrays, dtypes and numbers"


class Reason(NamedTuple):
    """Why a function is that of xarrayops."""

    why: str
    calls: str = ARRAYS
    """The calls that it serves, by the first argument. A second array must be of the library."""


QUICKER = Reason("quicker")
WIDE = Reason("promotes uint16, uint32 and uint64 with other dtypes")
_ELEMENTWISE = (
    *("add", "atan2", "bitwise_and", "bitwise_left_shift", "bitwise_or", "bitwise_right_shift", "bitwise_xor"),
    *("copysign", "divide", "equal", "greater", "greater_equal", "hypot", "less", "less_equal", "logaddexp"),
    *("logical_and", "logical_or", "logical_xor", "maximum", "minimum", "multiply", "nextafter", "not_equal", "pow"),
    "subtract",
)
_UNSIGNED = Reason("the result of unsigned integers is uint64, as the standard requires", UNSIGNED)

REASONS: dict[str, dict[str, Reason]] = {
    "numpy": {
        **dict.fromkeys(("sign", "unique_all", "unique_counts", "unique_inverse", "unique_values"), QUICKER),
        "floor_divide": Reason("quotients of infinities are those of the standard", FLOATING),
    },
    "torch": {
        **dict.fromkeys(_ELEMENTWISE, WIDE),
        **dict.fromkeys(("all", "any", "matmul", "vecdot"), QUICKER),
        **dict.fromkeys(("cumulative_prod", "cumulative_sum", "prod", "sum"), _UNSIGNED),
        **dict.fromkeys(("clip", "linalg.trace", "repeat"), Reason("takes uint16, uint32 and uint64", UNSIGNED)),
        "acos": Reason("the sign of the imaginary part is that of the standard", COMPLEX),
        "expm1": Reason("accurate near zero, and right at infinity", COMPLEX),
        "finfo": Reason("takes arrays, and has the dtype", DTYPES),
        "floor_divide": Reason("exact for large integers"),
        "iinfo": Reason("takes arrays, and has the dtype", DTYPES),
        **dict.fromkeys(("log1p", "tanh"), Reason("right at infinity", COMPLEX)),
        "result_type": WIDE._replace(calls=DTYPES),
        **dict.fromkeys(("std", "var"), Reason("takes corrections that are not whole numbers")),
        "tensordot": Reason("promotes dtypes, and refuses contracted axes of different lengths"),
        "unique_all": Reason("array-api-compat has none"),
    },
    "cupy": {},
    "dask.array": {},
}
"""By library, each function that is xarrayops' own, and why. All others are array-api-compat's."""
