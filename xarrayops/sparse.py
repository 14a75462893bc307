"""Sparse matrices in the native containers of SciPy, PyTorch, CuPy and JAX: formats coo, csr, csc and bsr.

`xarrayops.matmul` multiplies them with each other and with dense arrays.
"""

from typing import TYPE_CHECKING, Any

from xarrayops._ops.sparse.build import from_dense, from_parts, parts, to_dense, validate
from xarrayops._ops.sparse.convert import convert
from xarrayops._ops.sparse.elementwise import (
    abs,
    expm1,
    log1p,
    maximum,
    negative,
    power,
    sign,
    sin,
    sqrt,
    square,
    tan,
    tanh,
)
from xarrayops._ops.sparse.functions import astype, concat, diagonal, scale, take, topk
from xarrayops._ops.sparse.operations import add, divide, multiply, sddmm, subtract, transpose
from xarrayops._ops.sparse.reductions import count, mean, norm, sum
from xarrayops.plugin.sparse import Parts

__all__ = [
    "Parts",
    "abs",
    "add",
    "astype",
    "concat",
    "convert",
    "count",
    "diagonal",
    "divide",
    "expm1",
    "from_dense",
    "from_parts",
    "log1p",
    "maximum",
    "mean",
    "multiply",
    "negative",
    "norm",
    "parts",
    "power",
    "scale",
    "sddmm",
    "sign",
    "sin",
    "sqrt",
    "square",
    "subtract",
    "sum",
    "take",
    "tan",
    "tanh",
    "to_dense",
    "topk",
    "transpose",
    "validate",
]


def __dir__() -> list[str]:
    return __all__


if not TYPE_CHECKING:  # a type checker reports missing names itself

    def __getattr__(name: str) -> Any:
        from xarrayops._core.numpy_names import missing

        raise missing(__name__, name)
