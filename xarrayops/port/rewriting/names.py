"""Names, dtypes and classes that only NumPy has: they stay NumPy's own, with a note."""

from __future__ import annotations

import ast

import libcst as cst

from xarrayops._core.numpy_names import FFT, LINALG, MAIN
from xarrayops.port.rewriting.context import Context, dotted
from xarrayops.port.source.interface import has
from xarrayops.port.source.names import call_arguments, is_foreign

_QUIET = ("random", "typing", "testing", "exceptions")
"""NumPy modules that a port uses unchanged."""


def is_host(name: str) -> bool:
    """Whether a name of NumPy, without ``numpy.``, stays NumPy's own."""
    return name.partition(".")[0] in _QUIET or not has(name)


def reference(context: Context, node: ast.Attribute, updated: cst.BaseExpression) -> cst.BaseExpression | None:
    """``np.load`` as ``numpy.load``, if xarrayops.numpy has no such name."""
    name = context.names.numpy_name(node)
    parent = context.parent(node)
    if name is None or (isinstance(parent, ast.Attribute) and context.names.numpy_name(parent) is not None):
        return None
    is_class = _needs_class(context, node, name)
    if not is_host(name) and not is_class:
        return None
    is_quiet = is_class or name.partition(".")[0] in _QUIET
    if not is_quiet:
        names = {"linalg": LINALG, "fft": FFT}.get(name.partition(".")[0], MAIN)
        answer = names.answer(name.rpartition(".")[2]) or ": it works on NumPy arrays only"
        context.todo(node, f"only NumPy has {name}{answer}")
    if context.numpy_name(node) is None or not _is_of_module(node):
        return None
    context.needs.add("numpy")
    context.edit(node, "name", f"numpy.{name} stays NumPy's own")
    return dotted(f"{context.host}.{name}")


def _is_of_module(node: ast.expr) -> bool:
    """Whether this is an attribute of a module, not a name imported from it."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name)


def _needs_class(context: Context, node: ast.AST, name: str) -> bool:
    """Whether ``np.ndarray`` must be NumPy's class: in brackets or as a base class."""
    parent = context.parent(node)
    if name != "ndarray":
        return False
    return (isinstance(parent, ast.Subscript) and parent.value is node) or (
        isinstance(parent, ast.ClassDef) and node in parent.bases
    )


def foreign(context: Context, node: ast.Call) -> None:
    """A note about a call of another package, which needs host memory."""
    name = context.names.resolve(node.func)
    if name is None or not is_foreign(name):
        return
    if any(context.value(each).is_array for each in call_arguments(node)):
        instead = 'f(xo.convert(x, "numpy")), and xo.asarray(.., like=x) of the result'
        context.todo(node, f"{name} may take NumPy arrays only. Then: {instead}")


def compare(context: Context, node: ast.Compare, updated: cst.BaseExpression) -> cst.BaseExpression | None:
    """``type(x) is np.ndarray`` as ``isinstance(x, np.ndarray)``."""
    left, right = node.left, node.comparators[0]
    is_type = isinstance(left, ast.Call) and context.names.resolve(left.func) == "builtins.type" and len(left.args) == 1
    if (
        len(node.ops) != 1
        or not is_type
        or context.numpy_name(right) != "ndarray"
        or not isinstance(updated, cst.Comparison)
    ):
        return None
    if not isinstance(node.ops[0], ast.Is | ast.Eq) or not isinstance(updated.left, cst.Call):
        return None
    context.edit(node, "isinstance", "np.ndarray means the arrays of every library")
    second = cst.Arg(updated.comparisons[0].comparator)
    first = updated.left.args[0].with_changes(comma=cst.Comma(whitespace_after=cst.SimpleWhitespace(" ")))
    return cst.Call(cst.Name("isinstance"), [first, second])
