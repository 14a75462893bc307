"""One pass over a program: the rules edit expressions from the inside outwards; comments and formatting stay.

The rules look at ``ast``. Only statements that an edit needs are parsed with their formatting, by libcst.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from typing import Any

import libcst as cst
from libcst.metadata import MetadataWrapper, PositionProvider

from xarrayops.port.rewriting import (
    calls,
    classes,
    creation,
    elements,
    foreign,
    methods,
    names,
    operators,
    returning,
    stores,
    xo_names,
)
from xarrayops.port.rewriting.context import Context
from xarrayops.port.rewriting.edits import MARK, Todo
from xarrayops.port.rewriting.lines import Change, Layout, Unit

_RULES: dict[str, tuple[Any, ...]] = {
    "Assign": (elements.of_array, returning.assignment, stores.assign),
    "Attribute": (methods.attribute, methods.key, classes.noted, classes.reference, names.reference, xo_names.constant),
    "AugAssign": (stores.augment,),
    "BinOp": (operators.binary,),
    "Call": (calls.call, methods.method, creation.random_numbers, xo_names.call, foreign.call),
    "Compare": (names.compare,),
    "Expr": (returning.expression, calls.statement),
    "Name": (creation.of_module, methods.key, classes.reference),
    "Return": (returning.return_,),
    "Subscript": (methods.subscript, creation.grid),
}
"""The rules by the class of the node; each returns the new node, or None if it does not apply."""

_IN_AST = {name: name for name in _RULES} | {"Comparison": "Compare", "BinaryOperation": "BinOp"}
"""The class in ``ast`` by the class in libcst, for the nodes that are edited."""
_Place = tuple[str, int, int, int, int]


class _Asked(Exception):
    """A rule looks at the formatting of a node, so that its statement must be parsed."""


class _Unparsed:
    """Stands for a node with its formatting while no rule looks at it."""

    def __getattribute__(self, name: str) -> Any:
        raise _Asked


_UNPARSED: Any = _Unparsed()


class Pass:
    """The changes of one pass. The rules of a parsed statement run twice: its edits and notes are sets."""

    def __init__(self, context: Context) -> None:
        self.context = context
        self.layout = Layout(context.program.source)
        replaced = {unit: change for unit in self._asked() if (change := self._change(unit, {})) is not None}
        inner, outer = self._announced(replaced)
        for unit, problems in inner.items():
            replaced[unit] = self._change(unit, problems) or replaced[unit]
        comments = self.layout.comments(outer)
        imports = [*foreign.variable(context, self.layout), *names.imports(context, self.layout, replaced)]
        self.changes = [*comments, *imports, *replaced.values()]
        """In the order of the lines that they add at one place."""

    def _asked(self) -> list[Unit]:
        """The units that must be parsed, without those inside another one."""
        found: list[Unit] = []
        nodes = _nodes_by_statement(self.context)
        asked = {unit for statement, unit in self.layout.units.items() if self._asks(statement, nodes[statement])}
        for unit in sorted(asked, key=lambda each: (each.start, -each.last)):
            if not found or unit.start > found[-1].last:
                found.append(unit)
        return found

    def _asks(self, statement: ast.stmt, nodes: list[ast.AST]) -> bool:
        """Whether a rule edits a statement, or looks at its formatting."""
        try:
            is_edited = any(_edited(self.context, node, _UNPARSED) is not _UNPARSED for node in nodes)
            if isinstance(statement, ast.FunctionDef):
                return is_edited or returning.function(self.context, statement, _UNPARSED) is not _UNPARSED
            is_alone = self.layout.units[statement].statements == [statement]
            return is_edited or (is_alone and _edited_line(self.context, statement, _UNPARSED) is not None)
        except _Asked:
            return True

    def _announced(self, replaced: Iterable[Unit]) -> tuple[dict[Unit, dict[int, list[str]]], list[Todo]]:
        """The notes on statements inside replaced units by their places, and the other notes."""
        inner: dict[Unit, dict[int, list[str]]] = {}
        outer = []
        for todo in dict.fromkeys(self.context.announced):
            place = self.layout.places.get(todo.line, 0)
            around = next((unit for unit in replaced if unit.start < place <= unit.last), None)
            if around is None:
                outer.append(todo)
            else:
                inner.setdefault(around, {}).setdefault(place, []).append(todo.problem)
        return inner, outer

    def _change(self, unit: Unit, problems: dict[int, list[str]]) -> Change | None:
        """The new lines of a unit, with comments on the statements at some lines; None if they are the same."""
        first = unit.start - unit.lead
        before = self.layout.lines[first - 1 : unit.last]
        around = "pass" if unit.is_outer else "if 1:"
        text = "\n".join([around, *before, ""])
        wrapper = MetadataWrapper(cst.parse_module(text), unsafe_skip_copy=True)
        after = wrapper.module.visit(_Transformer(self.context, unit, wrapper, problems)).code.split("\n")[1:-1]
        if after == [*before]:
            return None
        return Change(unit.start if after else first, unit.last + 1, tuple(after[unit.lead :]))


def _nodes_by_statement(context: Context) -> dict[ast.stmt, list[ast.AST]]:
    """The nodes that rules may edit by the innermost statement, each after its parts."""
    statements: dict[ast.AST, ast.stmt] = {}
    found: dict[ast.stmt, list[ast.AST]] = {}
    for node, place in context.program.places.items():
        if isinstance(node, ast.stmt):
            statements[node], found[node] = node, []
        elif place.parent in statements:  # not so for ``ast.Load()`` and others that are one object in the whole tree
            statements[node] = statements[place.parent]
        if type(node).__name__ in _RULES:
            found[statements[node]].append(node)
    for nodes in found.values():
        nodes.reverse()
        nodes.sort(key=_end)
    return found


def _end(node: Any) -> tuple[int, int, int, int]:
    """Orders nodes by their end, and inner nodes before outer ones."""
    return node.end_lineno, node.end_col_offset, -node.lineno, -node.col_offset


def _edited(context: Context, node: ast.AST, updated: Any) -> Any:
    """A node after all rules."""
    rules = (foreign.in_compiled,) if context.is_compiled(node) else _RULES[type(node).__name__]
    for rule in rules:
        updated = rule(context, node, updated) or updated
    return updated


def _edited_line(context: Context, node: ast.stmt, updated: Any) -> list[cst.SimpleStatementLine] | None:
    """The lines that replace a line with one statement; None if it stays."""
    if isinstance(node, ast.Assign):
        return stores.chain(context, node, updated)
    if isinstance(node, ast.Return):
        return returning.return_of_call(context, node, updated)
    return names.imported(context, node, updated) if isinstance(node, ast.Import | ast.ImportFrom) else None


class _Transformer(cst.CSTTransformer):
    """Applies the rules to each node of a unit when its parts are done."""

    def __init__(
        self, context: Context, unit: Unit, wrapper: MetadataWrapper, problems: Mapping[int, Iterable[str]]
    ) -> None:
        super().__init__()
        self._problems = dict(problems)
        self._context = context
        self._positions = wrapper.resolve(PositionProvider)
        self._before = unit.start - unit.lead - 2
        """The number of lines of the program before those that are parsed."""
        self._nodes: dict[_Place, ast.AST] = {}
        self._statements: dict[int, ast.stmt] = {}
        for node in (node for statement in unit.statements for node in ast.walk(statement)):
            if type(node).__name__ in _RULES:
                place = (type(node).__name__, *context.program.source.span(node))  # type: ignore[arg-type]
                self._nodes.setdefault(place, node)
            if isinstance(node, ast.stmt):
                self._statements.setdefault(node.lineno, node)

    def _position(self, node: cst.CSTNode) -> tuple[int, int, int, int]:
        """The position of a node in the program, as `Source.span` has it."""
        start, end = self._positions[node].start, self._positions[node].end
        return start.line + self._before, start.column + 1, end.line + self._before, end.column + 1

    def on_leave(self, original_node: Any, updated_node: Any) -> Any:
        """The new node, with the comments on its line."""
        new = self._new(original_node, updated_node)
        if not self._problems or not hasattr(original_node, "leading_lines") or original_node not in self._positions:
            return new
        problems = self._problems.pop(self._position(original_node)[0], ())
        if not problems or new is cst.RemoveFromParent():
            return new
        first, *others = new if isinstance(new, cst.FlattenSentinel) else [new]
        comments = (cst.EmptyLine(comment=cst.Comment(f"# {MARK}: {each}")) for each in problems)
        known = {line.comment.value for line in first.leading_lines if line.comment is not None}
        added = [each for each in comments if each.comment is not None and each.comment.value not in known]
        first = first.with_changes(leading_lines=[*first.leading_lines, *added])
        return cst.FlattenSentinel([first, *others]) if others else first

    def _new(self, original_node: Any, updated_node: Any) -> Any:
        if isinstance(original_node, cst.FormattedString):
            return operators.formatted(original_node, updated_node)
        name = _IN_AST.get(type(original_node).__name__)
        if name is not None and original_node in self._positions:
            twin = self._nodes.get((name, *self._position(original_node)))
            return updated_node if twin is None else _edited(self._context, twin, updated_node)
        if not isinstance(original_node, cst.FunctionDef | cst.SimpleStatementLine):
            return updated_node
        statement: Any = self._statements.get(self._position(original_node)[0])
        if isinstance(original_node, cst.FunctionDef):
            is_plain = isinstance(statement, ast.FunctionDef)
            return returning.function(self._context, statement, updated_node) if is_plain else updated_node
        lines = _edited_line(self._context, statement, updated_node) if len(original_node.body) == 1 else None
        if lines is None:
            return updated_node
        return cst.FlattenSentinel(lines) if lines else cst.RemoveFromParent()
