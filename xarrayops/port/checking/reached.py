"""Which statements of a program a run reached."""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection

from xarrayops.port.source import Program
from xarrayops.port.source.names import FunctionNode


def reached(program: Program, lines: Collection[int]) -> Callable[[int], bool]:
    """Whether the statement at a line ran, from the lines that ran: of a function its body.

    The lines of functions that another package compiles are not seen: they count as reached.
    """
    statements = {
        line: node
        for node in program.nodes(ast.stmt)  # inner statements after outer ones
        for line in range(_first(node), (node.end_lineno or node.lineno) + 1)
    }

    def is_reached(line: int) -> bool:
        node = statements.get(line)
        if node is None or not program.foreign.compiled.keys().isdisjoint((node, *program.functions(node))):
            return True
        start = node.body[0].lineno if isinstance(node, FunctionNode) else node.lineno
        return any(each in lines for each in range(start, (node.end_lineno or node.lineno) + 1))

    return is_reached


def _first(node: ast.stmt) -> int:
    """The first line of a statement, with its decorators."""
    return min([node.lineno, *(each.lineno for each in getattr(node, "decorator_list", ()))])
