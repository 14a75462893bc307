"""The edits of one program, from the innermost expressions outwards; comments and formatting stay."""

from __future__ import annotations

import ast
from collections import defaultdict
from typing import Any

import libcst as cst
from libcst.metadata import MetadataWrapper, PositionProvider

from xarrayops.port.rewrite import calls, imports, methods, names, random_numbers, stores
from xarrayops.port.rewrite.context import Context
from xarrayops.port.rewrite.edits import Rewritten
from xarrayops.port.rewrite.matching import Twins
from xarrayops.port.rewrite.todo import commented
from xarrayops.port.source import Program

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


def rewritten(program: Program) -> Rewritten:
    """Rewrite a program."""
    context = Context(program)
    wrapper = MetadataWrapper(cst.parse_module(program.source.text), unsafe_skip_copy=True)
    module = wrapper.module.visit(_Transformer(context, wrapper))
    text = imports.added(context, module).code
    edits = sorted(dict.fromkeys(context.edits))
    return Rewritten(program.source.path, program.source.text, text, tuple(edits), tuple(sorted(set(context.todos))))


class _Transformer(cst.CSTTransformer):
    """Applies the rules to each node when its parts are done."""

    def __init__(self, context: Context, wrapper: MetadataWrapper) -> None:
        super().__init__()
        self._context = context
        self._positions = wrapper.resolve(PositionProvider)
        self._twins = Twins(context.program.source, self._positions)
        self._done: defaultdict[int, bool] = defaultdict(bool)

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
        problems = [todo.problem for todo in self._context.todos if todo.line == line]
        lines[0] = commented(lines[0], problems)
        return lines[0] if len(lines) == 1 else cst.FlattenSentinel(lines)

    def _lines(self, original: cst.SimpleStatementLine, updated: cst.SimpleStatementLine) -> list[Any]:
        """The lines in the place of one line."""
        twin = self._twins.of(original.body[0]) if len(original.body) == 1 else None
        found = stores.chain(self._context, twin, updated) if isinstance(twin, ast.Assign) else None
        return found or imports.line(self._context, updated) or [updated]
