"""The header of a loop, which gives each step a number, a row of an array, or both."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import NamedTuple

from xarrayops.port.rewriting.context import Context
from xarrayops.port.vectorizing.offers import called


class Head(NamedTuple):
    """The variable that counts ``range(*numbers)``, and the array of which a variable is a row."""

    counter: str | None
    numbers: Sequence[ast.expr]
    rows: dict[str, ast.Name]


def head_of(context: Context, loop: ast.For) -> Head | None:
    """The header of a loop over ``range(...)``, an array or ``enumerate(array)``; None for other loops."""
    counter, row, over = None, loop.target, loop.iter
    function = context.names.resolve(over.func) if isinstance(over, ast.Call) else None
    match row, over:
        case ast.Name(id=name), ast.Call(args=args, keywords=[]) if function == "builtins.range":
            is_known = 1 <= len(args) <= 3 and not any(isinstance(each, ast.Starred) for each in args)
            return Head(name, args, {}) if is_known else None
        case ast.Tuple(elts=[ast.Name(id=name), second]), ast.Call(args=[array], keywords=[]):
            if function == "builtins.enumerate":
                counter, row, over = name, second, array
    if isinstance(row, ast.Name) and isinstance(over, ast.Name) and context.value(over).is_array:
        return Head(counter, [called("len", over)], {row.id: over})
    return None
