"""The variables that a function uses as numbers: lengths, bounds, indices, and what its conditions compare."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import TypeGuard

from xarrayops._surface import CREATION
from xarrayops.port.source.names import Names
from xarrayops.port.source.value import words
from xarrayops.port.source.values import root

Function = ast.FunctionDef | ast.AsyncFunctionDef
WITHOUT_ARRAYS = frozenset(name for name in CREATION if not name.endswith("_like"))
WITHOUT_ARRAYS -= words("asarray from_dlpack meshgrid")
WITHOUT_ARRAYS |= words(
    "identity indices tri fromiter fromfunction frombuffer fromfile fromstring load loadtxt genfromtxt"
)
"""NumPy functions that make an array from a shape, numbers or a file."""
MADE = WITHOUT_ARRAYS | {"array", "asarray"}
"""NumPy functions whose result does not depend on the library of an argument."""
_OF_NUMBERS = ("builtins.range", "builtins.int", "builtins.float")


def counts(use: ast.Name, parents: Mapping[ast.AST, ast.AST], names: Names) -> bool:
    """Whether a variable is used as a number: a length, a bound, an index, or compared in the test of a statement."""
    node: ast.AST = use
    around = ast.BinOp | ast.UnaryOp | ast.Tuple | ast.List | ast.keyword
    while isinstance(parent := parents.get(node), around) or _is_of_python(parent, names):
        if isinstance(parent, ast.keyword) and parent.arg == "size":
            return True
        node = parent
    if isinstance(parent, ast.Call):
        function = names.resolve(parent.func) or ""
        name = names.numpy_name(parent.func)
        is_shape = name in WITHOUT_ARRAYS and node in (*parent.args, *parent.keywords)
        return is_shape or function in _OF_NUMBERS or function.startswith("math.")
    if isinstance(parent, ast.Compare) and isinstance(parent.ops[0], ast.Lt | ast.LtE | ast.Gt | ast.GtE):
        return _is_tested(parent, parents)
    return isinstance(parent, ast.Slice) or (isinstance(parent, ast.Subscript) and parent.slice is node)


def _is_of_python(node: ast.AST | None, names: Names) -> TypeGuard[ast.Call]:
    """Whether this is ``abs(a)``, or ``max(a, b)`` of numbers."""
    if not isinstance(node, ast.Call):
        return False
    name = names.resolve(node.func)
    return name == "builtins.abs" or (name in ("builtins.max", "builtins.min") and len(node.args) > 1)


def numbers(function: Function, parents: Mapping[ast.AST, ast.AST], names: Names) -> set[str]:
    """The variables that a function uses as numbers, and those from which arithmetic alone makes such a variable."""
    nodes = [*ast.walk(function)]
    found = {each.id for each in nodes if isinstance(each, ast.Name) and counts(each, parents, names)}
    made = [(root(each.targets[0]), each.value) for each in nodes if isinstance(each, ast.Assign)]
    parts = [(name, operands) for name, value in made if (operands := _arithmetic(value)) is not None]
    level = found
    while level:
        level = set().union(*(operands for name, operands in parts if name in level)) - found
        found |= level
    return found


def _arithmetic(node: ast.expr) -> set[str] | None:
    """The variables of an expression of operators alone; None for other expressions."""
    match node:
        case ast.Name(id=name):
            return {name}
        case ast.Constant():
            return set()
        case ast.UnaryOp(operand=operand):
            return _arithmetic(operand)
        case ast.BinOp(left=left, right=right):
            a, b = _arithmetic(left), _arithmetic(right)
            return None if a is None or b is None else a | b
    return None


def _is_tested(node: ast.AST, parents: Mapping[ast.AST, ast.AST]) -> bool:
    """Whether an expression is the condition of a statement, as one number can be and an array with elements cannot."""
    while isinstance(parent := parents.get(node), ast.BoolOp) or (
        isinstance(parent, ast.UnaryOp) and isinstance(parent.op, ast.Not)
    ):
        node = parent
    return isinstance(parent, ast.If | ast.While | ast.IfExp | ast.Assert) and parent.test is node
