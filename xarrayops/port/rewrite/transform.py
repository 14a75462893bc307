"""The edits of one program, from the innermost expressions outwards; comments and formatting stay."""

from __future__ import annotations

import ast
from difflib import SequenceMatcher
from typing import Any, TypeVar

import libcst as cst
from libcst.metadata import MetadataWrapper, PositionProvider

from xarrayops.port.rewrite import calls, imports, methods, names, random_numbers, stores
from xarrayops.port.rewrite.context import Context
from xarrayops.port.rewrite.edits import Edit, Rewritten, Todo
from xarrayops.port.rewrite.matching import Twins
from xarrayops.port.rewrite.todo import commented
from xarrayops.port.source import Program
from xarrayops.port.source.files import parsed

_RULES: dict[str, tuple[Any, ...]] = {
    "Assign": (stores.assign,),
    "Attribute": (methods.attribute, names.reference),
    "AugAssign": (stores.augment,),
    "Call": (calls.call, methods.method, random_numbers.call),
    "Compare": (names.compare,),
    "Expr": (calls.statement,),
    "Subscript": (methods.subscript, calls.grid),
}
"""The rules by the class of the node; each gives the new node, or None where it does not apply."""


_Record = TypeVar("_Record", Edit, Todo)
_MOST_PASSES = 6
"""Passes until nothing changes: what one of them wrote may be known better in the next."""


def rewritten(program: Program) -> Rewritten:
    """Rewrite a program until another pass edits nothing, and then write the notes."""
    source = program.source
    edits: list[Edit] = []
    for _ in range(_MOST_PASSES):
        context, text = _pass(program, notes=False)
        edits += _in_lines_of(source.text, program.source.text, context.edits)
        if text == program.source.text:
            break
        program = Program.of(parsed(source.path, text))
    context, text = _pass(program, notes=True)
    todos = _in_lines_of(source.text, program.source.text, context.todos)
    return Rewritten(source.path, source.text, text, tuple(sorted(set(edits))), tuple(sorted(set(todos))))


def _pass(program: Program, *, notes: bool) -> tuple[Context, str]:
    """One pass over a program: what it did, and the new text."""
    context = Context(program)
    wrapper = MetadataWrapper(cst.parse_module(program.source.text), unsafe_skip_copy=True)
    module = wrapper.module.visit(_Transformer(context, wrapper, notes=notes))
    return context, imports.added(context, module).code


def _in_lines_of(original: str, text: str, found: list[_Record]) -> list[_Record]:
    """Edits or notes with the lines of the original."""
    lines = _lines_of(original, text) if found else []
    return [each._replace(line=lines[each.line]) for each in found]


def _lines_of(original: str, text: str) -> list[int]:
    """By the number of a line of the text, the number of the line of the original that it comes from."""
    before, after = original.split("\n"), text.split("\n")
    lines = [1] * (len(after) + 2)
    for _, first, last, start, end in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        for line in range(start, end):
            lines[line + 1] = min(first + line - start, max(last - 1, 0)) + 1
    return lines


class _Transformer(cst.CSTTransformer):
    """Applies the rules to each node when its parts are done."""

    def __init__(self, context: Context, wrapper: MetadataWrapper, *, notes: bool) -> None:
        super().__init__()
        self._context = context
        self._notes = notes
        self._positions = wrapper.resolve(PositionProvider)
        self._twins = Twins(context.program.source, self._positions)

    def on_leave(self, original_node: Any, updated_node: Any) -> Any:
        """The new node."""
        twin = self._twins.of(original_node)
        for rule in _RULES.get(type(twin).__name__, ()):
            updated_node = rule(self._context, twin, updated_node) or updated_node
        if isinstance(twin, ast.Call):
            names.foreign(self._context, twin)
        if not hasattr(original_node, "leading_lines"):
            return updated_node
        lines = [updated_node]
        if isinstance(original_node, cst.SimpleStatementLine):
            lines = self._lines(original_node, updated_node)
        line = self._positions[original_node].start.line
        problems = [todo.problem for todo in self._context.todos if todo.line == line and self._notes]
        lines[0] = commented(lines[0], problems)
        return lines[0] if len(lines) == 1 else cst.FlattenSentinel(lines)

    def _lines(self, original: cst.SimpleStatementLine, updated: cst.SimpleStatementLine) -> list[Any]:
        """The lines in the place of one line."""
        twin = self._twins.of(original.body[0]) if len(original.body) == 1 else None
        found = stores.chain(self._context, twin, updated) if isinstance(twin, ast.Assign) else None
        imported = None if found else imports.line(self._context, updated)
        if imported is not None:
            line = self._positions[original].start.line
            self._context.edits.append(Edit(line, "import", "xarrayops.numpy has NumPy's names for every library"))
        return found or imported or [updated]
