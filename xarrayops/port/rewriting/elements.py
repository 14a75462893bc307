"""Elements of arrays: numbers on NumPy, and views on PyTorch."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TypeGuard

from xarrayops.port.rewriting.context import Context
from xarrayops.port.source import indices
from xarrayops.port.source.values import root


def of_array(context: Context, node: ast.Assign, _: object) -> None:
    """``k = y[i]``, if y is written while k is still used: a note."""
    function = context.function(node)
    match node:
        case ast.Assign(targets=[ast.Name(id=name)], value=ast.Subscript(value=ast.Name(id=array) as base) as element):
            is_element = {*indices.kinds(element.slice, context.program.values.known)} == {indices.INTEGER}
        case _:
            return
    if (
        function is None
        or not is_element
        or name == array
        or not context.value(base).is_array
        or context.value(element).ndim != 0
    ):
        return
    uses = [each.lineno for each in ast.walk(function) if _reads(each, name)]
    for line in _writes(context, function, array):
        if node.lineno < line and any(line <= use for use in uses):
            text = f"elements are views on PyTorch: {name} changes with {array}"
            context.todo(node, f"{text}. Write {name} = np.copy({ast.unparse(element)})")
            return


def _reads(node: ast.AST, name: str) -> TypeGuard[ast.Name]:
    return isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load)


def _writes(context: Context, function: ast.AST, array: str) -> Iterator[int]:
    """The lines that write elements of a variable."""
    for node in ast.walk(function):
        match node:
            case ast.Assign(targets=[ast.Subscript() as target]) | ast.AugAssign(target=target):
                if root(target) == array:
                    yield node.lineno
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if name == array:
                if context.names.updated(value) is not None:
                    yield node.lineno
