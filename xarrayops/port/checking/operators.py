"""Operators whose result differs by library: dtype promotion, booleans, lists as operands."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from xarrayops.port import advice
from xarrayops.port.findings import Finding, finding
from xarrayops.port.source import Program
from xarrayops.port.source.names import call_arguments
from xarrayops.port.source.promotion import NO_LISTS, TORCH
from xarrayops.port.source.value import NOTHING, SEQUENCE

_COMPARISONS: dict[type[ast.cmpop], str] = {
    ast.Eq: "equal",
    ast.NotEq: "not_equal",
    ast.Lt: "less",
    ast.LtE: "less_equal",
    ast.Gt: "greater",
    ast.GtE: "greater_equal",
}


def of_operator(program: Program, node: ast.BinOp) -> Iterator[Finding]:
    """An operator with an array."""
    found = program.difference(node)
    if found is not None:
        instead = advice.operator(program, node)
        yield finding(program, node, "operator", found.what, instead, found.backends, certain=found.certain)


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
