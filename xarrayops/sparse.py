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
from xarrayops._ops.sparse.functions import concat, count, diagonal, norm, scale, take
from xarrayops._ops.sparse.operations import add, multiply, sddmm, sum, transpose
from xarrayops.plugin.sparse import Parts

__all__ = [
    "Parts",
    "abs",
    "add",
    "concat",
    "convert",
    "count",
    "diagonal",
    "expm1",
    "from_dense",
    "from_parts",
    "log1p",
    "maximum",
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
    "sum",
    "take",
    "tan",
    "tanh",
    "to_dense",
    "transpose",
    "validate",
]


def __dir__() -> list[str]:
    return __all__


if not TYPE_CHECKING:  # a type checker reports missing names itself

    def __getattr__(name: str) -> Any:
        from xarrayops._core.numpy_names import missing

        raise missing(__name__, name)
