"""The reference array: the array whose library a new array must have."""

from __future__ import annotations

import ast

from xarrayops.port.rewriting.context import Context
from xarrayops.port.source.names import arguments, last_name
from xarrayops.port.source.parameters import ARRAY_NAMES
from xarrayops.port.source.value import OTHER, SCALAR, SEQUENCE, words

_QUESTIONS = words("isinstance hasattr callable type isscalar ndim iterable")


def reference_array(context: Context, node: ast.expr) -> str | None:
    """The name of an array that certainly exists before a call, in the library of the arguments; None without one.

    A parameter that the call itself names comes first, then the others in their order, then variables.
    """
    function = context.function(node)
    if function is None:
        return None
    certain = (each.arg for each in arguments(function) if _is_surely_array(function, each))
    found = [name for name in certain if not _count_bindings(function, name)]
    named = {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}
    return min(found, key=lambda name: name not in named, default=None) or _variable(context, function, node)


def unproved(context: Context, node: ast.expr) -> str | None:
    """A parameter that may be an array, without proof; None if all parameters are certainly something else."""
    function = context.function(node)
    for each in arguments(function) if function is not None else ():
        uses = [n for n in ast.walk(function) if isinstance(n, ast.Name) and n.id == each.arg]  # type: ignore[arg-type]
        kinds = {context.value(use).kind for use in uses if isinstance(use.ctx, ast.Load)}
        is_number = bool(kinds & {SCALAR, OTHER, SEQUENCE}) or any(counts(context, use) for use in uses)
        if each.arg not in ("self", "cls") and not is_number and any(_is_operand(context, use) for use in uses):
            return each.arg
    return None


def counts(context: Context, use: ast.Name) -> bool:
    """Whether a variable is used as a number: a length, a bound or an index."""
    node: ast.AST = use
    while isinstance(parent := context.parent(node), ast.BinOp | ast.UnaryOp | ast.Tuple | ast.List | ast.keyword):
        node = parent
    if isinstance(parent, ast.Call):
        is_range = context.names.resolve(parent.func) == "builtins.range"
        return is_range or context.names.numpy_name(parent.func) in MADE
    return isinstance(parent, ast.Slice) or (isinstance(parent, ast.Subscript) and parent.slice is node)


def _is_surely_array(function: ast.AST, parameter: ast.arg) -> bool:
    """Whether a parameter is used with an attribute or index that only arrays have; NumPy functions also take lists."""
    found = False
    for node in ast.walk(function):
        match node:
            case ast.Call(args=[ast.Name(id=parameter.arg), *_]) if last_name(node.func) in _QUESTIONS:
                return False  # a type test: the variable may be several things
            case ast.Attribute(value=ast.Name(id=parameter.arg)):
                found |= node.attr in ARRAY_NAMES | {"size", "astype", "T"}
            case ast.Subscript(value=ast.Name(id=parameter.arg)):
                found |= isinstance(node.slice, ast.Tuple)
    return found


def _variable(context: Context, function: ast.FunctionDef | ast.AsyncFunctionDef, node: ast.expr) -> str | None:
    """A variable that an earlier statement of the function itself binds to an array made from arguments."""
    statement = context.statement(node)
    for earlier in function.body:
        if earlier.lineno >= statement.lineno:
            break
        if isinstance(earlier, ast.Assign) and isinstance(earlier.targets[0], ast.Name):
            name = earlier.targets[0].id
            is_known = context.is_array(earlier.value) and _is_of_arguments(context, earlier.value)
            if is_known and _count_bindings(function, name) == 1:
                return name
    return None


def _is_of_arguments(context: Context, value: ast.expr) -> bool:
    """Whether a NumPy function computes the array from other arrays, so that it has their library."""
    if not isinstance(value, ast.Call):
        return False
    name = context.names.numpy_name(value.func)
    if name is None or name.partition(".")[0] == "random" or not value.args:
        return False
    return isinstance(value.args[0], ast.Name) and (name not in MADE or name in ("array", "asarray"))


def _count_bindings(function: ast.AST, name: str) -> int:
    return sum(isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Store) for n in ast.walk(function))


def _is_operand(context: Context, use: ast.Name) -> bool:
    """Whether a variable is iterated over, indexed, or an argument of a function of NumPy."""
    match context.parent(use):
        case ast.Subscript(value=operand) | ast.For(iter=operand):
            return operand is use
        case ast.Call(func=function):
            return context.names.numpy_name(function) is not None
    return False


MADE = words("arange array asarray empty eye full identity indices linspace logspace ones tri zeros")
"""NumPy functions whose result does not depend on the library of an argument."""
