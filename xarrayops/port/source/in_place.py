"""Which arrays NumPy functions and methods change in place."""

from __future__ import annotations

import ast
from collections.abc import Callable

import numpy

from xarrayops.port.source.names import is_none
from xarrayops.port.source.value import words

IN_PLACE_FUNCTIONS = words("copyto fill_diagonal place put put_along_axis putmask random.shuffle")
"""Functions that change their first argument, besides ``np.add.at`` and so on."""
IN_PLACE_METHODS = words("fill sort put partition itemset resize setflags setfield byteswap")
"""Methods of NumPy's arrays that change the array and return None."""
UPDATES: dict[type[ast.operator], str] = {ast.Add: "add", ast.Sub: "subtract", ast.Mult: "multiply", ast.Div: "divide"}
"""The method of `xarrayops.at` for an operator."""


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
    return call.args[-1] if is_given and not any(isinstance(each, ast.Starred) for each in call.args) else None


def operands(name: str | None) -> int | None:
    """The number of operands of an elementwise function with one result; None for other names."""
    function = getattr(numpy, name, None) if name and "." not in name else None
    return function.nin if isinstance(function, numpy.ufunc) and function.nout == 1 else None
