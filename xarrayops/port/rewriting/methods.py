"""Methods and attributes that are missing or differ in other libraries become NumPy functions of the same name."""

from __future__ import annotations

import ast

import libcst as cst
import numpy

from xarrayops._core.numpy_names import METHODS
from xarrayops.port import advice
from xarrayops.port.rewriting.context import Context, argument
from xarrayops.port.source import indices
from xarrayops.port.source.interface import IN_PLACE_METHODS, has, refusal
from xarrayops.port.source.keys import is_dtype_key
from xarrayops.port.source.names import has_starred
from xarrayops.port.source.numpy_results import VIEWS
from xarrayops.port.source.origins import SHARING
from xarrayops.port.source.parameters import ARRAY_NAMES
from xarrayops.port.source.value import ARRAY, SCALAR, UNKNOWN

_SAME = frozenset(["item", "tolist", "__len__"])
"""Methods that mean the same on every library."""
_PLAIN = ("argsort", "conj", "diagonal", "max", "min", "prod", "ravel", "round", "squeeze", "trace")
_ALONG = ("all", "any", "argmax", "argmin", "sum")
"""Methods that mean the same on every library without arguments, and with an axis alone."""
_ATTRIBUTES = {"T": "transpose", "imag": "imag", "real": "real", "size": "size", "mT": "matrix_transpose"}
"""NumPy's function for an attribute."""
_OF_DTYPES = ("kind", "itemsize", "char", "name", "type", "str")


def method(context: Context, node: ast.Call, updated: cst.BaseExpression) -> cst.BaseExpression | None:
    """``x.mean(0)`` as ``np.mean(x, 0)``."""
    if not isinstance(node.func, ast.Attribute) or context.names.resolve(node.func) is not None:
        return None
    name, base = node.func.attr, node.func.value
    function = "ravel" if name == "flatten" else name
    is_method = hasattr(numpy.ndarray, name) and name not in _SAME | IN_PLACE_METHODS
    if not is_method or not has(function) or context.names.updated(node) is not None:
        return None
    if not context.has_array_method(base, name):
        if (name in ARRAY_NAMES or name in ("copy", "dot")) and _may_differ(context, node, base, name):
            new = advice.method(context.program, node.func, node)
            text = f"the method {name} differs by library if {ast.unparse(base)} is an array"
            context.todo(node, f"{text}. Instead: {new}")
        return None
    if name == "astype" and any(_is_no_dtype(each) for each in node.args[:1]):
        return None  # of a data frame
    dtypes = [each for each in node.keywords if each.arg == "dtype" and name == "astype"]  # taken by position
    keywords = [each for each in node.keywords if each not in dtypes]
    refused = refusal(function, [None, *node.args, *(each.value for each in dtypes)], keywords)
    starred = name in ("reshape", "transpose") and has_starred(node.args)
    if starred and not all(_is_of_numbers(context, each, name) for each in node.args):
        new = advice.method(context.program, node.func, node)
        context.todo(node, f"np.{name} takes one tuple, and the method several numbers, too. Instead: {new}")
        return None
    is_taken_apart = starred or (name in ("reshape", "transpose") and len(node.args) > 1)
    if refused is not None and not is_taken_apart:
        context.todo(node, f"the method {name} differs by library, and np.{name} does not take this: {refused}")
        return None
    if not isinstance(updated, cst.Call) or not isinstance(updated.func, cst.Attribute):
        return None
    context.edit(node, "method", f"np.{name} means the same on every library")
    array, args = argument(updated.func.value), list(updated.args)
    if name == "flatten":
        return context.np_call("copy", argument(context.np_call("ravel", array, *args)))
    if name == "compress":
        return context.np_call(name, args[0], array, *args[1:])
    if dtypes:
        by_name = [each for each in args if each.keyword and each.keyword.value == "dtype"]
        args = [*(argument(each.value) for each in by_name), *(each for each in args if each not in by_name)]
    if is_taken_apart:
        parts = (each for each in args if each.keyword is None)
        shape = cst.Tuple([(cst.StarredElement if each.star else cst.Element)(each.value) for each in parts])
        args = [argument(shape), *(each for each in args if each.keyword is not None)]
    return context.np_call(name, array, *args)


def _is_of_numbers(context: Context, node: ast.expr, method: str) -> bool:
    """Whether an argument is a number, or several numbers behind a star; transpose() reverses the axes."""
    value = context.value(node.value if isinstance(node, ast.Starred) else node)
    members = value.items or ((value.element or value,) if method == "reshape" else (value,))
    return all(each.kind == SCALAR for each in members)


def _is_dtype_of_array(context: Context, node: ast.expr) -> bool:
    """Whether this is ``x.dtype`` of what may be an array, or a variable for it; data frames have their own dtypes."""
    if isinstance(node, ast.Name):
        values = context.names.bound_to(node)
        return bool(values) and all(isinstance(x, ast.Attribute) and _is_dtype_of_array(context, x) for x in values)
    if not isinstance(node, ast.Attribute) or node.attr != "dtype":
        return False
    array = node.value
    return context.is_array(array) or (context.variables.may_be_array(array) and not context.program.has_foreign_arrays)


def _is_no_dtype(node: ast.expr) -> bool:
    """Whether this is a text that names no dtype."""
    if not isinstance(node, ast.Constant) or not isinstance(node.value, str):
        return False
    try:
        numpy.dtype(node.value)
    except TypeError:
        return True
    return False


def _may_differ(context: Context, node: ast.Call, base: ast.expr, name: str) -> bool:
    """Whether a method of something that may be an array may give another result on another library."""
    options = {each.arg for each in node.keywords}
    is_plain = not node.args and not options and name in _PLAIN
    is_along = len(node.args) < 2 and options <= {"axis", "keepdims"} and name in _ALONG
    is_shaped = name == "reshape" and not options
    if is_plain or is_along or is_shaped or not context.variables.may_be_array(base):
        return False
    return context.value(base).is_array or not context.program.has_foreign_arrays


def attribute(context: Context, node: ast.Attribute, updated: cst.BaseExpression) -> cst.BaseExpression | None:
    """``x.size`` as ``np.size(x)``, and so on."""
    if not isinstance(node.ctx, ast.Load):
        return None
    base = node.value
    if node.attr in _OF_DTYPES and _is_dtype_of_array(context, base):
        assert isinstance(updated, cst.Attribute)
        context.edit(node, "dtype", "np.dtype has NumPy's attributes for the dtypes of every library")
        return updated.with_changes(value=context.np_call("dtype", argument(updated.value)))
    parent = context.parent(node)
    if isinstance(parent, ast.Subscript) and not isinstance(parent.ctx, ast.Load):  # elements of it are assigned
        return None
    if not context.has_array_method(base, node.attr):
        is_size = node.attr == "size" and not (isinstance(parent, ast.Call) and parent.func is node)  # of a tensor
        if is_size and isinstance(base, ast.Name) and context.variables.may_be_array(base):
            context.todo(node, f"size differs by library if {base.id} is an array. Instead: np.size({base.id})")
        return None
    if node.attr not in _ATTRIBUTES:
        is_missing = node.attr != "dtype" and node.attr in (*METHODS.without, "flat", "itemsize", "nbytes", "strides")
        if is_missing:
            call = parent if isinstance(parent, ast.Call) and parent.func is node else None
            new = advice.method(context.program, node, call)
            context.todo(node, f"not every library has {node.attr}. Instead: {new}")
        return None
    if node.attr == "T" and context.value(base).ndim == 2:
        return None
    assert isinstance(updated, cst.Attribute)
    context.edit(node, "attribute", f"np.{_ATTRIBUTES[node.attr]} means the same on every library")
    return context.np_call(_ATTRIBUTES[node.attr], argument(updated.value))


def key(context: Context, node: ast.Attribute | ast.Name, updated: cst.BaseExpression) -> cst.BaseExpression | None:
    """``d[x.dtype]`` as ``d[np.dtype(x.dtype)]``, if the keys of d are made by ``np.dtype``."""
    parent = context.parent(node)
    if parent is None or not is_dtype_key(node, parent, context.names) or not _is_dtype_of_array(context, node):
        return None
    context.edit(node, "dtype", "np.dtype makes the same key of the dtypes of every library")
    return context.np_call("dtype", argument(updated))


def subscript(context: Context, node: ast.Subscript, updated: cst.BaseExpression) -> cst.BaseExpression | None:
    """Indices that not every library supports: negative steps and lists."""
    is_at = isinstance(node.value, ast.Call) and context.names.resolve(node.value.func) == "xarrayops.at"
    if is_at or not isinstance(node.ctx, ast.Load):
        return None
    part = indices.unlike_torch(node.slice, context.program.values.known)
    if part is not None and context.value(node.value).kind in (ARRAY, UNKNOWN):
        return _of_dtype(context, node, part, updated)
    lists = context.program.lists
    if not context.is_array(node.value):
        if lists.may_be_list(node.slice) and context.variables.may_be_array(node.value):
            _of_list(context, node)
        elif any(map(indices.is_negative, indices.parts(node.slice))) and context.program.is_open(node.value):
            _of_negative(context, node)
        return None
    parts = indices.parts(node.slice)
    axes = [axis for axis, part in enumerate(parts) if indices.is_negative(part)]
    may_be_list = lists.may_be_list(node.slice)
    if not may_be_list and not axes:
        return None
    assert isinstance(updated, cst.Subscript)
    if lists.is_list(node.slice) or _is_consumed(context, node):  # lists select copies
        context.edit(node, "index", "xo.at takes negative steps and lists on every library")
        return _got(context, updated)
    if may_be_list:
        _of_list(context, node)
        return None
    if len(axes) > 1 or not all(_is_whole(part) for part in parts):
        _of_negative(context, node)
        return None
    context.edit(node, "index", "np.flip is the same view on NumPy, and works on every library")
    return context.np_call("flip", argument(updated.value), argument(cst.Integer(str(axes[0]))))


def _got(context: Context, updated: cst.Subscript) -> cst.Call:
    """``xo.at(x)[i].get()``."""
    at = context.xo_call("at", argument(updated.value))
    return cst.Call(cst.Attribute(updated.with_changes(value=at, lpar=[], rpar=[]), cst.Name("get")))


def _of_dtype(context: Context, node: ast.Subscript, part: ast.expr, updated: cst.BaseExpression) -> cst.Call | None:
    """An array of indices that may not be int64; such an index gives a copy."""
    if context.is_array(node.value) and context.is_array(part) and context.value(part).dtype is not None:
        assert isinstance(updated, cst.Subscript)
        context.edit(node, "index", f"xo.at takes indices of {context.value(part).dtype} on every library")
        return _got(context, updated)
    if not context.has_narrow_integers:
        return None
    problem = "PyTorch refuses unsigned and small integers as an index, and takes uint8 for a mask"
    new = advice.at(ast.unparse(node.value), node.slice)
    context.todo(node, f"{ast.unparse(part)} may have another dtype than int64: {problem}. Instead: {new}.get()")
    return None


def _of_negative(context: Context, node: ast.Subscript) -> None:
    """A note on a negative step."""
    text = ast.unparse(node.value)
    known = "" if context.is_array(node.value) else f", if {text} is an array"
    new = f"{advice.at(text, node.slice)}.get()  # a copy, not a view"
    context.todo(node, f"PyTorch has no negative steps{known}. Instead: {new}")


def _of_list(context: Context, node: ast.Subscript) -> None:
    """A note on an index that may be a list, where a copy may not replace what it selects."""
    if not context.program.has_foreign_arrays:
        new = advice.at(ast.unparse(node.value), node.slice)
        what = f"JAX takes no lists as indices, and {ast.unparse(node.slice)} may be one"
        context.todo(node, f"{what}. Instead: {new}.get()  # a copy")


def _is_consumed(context: Context, node: ast.expr) -> bool:
    """Whether only the values are used, immediately, so that a copy is as good as a view."""
    parent = context.parent(node)
    if isinstance(parent, ast.Call):
        name = context.numpy_name(parent.func)
        return node in parent.args and name is not None and has(name) and name not in VIEWS | SHARING
    if isinstance(parent, ast.Assign):
        return all(isinstance(each, ast.Subscript) and context.is_array(each.value) for each in parent.targets)
    is_value = isinstance(parent, ast.AugAssign) and parent.value is node
    return is_value or isinstance(parent, ast.BinOp | ast.UnaryOp | ast.Compare)


def _is_whole(part: ast.expr) -> bool:
    """Whether a slice is ``:`` or ``::-1``."""
    return isinstance(part, ast.Slice) and ast.unparse(part) in (":", "::-1")
