"""Random numbers: NumPy draws them as before, and they are converted to the library of the arrays."""

from __future__ import annotations

import ast
import re

import libcst as cst
import numpy

from xarrayops.port.rewriting.calls import is_moved
from xarrayops.port.rewriting.context import Context, argument
from xarrayops.port.rewriting.reference import reference_array
from xarrayops.port.source.value import words

_STATE = words("seed get_state set_state default_rng RandomState Generator SeedSequence PCG64 MT19937 Philox")
_IN_PLACE = ("shuffle",)
_GENERATORS = ("random.default_rng", "random.RandomState", "random.Generator")


def call(context: Context, node: ast.Call, updated: cst.BaseExpression) -> cst.BaseExpression | None:
    """``np.random.normal(size=n)``, or the same of a generator."""
    method = _draw(context, node)
    if method is None or method in _STATE or isinstance(context.parent(node), ast.Expr):
        return None
    if method in _IN_PLACE:
        context.todo(node, "only NumPy's arrays can be shuffled in place. Instead: x = x[rng.permutation(x.shape[0])]")
        return None
    if not _is_array(node, method) or is_moved(context, node):
        return None
    reference = reference_array(context, node)
    context.edit(node, "random", "NumPy draws the same numbers; they move to the library of the arrays")
    like = cst.Name(reference) if reference else context.np_call("empty", argument(cst.Integer("0")))
    return context.np_call("asarray", argument(updated), argument(like, "like"))


def _draw(context: Context, node: ast.Call) -> str | None:
    """The method that draws numbers; None for other calls."""
    name = context.names.numpy_name(node.func)
    if name is not None:
        return name.removeprefix("random.") if name.startswith("random.") else None
    if not isinstance(node.func, ast.Attribute) or not _is_generator(context, node.func.value):
        return None
    has_method = any(hasattr(each, node.func.attr) for each in (numpy.random.RandomState, numpy.random.Generator))
    return node.func.attr if has_method else None


def _is_generator(context: Context, node: ast.expr) -> bool:
    """Whether an expression is certainly a NumPy generator."""
    if isinstance(node, ast.Call):
        return context.names.numpy_name(node.func) in _GENERATORS
    if not isinstance(node, ast.Name):
        return False
    owner = context.names.scope_of(node).owner(node.id)
    values = [binding.value for binding in owner.bindings.get(node.id, ())] if owner is not None else []
    return bool(values) and all(
        isinstance(v, ast.Call) and context.names.numpy_name(v.func) in _GENERATORS for v in values
    )


def _is_array(node: ast.Call, method: str) -> bool:
    """Whether a draw is an array: by its size, or by what it permutes."""
    if method in ("rand", "randn"):
        return bool(node.args)
    if method in ("permutation", "permuted", "multivariate_normal", "dirichlet", "multinomial"):
        return True
    position = _position_of_size(method)
    given = [keyword.value for keyword in node.keywords if keyword.arg == "size"]
    given += [] if position is None else node.args[position : position + 1]
    return bool(given) and not (isinstance(given[0], ast.Constant) and given[0].value is None)


def _position_of_size(method: str) -> int | None:
    """The position of ``size`` among the arguments, from the first line of NumPy's docstring."""
    function = getattr(numpy.random.Generator, method, None) or getattr(numpy.random.RandomState, method, None)
    signature = re.match(r"\s*\w+\((.*?)\)", function.__doc__ or "", re.DOTALL) if function else None
    names = [part.partition("=")[0].strip() for part in signature[1].split(",")] if signature else []
    names = [name for name in names if name != "self"]
    return names.index("size") if "size" in names else None
