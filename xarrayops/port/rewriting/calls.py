"""Calls of NumPy's functions: keywords, ``out=`` and functions that work in place."""

from __future__ import annotations

import ast

import libcst as cst

from xarrayops.numpy._ufunc import UPDATES as AT_METHODS
from xarrayops.port import advice
from xarrayops.port.rewriting.context import Context, argument
from xarrayops.port.rewriting.creation import created
from xarrayops.port.rewriting.stores import assigned, at, bound, note, whole, why
from xarrayops.port.source import interface
from xarrayops.port.source.keys import is_open_key


def call(context: Context, node: ast.Call, updated: cst.BaseExpression) -> cst.BaseExpression | None:
    """A call of a function of NumPy."""
    name = context.numpy_name(node.func)
    if name is None or name.startswith("random."):
        return None
    if name == "ndarray":
        assert isinstance(updated, cst.Call)
        context.edit(node, "creation", "np.empty makes the same array")
        updated = updated.with_changes(func=context.np_call("empty").func)
        name = "empty"
    if not interface.has(name):
        return None
    if name == "arange" and len(node.args) == 4:  # it has one, two or three positions before the dtype
        assert isinstance(updated, cst.Call)
        *numbers, dtype = updated.args[:4]
        by_keyword = argument(dtype.value, "dtype").with_changes(comma=dtype.comma)
        context.edit(node, "keyword", "dtype= is taken by keyword")
        updated = updated.with_changes(args=[*numbers, by_keyword, *updated.args[4:]])
    if name == "dtype" and is_open_key(node, context.program.parents, context.names):
        context.todo(
            node,
            "np.dtype makes other keys than the dtypes of arrays. Instead: np.dtype(x.dtype) as key and to look up",
        )
    if name in advice.COMPLEX_ON_DASK:
        context.todo(node, advice.complex_on_dask(context.program, node))
    refused = interface.refusal(name, node.args[:3] if name == "arange" else node.args, node.keywords)
    if refused is not None:
        context.todo(node, f"np.{name} does not take these arguments: {refused}")
    target = interface.target_of(node, context.numpy_name)
    if target is not None and not isinstance(context.parent(node), ast.Expr):
        _note(context, node, target)
    return created(context, node, name, updated)


def statement(context: Context, node: ast.Expr, updated: cst.Expr) -> cst.BaseSmallStatement | None:
    """``np.f(x, out=y)`` and functions that work in place, as statements."""
    made = node.value
    if not isinstance(made, ast.Call):
        return None
    name = context.numpy_name(made.func)
    target = interface.target_of(made, context.numpy_name)
    if name is None:
        return _method(context, made, updated)
    if target is None or name.startswith("random."):
        return None
    written, changed = ast.unparse(target), None
    is_array = context.value(target).is_array or context.ownership.is_returned(made)
    if context.ownership.reason(made) is None and is_array and isinstance(updated.value, cst.Call):
        changed = _in_place(context, name, made, updated.value, written)
    if changed is None:
        _note(context, made, target)
        return None
    context.edit(node, "in place", why(context, made))
    return bound(cst.Name(written), changed)


def _note(context: Context, node: ast.Call, target: ast.expr) -> None:
    note(context, node, target, node, context.ownership.reason(node) or "the call cannot be taken apart")


def _in_place(context: Context, name: str, node: ast.Call, updated: cst.Call, target: str) -> cst.BaseExpression | None:
    """The new value of the array that a call writes."""
    arguments, array = list(updated.args), cst.Name(target)
    function, _, method = name.rpartition(".")
    if any(keyword.arg in ("where", None, "casting") for keyword in node.keywords):
        return None
    if name == "copyto" and len(arguments) == 2:
        return at(context, whole(array), "set", arguments[1].value)
    if name == "fill_diagonal" and len(arguments) == 2:
        filled = context.xo_call("fill_diagonal", argument(array), argument(arguments[1].value))
        return at(context, whole(array), "set", filled) if context.ownership.is_returned(node) else filled
    if method == "at" and function in AT_METHODS and len(arguments) == 3:
        selected = cst.Subscript(array, [cst.SubscriptElement(cst.Index(arguments[1].value))])
        return at(context, selected, AT_METHODS[function], arguments[2].value)
    if interface.out_of(node, name) is None:
        return None
    count = interface.operands(name)
    kept = [each for each in arguments if each.keyword is None or each.keyword.value != "out"]
    if count is not None and len(node.args) == count + 1:
        kept = kept[:count] + kept[count + 1 :]
    kept[-1] = kept[-1].with_changes(comma=cst.MaybeSentinel.DEFAULT)
    return at(context, whole(array), "set", updated.with_changes(args=kept))


def _method(context: Context, node: ast.Call, statement: cst.Expr) -> cst.BaseSmallStatement | None:
    """``x.fill(v)`` and ``x.sort()``."""
    if not isinstance(node.func, ast.Attribute) or not context.is_array(node.func.value):
        return None
    base, method = node.func.value, node.func.attr
    if method not in interface.IN_PLACE_METHODS:
        return None
    if context.ownership.reason(node) is not None or method not in ("fill", "sort"):
        _note(context, node, base)
        return None
    updated = statement.value
    if not isinstance(updated, cst.Call):
        return None
    array, is_filled = cst.Name(ast.unparse(base)), method == "fill"
    if is_filled:
        value = assigned(context, whole(array), updated.args[0].value)
    else:
        value = context.np_call("sort", argument(array), *updated.args)
        value = at(context, whole(array), "set", value) if context.ownership.is_returned(node) else value
    context.edit(node, "in place", why(context, node))
    return bound(array, value)
