"""Operators whose result differs by library: dtype promotion, booleans, lists as operands."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from xarrayops.port.findings import Finding, finding
from xarrayops.port.source import Program
from xarrayops.port.source.expressions import UFUNCS
from xarrayops.port.source.value import SCALAR, SEQUENCE, Value

TORCH, NO_LISTS = ("torch",), ("torch", "jax", "cupy")
_SMALL = ("int8", "int16", "uint8", "uint16")


def rules(program: Program) -> Iterator[Finding]:
    """Findings about operators, and about Python functions that are equivalent to one."""
    for operator in program.nodes(ast.BinOp):
        yield from _of_operator(program, operator)
    for comparison in program.nodes(ast.Compare):
        yield from _of_comparison(program, comparison)
    for call in program.nodes(ast.Call):
        if program.names.resolve(call.func) in ("builtins.divmod", "builtins.round"):
            yield from _of_call(program, call)


def _of_operator(program: Program, node: ast.BinOp) -> Iterator[Finding]:
    left, right = program.value(node.left), program.value(node.right)
    if not left.is_array and not right.is_array:
        return
    certain = all(value.certain for value in (left, right) if value.ndim != 0)
    function = f"np.{'matmul' if isinstance(node.op, ast.MatMult) else UFUNCS[type(node.op)]}"
    instead = f"{function}({program.text(node.left)}, {program.text(node.right)})"
    if SEQUENCE in (left.kind, right.kind):
        what = "lists and tuples are not valid operands of arrays (torch, JAX and CuPy raise)"
        yield finding(program, node, "operator", what, instead, NO_LISTS, certain=certain)
        return
    kinds = {left.dtype_kind, right.dtype_kind}
    if None in kinds:
        return
    if isinstance(node.op, ast.MatMult):
        if left.dtype != right.dtype:
            what = f"a product of {left.dtype} and {right.dtype}: torch raises"
            yield finding(program, node, "operator", what, instead, TORCH, certain=certain)
    elif isinstance(node.op, ast.Sub) and "bool" in (left.dtype, right.dtype):
        yield finding(program, node, "operator", "torch subtracts no booleans", instead, TORCH, certain=certain)
    elif found := _promotion(node.op, left, right):
        backends, what = found
        yield finding(program, node, "operator", what, instead, backends, certain=certain)


def _of_comparison(program: Program, node: ast.Compare) -> Iterator[Finding]:
    """A comparison with a list: torch returns False for ==, other libraries raise."""
    values = [program.value(each) for each in (node.left, *node.comparators)]
    is_of_values = not isinstance(node.ops[0], ast.Is | ast.IsNot | ast.In | ast.NotIn)
    if is_of_values and any(v.is_array for v in values) and any(v.kind == SEQUENCE for v in values):
        what = "lists and tuples are not compared with the elements of arrays on torch, JAX and CuPy"
        certain = all(value.certain for value in values)
        instead = "np.array([...]) instead of the list"
        yield finding(program, node, "operator", what, instead, NO_LISTS, certain=certain)


def _promotion(op: ast.operator, left: Value, right: Value) -> tuple[tuple[str, ...], str] | None:
    """The libraries whose result has another dtype than NumPy's, and the text about it."""
    arrays = [value for value in (left, right) if value.is_array]
    numbers = [value for value in (left, right) if value.kind == SCALAR]
    becomes_floating = isinstance(op, ast.Div) or any(value.dtype_kind in ("float", "complex") for value in numbers)
    kinds = {value.dtype_kind for value in arrays}
    if kinds <= {"int", "bool"} and becomes_floating:
        what = f"{_names(arrays)} with this operator gives float64, and on torch float32"
        if isinstance(op, ast.Div) and all(value.dtype in _SMALL for value in arrays):
            return (
                "torch",
                "jax",
            ), f"{_names(arrays)} with this operator gives another dtype on torch and JAX: float32"
        return TORCH, what
    if len(arrays) == 2 and {"float32", "int64"} == {value.dtype for value in arrays}:
        return ("torch", "jax"), "int64 with float32 gives float64, and on torch and JAX float32"
    if len(arrays) == 2 and {"float32", "float64"} == {value.dtype for value in arrays}:
        wide = left if left.dtype == "float64" else right
        if wide.ndim == 0:
            return TORCH, "float32 with a number of NumPy in float64 gives float64, and on torch float32"
    return None


def _names(values: list[Value]) -> str:
    return " and ".join(sorted({str(value.dtype) for value in values}))


def _of_call(program: Program, node: ast.Call) -> Iterator[Finding]:
    """``divmod`` and ``round`` of arrays."""
    name = (program.names.resolve(node.func) or "").removeprefix("builtins.")
    value = program.value(node.args[0]) if node.args else None
    if value is None or not value.is_array:
        return
    text = ", ".join(map(program.text, node.args))
    backends = ("torch", "dask") if name == "round" else TORCH
    what = f"{name} of an array is not supported by {' and '.join(backends)}"
    yield finding(program, node, "operator", what, f"np.{name}({text})", backends, certain=value.certain)
