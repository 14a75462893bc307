"""What a compiler traces in a step: functions of arrays, and no choice by a value."""

from __future__ import annotations

import ast

from xarrayops.port.rewriting.context import Context
from xarrayops.port.source.interface import out_of
from xarrayops.port.source.names import IN_PLACE_FUNCTIONS
from xarrayops.port.source.value import ARRAY, words

_METHODS = words(
    "all any argmax argmin argsort astype clip conj conjugate copy cumprod cumsum diagonal dot flatten max mean min "
    "nonzero prod ravel repeat reshape round squeeze std sum swapaxes take trace transpose var"
)
_ON_HOST = (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.NamedExpr)
_WAITS = (ast.Await, ast.Yield, ast.YieldFrom)
_ELEMENTWISE = (ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE)


def obstacle(context: Context, node: ast.expr, *, varies: bool) -> str | None:
    """Why a step of a compiled loop cannot have an expression; ``varies`` says whether the steps change its value."""
    match node:
        case ast.Call() if not _is_traced(context, node):
            return f"a compiler may not trace {ast.unparse(node)}"
        case ast.BinOp(op=ast.Pow() | ast.LShift(), right=exponent) if varies and not isinstance(
            exponent, ast.Constant
        ):
            if context.value(node).kind != ARRAY:
                return f"{ast.unparse(node)} may be an integer that no dtype holds"
        case ast.BinOp(left=ast.Compare(), right=ast.Compare()) if varies:
            return f"{ast.unparse(node)} may be a sum of numbers or of arrays"
        case ast.Slice() if varies:
            return f"the slice {ast.unparse(node)} has other ends in each step"
    if isinstance(node, _WAITS) or (isinstance(node, _ON_HOST) and varies):
        return f"a compiler does not trace {ast.unparse(node)}"
    return "each step chooses by a value; np.where chooses for all" if varies and _chooses(node) else None


def _is_traced(context: Context, call: ast.Call) -> bool:
    """Whether a compiler traces the function, which returns its result and writes nothing."""
    function, resolved = call.func, context.names.resolve(call.func)
    name = context.names.function_name(function)
    if out_of(call, name) is not None or any(each.arg in (None, "copy") for each in call.keywords):
        return False
    if name is not None:
        return name not in IN_PLACE_FUNCTIONS and not name.startswith("random.") and not name.endswith(".at")
    if isinstance(function, ast.Attribute):
        return resolved is None and function.attr in _METHODS and len(call.args) < 2
    return resolved in ("builtins.abs", "builtins.len")


def _chooses(node: ast.expr) -> bool:
    """Whether an expression takes the truth of a value."""
    match node:
        case ast.IfExp() | ast.BoolOp() | ast.UnaryOp(op=ast.Not()):
            return True
        case ast.Compare(ops=[first, *rest]):
            return bool(rest) or not isinstance(first, _ELEMENTWISE)
    return False
