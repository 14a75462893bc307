"""What the program says of something of unknown kind that it writes: whether it is an array, or nobody else has it."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from xarrayops.port.rewriting.context import Context
from xarrayops.port.source import indices


def may_be_stored(context: Context, target: ast.Subscript) -> bool:
    """Whether the target of an assignment may be an array, and not a dict or a data frame with keys."""
    is_index = isinstance(target.slice, ast.Slice | ast.Tuple | ast.Constant)
    is_nested = isinstance(target.value, ast.Subscript) and not indices.has_key(target.value.slice)
    is_plain = is_nested and isinstance(target.slice, ast.Name | ast.Constant)  # lists of lists have such indices
    return (
        context.variables.may_be_array(target.value)
        and not is_plain
        and (is_index or not context.program.has_foreign_arrays)
    )


def is_of_array(context: Context, use: ast.Name) -> bool:
    """Whether a variable is used, or was made, as arrays are and numbers are not."""
    match context.parent(use):
        case ast.Subscript(value=operand) | ast.Attribute(value=operand):
            return operand is use
        case ast.Assign(value=value):
            return isinstance(value, ast.Subscript | ast.Call | ast.Name)
        case ast.Call(func=function):
            return context.names.numpy_name(function) is not None
    return False


def is_just_made(context: Context, node: ast.AugAssign) -> bool:
    """Whether the statements before have assigned a new array to an attribute, so that nothing else refers to it."""
    target = ast.unparse(node.target)
    blocks: Iterator[list[ast.stmt]] = (
        getattr(context.parent(node), name, []) for name in ("body", "orelse", "finalbody")
    )
    before = next((block[: block.index(node)] for block in blocks if node in block), [])
    for statement in reversed(before):
        if isinstance(statement, ast.Assign) and [ast.unparse(each) for each in statement.targets] == [target]:
            return context.value(statement.value).fresh
        if not (isinstance(statement, ast.AugAssign) and ast.unparse(statement.target) == target):
            return False
    return False


def compares(mask: ast.expr, array: ast.expr) -> bool:
    """Whether a mask is a comparison of the array itself with a number."""
    return (
        isinstance(mask, ast.Compare)
        and ast.dump(mask.left).replace("Load", "Store") == ast.dump(array).replace("Load", "Store")
        and all(isinstance(each, ast.Constant | ast.UnaryOp) for each in mask.comparators)
    )
