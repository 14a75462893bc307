"""The node of ``ast`` for each node of the syntax tree with formatting, by position."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import TYPE_CHECKING

from xarrayops.port.source import Source

if TYPE_CHECKING:
    import libcst as cst
    from libcst.metadata import CodeRange

_CLASSES = {
    "AnnAssign": "AnnAssign",
    "Assign": "Assign",
    "Attribute": "Attribute",
    "AugAssign": "AugAssign",
    "Call": "Call",
    "Comparison": "Compare",
    "Expr": "Expr",
    "Name": "Name",
    "Return": "Return",
    "Subscript": "Subscript",
}
"""The class in ``ast`` by the class in libcst, for the nodes that are edited."""

_Place = tuple[str, int, int, int, int]


class Twins:
    """Finds the node of ``ast`` that stands at the position of a node with formatting."""

    def __init__(self, source: Source, positions: Mapping[cst.CSTNode, CodeRange]) -> None:
        self._positions = positions
        self._nodes: dict[_Place, ast.AST] = {}
        for node in ast.walk(source.tree):
            if isinstance(node, ast.expr | ast.stmt) and type(node).__name__ in _CLASSES.values():
                self._nodes.setdefault(_place(source, node), node)

    def of(self, node: cst.CSTNode) -> ast.AST | None:
        """The same node in ``ast``; None for nodes that are not edited."""
        name = _CLASSES.get(type(node).__name__)
        position = self._positions.get(node)
        if name is None or position is None:
            return None
        start, end = position.start, position.end
        return self._nodes.get((name, start.line, start.column, end.line, end.column))


def _place(source: Source, node: ast.expr | ast.stmt) -> _Place:
    """The class and the position of a node, with columns in characters from 0."""
    first, last = node.lineno, node.end_lineno or node.lineno
    start = source.column(first, node.col_offset) - 1
    return type(node).__name__, first, start, last, source.column(last, node.end_col_offset or 0) - 1
