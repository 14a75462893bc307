"""What core and backends know of precision: which functions a policy affects, and the recipe of `autocast`."""

from __future__ import annotations

import os

from xarrayops.errors import Unsupported
from xarrayops.plugin.dtypes import FLOATING_LINALG

PRODUCTS = ("matmul", "einsum", "tensordot", "vecdot", "attention", "qmatmul")
"""The functions that a precision policy affects."""
HALVES = ("float16", "bfloat16")
SUMS = ("float32", "float64")
"""The dtypes in which products may be summed."""
MULTIPLICATIONS = ("ieee", "tf32")
"""How float32 numbers may be multiplied: as IEEE float32 only, or also in TF32, where a device has it."""
AUTOCAST = {
    **dict.fromkeys(PRODUCTS, "half"),
    **dict.fromkeys(
        (
            *("acos", "asin", "cosh", "exp", "expm1", "log", "log10", "log1p", "log2", "logaddexp", "pow"),
            *("reciprocal", "sinh", "tan"),
            *("cumulative_prod", "cumulative_sum", "mean", "prod", "std", "sum", "var"),
            *("average", "logsumexp", "nanmean", "nanstd", "nansum", "nanvar", "segment_mean", "segment_sum"),
            *("softmax", "trapezoid"),
            *("linalg.cond", "linalg.lstsq", "linalg.norm", *FLOATING_LINALG),
        ),
        "float32",
    ),
}
"""The precision of functions in `autocast`: "half", the dtype of the block; or "float32", for operands of half types.

All others have the widest dtype of their operands, as they do without a block.
"""


def refuse_forced_tf32(products: str) -> None:
    """Raise if the environment makes NVIDIA's libraries multiply float32 in TF32 although IEEE is required."""
    if products == "ieee" and os.environ.get("NVIDIA_TF32_OVERRIDE") == "1":
        raise Unsupported(
            'NVIDIA_TF32_OVERRIDE=1 forces TF32 on this GPU. Instead: start the program without it, or products="tf32"'
        )
