"""Products with ``out_dtype=``: exact products of 8-bit integers."""

from __future__ import annotations

from typing import Any

from xarrayops import standard
from xarrayops._core.backends import find
from xarrayops._core.backends.mixed import described
from xarrayops._core.backends.registry import Backend
from xarrayops._ops.explained import explain_served
from xarrayops._ops.explanation import Explanation
from xarrayops._ops.sparse.operands import explain_matmul
from xarrayops._ops.verb import Verb
from xarrayops.errors import Unsupported
from xarrayops.plugin.arrays import Array
from xarrayops.plugin.candidates import Call
from xarrayops.plugin.products import MAGNITUDES, greatest_terms


def with_options(x1: Array, x2: Array, /, *, out_dtype: Any) -> Array:
    """`xarrayops.matmul` with ``out_dtype=``, whose docstring is the contract."""
    return _checked(x1, x2, out_dtype).functions["matmul_int32"](x1, x2)


def explain_with_options(verb: str, x1: Any, x2: Any, /, *, out_dtype: Any = None) -> Explanation:
    """The kernels that serve a product: with sparse containers, with ``out_dtype=int32``, or of dense arrays."""
    if out_dtype is None:
        return explain_matmul(verb, x1, x2)
    return explain_served(verb, _checked(x1, x2, out_dtype), Call((x1, x2), {}), hook="matmul_int32")


def _checked(x1: Array, x2: Array, out_dtype: Any) -> Backend:
    """The backend of the operands. Raises if shapes do not fit, or the sums may not fit int32."""
    backend = find.one_of("matmul", {"x1": x1, "x2": x2})
    name = backend.functions["dtype_name"]
    wanted, first, second = name(backend.native_dtype(out_dtype)), name(x1.dtype), name(x2.dtype)
    if wanted != "int32" or first not in MAGNITUDES or second not in MAGNITUDES:
        raise Unsupported(
            f"{_shown(backend, x1, x2, out_dtype)}: out_dtype= must be int32, with int8 or uint8 operands. Instead: "
            f"xo.matmul(xo.astype(x1, dtype), xo.astype(x2, dtype))"
        )
    if not (x1.ndim and x2.ndim):
        raise ValueError(f"{_shown(backend, x1, x2, out_dtype)}: an operand is 0-d")
    terms, others = x1.shape[-1], x2.shape[-2 if x2.ndim > 1 else 0]
    if terms != others and terms == terms and others == others:  # a size that Dask has not computed is NaN
        raise ValueError(f"{_shown(backend, x1, x2, out_dtype)}: the contracted axes have different lengths")
    greatest = greatest_terms(first, second)
    if terms > greatest:
        raise OverflowError(
            f"{_shown(backend, x1, x2, out_dtype)}: sums of {terms} products may exceed int32, sums of {greatest} "
            f"cannot. Instead: products of parts of the axis, added in int64"
        )
    return backend


def _shown(backend: Backend, x1: Array, x2: Array, out_dtype: Any) -> str:
    """The call, for errors."""
    return f"xo.matmul({described(x1, backend)}, {described(x2, backend)}, out_dtype={str(out_dtype)!r})"


VERBS = (Verb("matmul", standard.matmul, explain=explain_with_options),)
