"""Operators whose result differs by library: dtype promotion, booleans, lists as operands."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from xarrayops.port.findings import Finding, finding
from xarrayops.port.source import Program
from xarrayops.port.source.expressions import UFUNCS
from xarrayops.port.source.names import call_arguments
from xarrayops.port.source.value import NOTHING, SCALAR, SEQUENCE, Value

TORCH, TORCH_AND_JAX, NO_LISTS = ("torch",), ("torch", "jax"), ("torch", "jax", "cupy")
_COMPARISONS: dict[type[ast.cmpop], str] = {
    ast.Eq: "equal",
    ast.NotEq: "not_equal",
    ast.Lt: "less",
    ast.LtE: "less_equal",
    ast.Gt: "greater",
    ast.GtE: "greater_equal",
}
_SMALL = {"int8", "int16", "uint8", "uint16"}


def of_operator(program: Program, node: ast.BinOp) -> Iterator[Finding]:
    """An operator with an array."""
    left, right = program.value(node.left), program.value(node.right)
    if found := _difference(node.op, left, right):
        backends, what = found
        function = f"np.{'matmul' if isinstance(node.op, ast.MatMult) else UFUNCS[type(node.op)]}"
        instead = f"{function}({program.text(node.left)}, {program.text(node.right)})"
        certain = all(value.certain for value in (left, right) if value.ndim != 0)
        yield finding(program, node, "operator", what, instead, backends, certain=certain)


def _difference(op: ast.operator, left: Value, right: Value) -> tuple[tuple[str, ...], str] | None:
    """The libraries whose result differs from NumPy's, and the text about it."""
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


def of_comparison(program: Program, node: ast.Compare) -> Iterator[Finding]:
    """A comparison with a list: torch returns False for ==, other libraries raise."""
    values = [program.value(each) for each in (node.left, *node.comparators)]
    function = _COMPARISONS.get(type(node.ops[0])) if len(node.ops) == 1 else None
    if function is not None and any(v.is_array for v in values) and any(v.kind == SEQUENCE for v in values):
        what = "lists and tuples are not compared with the elements of arrays on torch, JAX and CuPy"
        certain = all(value.certain for value in values)
        instead = f"np.{function}({program.text(node.left)}, {program.text(node.comparators[0])})"
        yield finding(program, node, "operator", what, instead, NO_LISTS, certain=certain)


def of_call(program: Program, node: ast.Call) -> Iterator[Finding]:
    """``divmod`` and ``round`` of arrays."""
    name = program.names.resolve(node.func) or ""
    backends = {"builtins.divmod": TORCH, "builtins.round": ("torch", "dask")}.get(name)
    value = program.value(node.args[0]) if node.args else NOTHING
    if backends is not None and value.is_array:
        short, text = name.removeprefix("builtins."), ", ".join(map(program.text, call_arguments(node)))
        what = f"{short} of an array is not supported by {' and '.join(backends)}"
        yield finding(program, node, "operator", what, f"np.{short}({text})", backends, certain=value.certain)
