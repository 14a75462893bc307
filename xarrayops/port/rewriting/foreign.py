"""Calls of other packages by `xarrayops.on_host`, and code that they compile, which keeps NumPy's own functions."""

from __future__ import annotations

import ast

import libcst as cst

from xarrayops.port.rewriting.context import Context, argument, dotted
from xarrayops.port.source.names import call_arguments


def call(context: Context, node: ast.Call, updated: cst.BaseExpression) -> cst.BaseExpression | None:
    """``scipy.f(x)`` as ``xo.on_host(scipy.f)(x)``, if an argument may be an array."""
    compiled = context.names.function(node)
    if compiled in context.program.foreign.compiled:
        written = context.ownership.summary(compiled).written
        if written:
            names = " and ".join(sorted(written))
            context.todo(
                node, f"{compiled.name} is compiled for NumPy's arrays and writes {names}: give it NumPy's arrays"
            )
            return None
        name, is_given = compiled.name, True
    else:
        found = context.program.foreign.called(node)
        if found is None or context.program.foreign.is_of_library(found):
            return None
        name, is_given = found, any(_may_be_array(context, found, each) for each in call_arguments(node))
    if not is_given:
        return None
    if any(each.arg in ("out", "output") for each in node.keywords):
        context.todo(node, f"{name} writes into an array of NumPy: let it return the result, in xo.on_host({name})(..)")
        return None
    assert isinstance(updated, cst.Call)
    context.edit(node, "foreign call", f"{name} takes NumPy's arrays: xo.on_host converts the arguments and the result")
    return updated.with_changes(func=context.xo_call("on_host", argument(updated.func)))


def _may_be_array(context: Context, name: str, given: ast.expr) -> bool:
    if context.value(given).is_array:
        return True
    is_open = context.program.foreign.takes_arrays_of_numpy(name) and not name.startswith("matplotlib")
    return is_open and isinstance(given, ast.Name) and context.may_be_array(given)


def in_compiled(context: Context, node: ast.AST, updated: cst.BaseExpression) -> cst.BaseExpression | None:
    """``np.sqrt`` as ``numpy.sqrt`` in code that another package compiles."""
    name = context.numpy_name(node) if isinstance(node, ast.Attribute | ast.Name) else None
    parent = context.parent(node)
    if name is None or (isinstance(parent, ast.Attribute) and context.names.numpy_name(parent) is not None):
        return None
    context.needs.add("numpy")
    context.edit(node, "name", "compiled code takes NumPy's own functions only")  # type: ignore[arg-type]
    return dotted(f"{context.host}.{name}")
