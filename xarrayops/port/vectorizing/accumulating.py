"""What a loop accumulates over its steps: sums, products and extremes, which are one reduction of all steps."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import NamedTuple

from xarrayops.port.rewriting.context import Context
from xarrayops.port.source.value import ARRAY
from xarrayops.port.vectorizing.offers import called
from xarrayops.port.vectorizing.rows import Rows, Steps

_OF_OPERATORS = {ast.Add: "sum", ast.Sub: "sum", ast.Mult: "prod"}
_OF_FUNCTIONS = {"maximum": "max", "minimum": "min"}
_KEPT = ("float32", "float64", "complex64", "complex128", "int64")
"""The dtypes that sums and products keep."""


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
    combined: Callable[[ast.expr], ast.expr]
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


def reduced(steps: Steps, found: Accumulation, rows: Rows, target: ast.Name) -> ast.stmt:
    """The statement for all steps, and what must be true before them so that the value and its dtype are the same."""
    name, np, context = found.name, steps.numpy, steps.context
    is_extreme = found.reduction in _OF_FUNCTIONS.values()
    if context.value(target).kind != ARRAY or is_extreme:
        steps.ask(f"{ast.unparse(steps.count)} > 0")
    dtype = context.value(found.operand).dtype
    # Integers wrap in a reduction, and float32 rounds, where the loop computes in the wider dtype of the variable.
    if not is_extreme and not (dtype in _KEPT and context.value(target).dtype == dtype):
        used = {node.id for node in ast.walk(rows.node) if isinstance(node, ast.Name)}
        array = f"{np}.asarray({ast.unparse(rows.node)})"
        is_kept = f"str({array}.dtype) == str({np}.result_type({array}, {name})) in {_KEPT}"
        steps.ask("False" if used & steps.stored else is_kept)
    if found.reduction == "prod":
        steps.ask(f"{np}.all({np}.asarray({name}) == 1)")
    return found.made(called(f"{np}.{found.reduction}", rows.node, axis=ast.Constant(0)))
