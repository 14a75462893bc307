"""The edits of ``--return-arguments``: functions return the arguments that they write, and calls assign them."""

from __future__ import annotations

import ast
from collections.abc import Sequence

import libcst as cst

from xarrayops.port.rewriting.context import Context
from xarrayops.port.rewriting.edits import NOTHING, SAME, VALUE, Returned
from xarrayops.port.rewriting.returned import ends, listed, names_of
from xarrayops.port.rewriting.stores import bound
from xarrayops.port.source.names import given_by

_KIND = "returned argument"


def function(context: Context, node: ast.FunctionDef, updated: cst.FunctionDef) -> cst.FunctionDef:
    """A function that returns what it writes, also at its end without a return statement."""
    returned = context.returned.get(node.name)
    if returned is None or context.names.functions.get(node.name) is not node:
        return updated
    names = listed(returned.written)
    if returned.form == SAME:
        context.edit(node, _KIND, f"the function returns {names} already: its callers take it")
    else:
        context.edit(node, _KIND, f"the function writes {names} in place, and returns it")
    if not node.name.startswith("_"):
        taken = ", ".join(["value", *returned.written] if returned.form == VALUE else returned.written)
        context.announce(
            node,
            f"{node.name} returns {names}, which it wrote in place: callers in other files must write "
            f"{taken} = {node.name}(..), with arguments that share no memory",
        )
    if returned.form == SAME or ends(node.body) or not isinstance(updated.body, cst.IndentedBlock):
        return updated.with_changes(returns=updated.returns if returned.form == SAME else None)
    last = cst.SimpleStatementLine([cst.Return(_values(returned, None))])
    body = updated.body.with_changes(body=[*updated.body.body, last])
    return updated.with_changes(body=body, returns=None)


def return_(context: Context, node: ast.Return, updated: cst.Return) -> cst.Return | None:
    """``return value`` as ``return value, y``."""
    returned = _of_function(context, node)
    if returned is None or returned.form == SAME or _called(context, node.value) is not None:
        return None
    return cst.Return(_values(returned, updated.value))


def return_of_call(
    context: Context, node: ast.Return, line: cst.SimpleStatementLine
) -> list[cst.SimpleStatementLine] | None:
    """``return f(x, y)``: the results of f are assigned to variables first."""
    called = _called(context, node.value)
    if called is None:
        return None
    statement = line.body[0]
    assert isinstance(statement, cst.Return)
    assert statement.value is not None
    returned, names = called
    value: cst.BaseExpression | None = None
    targets = names
    if returned.form == VALUE:
        value = cst.Name(context.new_name("value"))
        targets = [value, *names]
    elif returned.form == SAME:
        value = _tuple(names)
    own = _of_function(context, node)
    context.edit(node, _KIND, _reason(returned))
    first = line.with_changes(body=[bound(_tuple(targets), statement.value)])
    values = _values(own, value) if own is not None and own.form != SAME else value
    return [
        first.with_changes(trailing_whitespace=cst.TrailingWhitespace()),
        line.with_changes(body=[cst.Return(values)], leading_lines=[]),
    ]


def expression(context: Context, node: ast.Expr, updated: cst.Expr) -> cst.Assign | None:
    """``f(x, y)`` as ``y = f(x, y)``."""
    called = _called(context, node.value)
    if called is None:
        return None
    returned, names = called
    context.edit(node, _KIND, _reason(returned))
    targets = [cst.Name(context.unused), *names] if returned.form == VALUE else names
    return bound(_tuple(targets), updated.value)


def assignment(context: Context, node: ast.Assign, updated: cst.Assign) -> cst.Assign | None:
    """``s = f(x, y)`` as ``s, y = f(x, y)``; as ``s = y = f(x, y)`` if f already returned y."""
    called = _called(context, node.value)
    if called is None:
        return None
    returned, names = called
    target = updated.targets[0]
    if returned.form == SAME and names_of(node.targets[0]) == tuple(name.value for name in names):
        return None
    context.edit(node, _KIND, _reason(returned))
    if returned.form == SAME:
        return updated.with_changes(targets=[target, cst.AssignTarget(_tuple(names))])  # type: ignore[arg-type]
    return updated.with_changes(targets=[target.with_changes(target=_tuple([target.target, *names]))])


def _reason(returned: Returned) -> str:
    return f"{returned.name} returns {listed(returned.written)}, and does not only write it in place"


def _called(context: Context, node: ast.expr | None) -> tuple[Returned, list[cst.Name]] | None:
    """The called function, if it returns what it writes, with the variables that it writes."""
    function = context.names.function(node) if isinstance(node, ast.Call) else None
    returned = context.returned.get(function.name) if function is not None else None
    if returned is None or function is None or not isinstance(node, ast.Call):
        return None
    given = given_by(function, node)
    return returned, [cst.Name(ast.unparse(given[name])) for name in returned.written]


def _of_function(context: Context, node: ast.Return) -> Returned | None:
    """The record of the function around a statement, if it returns what it writes."""
    function = context.function(node)
    if function is None or context.names.functions.get(function.name) is not function:
        return None
    return context.returned.get(function.name)


def _values(returned: Returned, value: cst.BaseExpression | None) -> cst.BaseExpression:
    """What the function returns, with the value that it returned before."""
    names = [cst.Name(name) for name in returned.written]
    return _tuple(names if returned.form == NOTHING else [value or cst.Name("None"), *names])


def _tuple(values: Sequence[cst.BaseExpression]) -> cst.BaseExpression:
    """One value, or an unparenthesized tuple of several; nested tuples keep their parentheses."""
    if len(values) == 1:
        return values[0]
    return cst.Tuple([cst.Element(_in_parentheses(value)) for value in values], lpar=[], rpar=[])


def _in_parentheses(value: cst.BaseExpression) -> cst.BaseExpression:
    if isinstance(value, cst.Tuple | cst.Yield | cst.NamedExpr | cst.Lambda | cst.IfExp) and not value.lpar:
        return value.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])
    return value
