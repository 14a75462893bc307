"""NumPy's classes where only the class itself will do: in annotations, in tests of dtypes and classes, in dispatch."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from xarrayops.port.rewriting.context import Context, dotted
from xarrayops.port.source.names import last_name

if TYPE_CHECKING:
    import libcst as cst

_CLASSES = ("dtype", "ndarray")


def reference(
    context: Context, node: ast.Attribute | ast.Name, updated: cst.BaseExpression
) -> cst.BaseExpression | None:
    """``np.float64`` as ``numpy.float64`` in annotations; ``np.dtype`` and ``np.ndarray`` in tests, with a note."""
    name = context.numpy_name(node)
    if name is None:
        return None
    if node in context.program.annotations:
        if name == "ndarray" or not context.is_dtype(name):
            return None
        context.edit(node, "name", "annotations name classes, and the dtypes of xarrayops.numpy are not classes")
    elif name in _CLASSES and (problem := _problem(context, node, name)) is not None:
        context.todo(node, problem)
    else:
        return None
    context.needs.add("numpy")
    return dotted(f"{context.host}.{name}")


def noted(context: Context, node: ast.Attribute, updated: cst.BaseExpression) -> None:
    """The note of a class that is NumPy's own already."""
    name = context.names.numpy_name(node)
    if name in _CLASSES and context.numpy_name(node) is None and (problem := _problem(context, node, name)) is not None:
        context.todo(node, problem)


def _problem(context: Context, node: ast.expr, name: str) -> str | None:
    """Why a class must be NumPy's own, and what to do for other libraries."""
    parent = context.parent(node)
    if isinstance(parent, ast.Tuple | ast.List):
        parent = context.parent(parent)
    match parent:
        case ast.Call(func=function) if name == "dtype" and last_name(function) in ("isinstance", "issubclass"):
            return "numpy.dtype is the class of NumPy's dtypes only: test for the dtypes of other libraries too"
        case ast.Call(func=ast.Attribute(attr="register")) if name == "ndarray":
            return "singledispatch knows NumPy's arrays only: register the array classes of other libraries, too"
        case ast.Compare(left=ast.Call(func=ast.Name(id="type")), ops=[*_, ast.IsNot() | ast.NotEq() | ast.In()]):
            return "type(x) is numpy.ndarray for NumPy's arrays only. Instead: isinstance(x, np.ndarray)"
    return None
