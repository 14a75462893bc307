"""NumPy's functions: which of them `xarrayops.numpy` has, their signatures, and what they change in place."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Sequence
from functools import cache
from operator import attrgetter
from types import ModuleType

import numpy

import xarrayops.numpy as ours
from xarrayops.port.source.names import IN_PLACE_FUNCTIONS, has_starred, is_none
from xarrayops.port.source.value import words

IN_PLACE_METHODS = words("fill sort put partition itemset resize setflags setfield byteswap")
"""Methods of NumPy's arrays that change the array and return None."""
DRAWS = frozenset(name for name in dir(numpy.random.RandomState) if not hasattr(numpy.ndarray, name))
"""Methods of NumPy's generators that its arrays lack."""
UPDATES: dict[type[ast.operator], str] = {ast.Add: "add", ast.Sub: "subtract", ast.Mult: "multiply", ast.Div: "divide"}
"""The method of `xarrayops.at` for an operator."""


@cache
def has(name: str, owner: object = ours) -> bool:
    """Whether xarrayops.numpy, or another module, has one of NumPy's names, which may be dotted."""
    for part in name.split("."):
        is_listed = not isinstance(owner, ModuleType) or part in dir(owner)  # not ``np.__file__``, which modules have
        if not is_listed or not hasattr(owner, part):
            return False
        owner = getattr(owner, part)
    return True


@cache
def signature(name: str) -> inspect.Signature | None:
    """The signature of a function by its NumPy name; None if it has none."""
    function = attrgetter(name)(ours) if has(name) else type
    try:
        return None if isinstance(function, type) else inspect.signature(function)
    except (TypeError, ValueError):
        return None


def refusal(name: str, arguments: Sequence[ast.expr | None], keywords: Sequence[ast.keyword]) -> str | None:
    """Why a function does not take these arguments; None if it does, or if that is not known."""
    taken = signature(name)
    unpacked = has_starred(arguments) or any(each.arg is None for each in keywords)
    if taken is None or unpacked:
        return None
    try:
        taken.bind(*arguments, **{str(each.arg): each.value for each in keywords})
    except TypeError as error:
        return str(error)
    return None


def target_of(call: ast.Call, numpy_name: Callable[[ast.AST], str | None]) -> ast.expr | None:
    """The argument that a call of a function writes; None if it writes none."""
    name = numpy_name(call.func)
    if name is not None and (name in IN_PLACE_FUNCTIONS or name.endswith(".at")) and call.args:
        return call.args[0]
    return out_of(call, name)


def out_of(call: ast.Call, name: str | None) -> ast.expr | None:
    """The array of ``out=``, by keyword, or by position of an elementwise function; None without one."""
    for keyword in call.keywords:
        if keyword.arg == "out" and not is_none(keyword.value):
            value = keyword.value
            return value.elts[0] if isinstance(value, ast.Tuple) and len(value.elts) == 1 else value
    count = operands(name)
    is_given = count is not None and len(call.args) == count + 1
    return call.args[-1] if is_given and not has_starred(call.args) else None


def operands(name: str | None) -> int | None:
    """The number of operands of an elementwise function with one result; None for other names."""
    function = getattr(numpy, name, None) if name and "." not in name else None
    return function.nin if isinstance(function, numpy.ufunc) and function.nout == 1 else None
