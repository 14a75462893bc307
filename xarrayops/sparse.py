"""Sparse matrices in the native containers of SciPy, PyTorch, CuPy and JAX: formats coo, csr, csc and bsr.

`xarrayops.matmul` multiplies them with each other and with dense arrays.
"""

from typing import TYPE_CHECKING, Any

from xarrayops._ops.sparse.build import (
    from_dense as from_dense,
    from_parts as from_parts,
    parts as parts,
    to_dense as to_dense,
    validate as validate,
)
from xarrayops._ops.sparse.convert import convert as convert
from xarrayops._ops.sparse.elementwise import (
    abs as abs,
    expm1 as expm1,
    log1p as log1p,
    maximum as maximum,
    negative as negative,
    power as power,
    sign as sign,
    sin as sin,
    sqrt as sqrt,
    square as square,
    tan as tan,
    tanh as tanh,
)
from xarrayops._ops.sparse.functions import (
    concat as concat,
    count as count,
    diagonal as diagonal,
    norm as norm,
    scale as scale,
    take as take,
)
from xarrayops._ops.sparse.operations import (
    add as add,
    multiply as multiply,
    sddmm as sddmm,
    sum as sum,
    transpose as transpose,
)
from xarrayops.plugin.sparse import Parts as Parts

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
