"""Which calls draw random numbers, by NumPy or one of its generators, and whether they give an array."""

from __future__ import annotations

import ast
import re

import numpy

from xarrayops.port.rewriting.context import Context
from xarrayops.port.source.value import words

STATE = words("seed get_state set_state default_rng RandomState Generator SeedSequence PCG64 MT19937 Philox")
"""Names of numpy.random that draw nothing."""
_GENERATORS = ("random.default_rng", "random.RandomState", "random.Generator")


def method_of(context: Context, node: ast.Call) -> str | None:
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
    made = (each.func if isinstance(each, ast.Call) else None for each in context.names.bound_to(node))
    calls = [None if function is None else context.names.numpy_name(function) for function in made]
    return bool(calls) and all(name in _GENERATORS for name in calls)


def is_array(node: ast.Call, method: str) -> bool:
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
