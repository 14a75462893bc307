"""What a loop accumulates over its steps: sums, products and extremes, which are one reduction of all steps."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import NamedTuple

from xarrayops.port.rewriting.context import Context

SUM, PRODUCT = "sum", "prod"
_OF_OPERATORS = {ast.Add: SUM, ast.Sub: SUM, ast.Mult: PRODUCT}
_OF_FUNCTIONS = {"maximum": "max", "minimum": "min"}


class Accumulation(NamedTuple):
    """A statement that combines a variable with an operand of each step."""

    name: str
    reduction: str
    operand: ast.expr
    made: Callable[[ast.expr], ast.stmt]
    """The statement with another operand."""
    is_in_place: bool = False
    """Whether it is an augmented assignment, which does not read the variable by its name."""


def accumulation(context: Context, node: ast.stmt) -> Accumulation | None:
    """What a statement accumulates; None for other statements."""
    match node:
        case ast.AugAssign(target=ast.Name(id=name) as target, op=op, value=value):
            reduction = _OF_OPERATORS.get(type(op))
            made = lambda new: ast.AugAssign(target, op, new)
            return None if reduction is None else Accumulation(name, reduction, value, made, is_in_place=True)
        case ast.Assign(targets=[ast.Name(id=name) as target], value=ast.BinOp(left=left, op=op, right=right)):
            reduction, is_ordered = _OF_OPERATORS.get(type(op)), isinstance(op, ast.Sub)
            parts, combined = (left, right), lambda new: ast.BinOp(ast.Name(name), op, new)
        case ast.Assign(
            targets=[ast.Name(id=name) as target], value=ast.Call(func=function, args=[left, right], keywords=[])
        ):
            reduction, is_ordered = _OF_FUNCTIONS.get(context.names.function_name(function) or ""), False
            parts, combined = (left, right), lambda new: ast.Call(function, [ast.Name(name), new], [])
        case _:
            return None
    is_own = [isinstance(each, ast.Name) and each.id == name for each in parts]
    if reduction is None or sum(is_own) != 1 or (is_ordered and not is_own[0]):
        return None
    operand = parts[is_own.index(False)]
    return Accumulation(name, reduction, operand, lambda new: ast.Assign([target], combined(new), lineno=node.lineno))
