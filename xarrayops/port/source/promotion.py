"""Operators of arrays whose results differ by library: promotion, booleans, lists as operands."""

from __future__ import annotations

import ast

from xarrayops.plugin.arrays import Record
from xarrayops.port.source.value import SCALAR, SEQUENCE, Value

TORCH, TORCH_AND_JAX, NO_LISTS = ("torch",), ("torch", "jax"), ("torch", "jax", "cupy")
_SMALL = {"int8", "int16", "uint8", "uint16"}


class Difference(Record):
    """The libraries whose result differs from NumPy's, the text about it, and whether both operands are known."""

    backends: tuple[str, ...]
    what: str
    certain: bool


def difference(op: ast.operator, left: Value, right: Value) -> Difference | None:
    """How the result of an operator differs by library."""
    found = _difference(op, left, right)
    certain = all(value.certain for value in (left, right) if value.ndim != 0)
    return None if found is None else Difference(*found, certain)


def _difference(op: ast.operator, left: Value, right: Value) -> tuple[tuple[str, ...], str] | None:
    arrays = [value for value in (left, right) if value.is_array]
    if arrays and SEQUENCE in (left.kind, right.kind):
        return NO_LISTS, "lists and tuples are not valid operands of arrays (torch, JAX and CuPy raise)"
    if not arrays or None in (left.dtype_kind, right.dtype_kind):
        return None
    if isinstance(op, ast.MatMult):
        text = f"a product of {left.dtype} and {right.dtype}: torch raises"
        return (TORCH, text) if left.dtype != right.dtype else None
    if isinstance(op, ast.Sub) and "bool" in (left.dtype, right.dtype):
        return TORCH, "torch subtracts no booleans"
    numbers = [value for value in (left, right) if value.kind == SCALAR]
    becomes_floating = isinstance(op, ast.Div) or any(value.dtype_kind in ("float", "complex") for value in numbers)
    dtypes = {str(value.dtype) for value in arrays}
    if becomes_floating and all(value.dtype_kind in ("int", "bool") for value in arrays):
        text = f"{' and '.join(sorted(dtypes))} with this operator gives"
        if isinstance(op, ast.Div) and dtypes <= _SMALL:
            return TORCH_AND_JAX, f"{text} another dtype on torch and JAX: float32"
        return TORCH, f"{text} float64, and on torch float32"
    if dtypes == {"float32", "int64"}:
        return TORCH_AND_JAX, "int64 with float32 gives float64, and on torch and JAX float32"
    if dtypes == {"float32", "float64"} and (left if left.dtype == "float64" else right).ndim == 0:
        return TORCH, "float32 with a number of NumPy in float64 gives float64, and on torch float32"
    return None
