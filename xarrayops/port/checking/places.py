"""The nodes of a program with what is around them, and findings about them."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from xarrayops.plugin.arrays import Record
from xarrayops.port.findings import ALL, Finding
from xarrayops.port.source import Program, indices
from xarrayops.port.source.names import FunctionNode
from xarrayops.port.source.value import Value

Loop = ast.For | ast.AsyncFor | ast.While
_COMPREHENSIONS = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp


class Place(Record):
    """A node with the node around it, the function around it, and the loops of that function around it."""

    node: ast.AST
    parent: ast.AST
    function: FunctionNode | None
    loops: tuple[ast.AST, ...]


class Analysed:
    """A program with its nodes in the order of the source, which all rules share."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.source = program.source
        self.names = program.names
        self.places = tuple(_places(program.source.tree, None, ()))

    def value(self, node: ast.AST) -> Value:
        """What is known of the value of an expression."""
        return self.program.values.of(node)

    def selects_one(self, node: ast.Subscript) -> bool:
        """Whether an index selects one element, as far as is known."""
        found = indices.kinds(node.slice, {part: self.value(part) for part in indices.parts(node.slice)})
        ndim = self.value(node.value).ndim
        return all(kind == indices.INTEGER for kind in found) and (
            len(found) == ndim or (ndim is None and len(found) > 1)
        )

    def text(self, node: ast.expr | ast.stmt) -> str:
        """The source of a node, in one line."""
        return self.source.segment(node)

    def finding(
        self,
        node: ast.expr | ast.stmt,
        kind: str,
        what: str,
        instead: str,
        backends: tuple[str, ...] = ALL,
        *,
        certain: bool = True,
    ) -> Finding:
        """A finding about a node; of a statement with a block, about its first line."""
        line, end_line = node.lineno, node.end_lineno or node.lineno
        column = self.source.column(line, node.col_offset)
        if getattr(node, "body", None) and isinstance(node, ast.stmt):
            return Finding(
                line, column, line, len(self.source.lines[line - 1]) + 1, kind, what, instead, backends, certain
            )
        end_column = self.source.column(end_line, node.end_col_offset or 0)
        return Finding(line, column, end_line, end_column, kind, what, instead, backends, certain)


def _places(node: ast.AST, function: FunctionNode | None, loops: tuple[ast.AST, ...]) -> Iterator[Place]:
    once = _evaluated_once(node)
    inside = (*loops, node) if isinstance(node, Loop | _COMPREHENSIONS) else loops
    for child in ast.iter_child_nodes(node):
        around = loops if child in once else inside
        yield Place(child, node, function, around)
        if isinstance(child, FunctionNode):
            yield from _places(child, child, ())
        else:
            yield from _places(child, function, around)


def _evaluated_once(node: ast.AST) -> tuple[ast.AST, ...]:
    """The parts of a loop that do not belong to its steps."""
    if isinstance(node, ast.For | ast.AsyncFor):
        return (node.iter, *node.orelse)
    if isinstance(node, ast.While):
        return tuple(node.orelse)
    return (node.generators[0],) if isinstance(node, _COMPREHENSIONS) else ()
