"""Precision: the functions that a policy affects, the recipe of `autocast`, and how a product is computed."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any

from xarrayops.errors import Unsupported
from xarrayops.plugin.arrays import Record, gap_of
from xarrayops.plugin.candidates import Call
from xarrayops.plugin.dtypes import FLOATING_DTYPES, FLOATING_LINALG, REAL_OF

PRODUCTS = ("matmul", "einsum", "tensordot", "vecdot", "attention", "qmatmul")
"""The functions that a precision policy affects."""
HALVES = ("float16", "bfloat16")
SINGLE = dict.fromkeys(HALVES, "float32")
DOUBLE = {**dict.fromkeys((*HALVES, "float32"), "float64"), "complex64": "complex128"}
"""The dtype in which sums of each narrower dtype do not overflow."""
AGAIN = DOUBLE.keys() - {"float16"}
"""The dtypes that are computed again. float16 is computed in float32, in which it does not overflow."""
CHECKED = frozenset(
    (
        *("cumulative_prod", "cumulative_sum", "linalg.matrix_norm", "linalg.trace", "linalg.vector_norm", "mean"),
        *("average", "corrcoef", "cov", "gradient", "linalg.cond", "linalg.norm", "median", "nanmean", "nanmedian"),
        *("nanpercentile", "nanquantile", "nanstd", "nansum", "nanvar", "percentile", "polyval", "prod", "quantile"),
        *("segment_mean", "std", "trapezoid", "var"),
    )
)
"""The functions of which intermediate results may overflow although the result does not."""
SUMS = ("float32", "float64")
"""The dtypes allowed for sums of products."""
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
            *("log_softmax", "softmax", "trapezoid"),
            *("linalg.cond", "linalg.lstsq", "linalg.norm", *FLOATING_LINALG),
        ),
        "float32",
    ),
}
"""The precision of functions in `autocast`: "half", the dtype of the block; or "float32", for operands of half types.

All other functions use the widest dtype of their operands, as without a block.
"""


def widened(call: Call, hooks: Mapping[str, Callable[..., Any]], wider: Mapping[str, str] = SINGLE) -> Call:
    """The call with its arrays, and its option ``dtype``, in the wider dtypes; hooks are functions of a backend."""

    def cast(value: Any) -> Any:
        name = wider.get(hooks["dtype_name"](value.dtype)) if hasattr(value, "dtype") else None
        return value if name is None else hooks["astype"](value, hooks["as_dtype"](name))

    kwargs = {name: cast(value) for name, value in call.kwargs.items() if name != "dtype"}
    if (dtype := call.kwargs.get("dtype")) is not None:
        name = wider.get(hooks["dtype_name"](dtype))
        kwargs["dtype"] = dtype if name is None else hooks["as_dtype"](name)
    return Call(tuple(map(cast, call.args)), kwargs)


def refuse_forced_tf32(products: str) -> None:
    """Raise if the environment makes NVIDIA's libraries multiply float32 in TF32 although IEEE is required."""
    if products == "ieee" and os.environ.get("NVIDIA_TF32_OVERRIDE") == "1":
        raise Unsupported(
            'NVIDIA_TF32_OVERRIDE=1 forces TF32 on this GPU. Instead: start the program without it, or products="tf32"'
        )


Plan = tuple[Any, Any, Any, str]
"""The native dtypes for rounding the operands, for the computation and for the result; and ``products``.

None means that arrays keep their dtype.
"""


class Policy(Record):
    """The requirements of `xarrayops.precision`. None stands for the dtype of the operands."""

    compute: str | None = None
    accumulate: str = "float32"
    output: str | None = None
    products: str = "ieee"
    keeps_float64: bool = False
    """Whether the policy does not affect calls with a float64 operand."""


def names(policy: Policy, promoted: str, operands: int, *, sums_halves: bool) -> tuple[str, str, str, str]:
    """The plan of a policy for floating-point arrays, with names of dtypes.

    Operands are rounded to ``compute``. A library that sums products of half types in float32 (``sums_halves``)
    computes in a half type if the result has it. Otherwise the rounded operands are widened: they are multiplied
    without an error, summed in the wide dtype, and the result is rounded once. TF32 also multiplies two operands of
    half types without an error; for three or more operands it would round the intermediate results.
    """
    compute, output = policy.compute or promoted, policy.output or promoted
    if sums_halves and compute in HALVES and output == compute and policy.accumulate == "float32":
        return compute, compute, output, policy.products
    work = "float64" if "float64" in (compute, policy.accumulate) else "float32"
    return compute, work, output, "tf32" if compute in HALVES and operands == 2 else policy.products


def plan(
    policy: Policy, dtypes: tuple[Any, ...], hooks: Mapping[str, Callable[..., Any]], *, sums_halves: bool
) -> Plan | None:
    """The plan for operands of these native dtypes of a library; None if the policy does not affect the call.

    The products of integers and booleans are exact or wrap around, and a policy does not affect them. Complex numbers
    keep their dtype, and ``products`` holds for their parts.

    Raises
    ------
    Unsupported
        The library lacks a dtype.
    """
    known = tuple(map(hooks["dtype_name"], dtypes))
    if any(name in REAL_OF for name in known):
        return None if policy.keeps_float64 else (None, None, None, policy.products)
    if not any(name in FLOATING_DTYPES for name in known) or (policy.keeps_float64 and "float64" in known):
        return None
    promoted = hooks["dtype_name"](hooks["result_type"](*dtypes))
    compute, work, output, products = names(policy, promoted, len(dtypes), sums_halves=sums_halves)
    gap = gap_of(hooks["rounded"])
    if gap is not None and any(name != compute for name in known):
        raise Unsupported(f"xo.precision needs operands rounded to {compute}: {gap}")
    for name in (compute, work, output):
        reason = hooks["import_refusal"](name)
        if reason is not None:
            raise Unsupported(f"xo.precision needs {name}: {reason}")
    native = hooks["as_dtype"]
    return native(compute), native(work), native(output), products
