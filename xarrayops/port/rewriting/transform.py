"""The edits of one program, from the innermost expressions outwards; comments and formatting stay."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from difflib import SequenceMatcher
from typing import Any, TypeVar

import libcst as cst
from libcst.metadata import MetadataWrapper, PositionProvider

from xarrayops.port.rewriting import calls, foreign, methods, names, returning, stores, xo_names
from xarrayops.port.rewriting.context import Context
from xarrayops.port.rewriting.edits import MARK, Edit, Returned, Rewritten, Todo
from xarrayops.port.rewriting.returned import Refusal, chosen
from xarrayops.port.source import Program
from xarrayops.port.source.files import parsed

_RULES: dict[str, tuple[Any, ...]] = {
    "Assign": (returning.assignment, stores.assign),
    "Attribute": (methods.attribute, names.reference, xo_names.constant),
    "AugAssign": (stores.augment,),
    "Call": (calls.call, methods.method, calls.random_numbers, xo_names.call, foreign.call),
    "Compare": (names.compare,),
    "Expr": (returning.expression, calls.statement),
    "Name": (calls.of_module,),
    "Return": (returning.return_,),
    "Subscript": (methods.subscript, calls.grid),
}
"""The rules by the class of the node; each returns the new node, or None if it does not apply."""

_IN_AST = {name: name for name in _RULES if name != "Compare"} | {"Comparison": "Compare"}
"""The class in ``ast`` by the class in libcst, for the nodes that are edited."""
_Place = tuple[str, int, int, int, int]
_Record = TypeVar("_Record", Edit, Todo)
_MOST_PASSES = 6
"""The maximum number of passes: a pass may enable edits in the next one."""


def rewritten(program: Program, style: str = "numpy", *, return_arguments: bool = False) -> Rewritten:
    """Rewrite a program until another pass edits nothing, and then write the notes."""
    work = _Work(program)
    work.settle()
    for _ in range(_MOST_PASSES if return_arguments else 0):
        if not work.return_arguments():
            break
        work.settle()
    if style == "xo":
        work.is_xo = True
        work.settle()
    return work.finished(return_arguments=return_arguments)


class _Work:
    """A program while it is rewritten, and what was done so far."""

    def __init__(self, program: Program) -> None:
        self.is_xo = False
        """Whether NumPy's names are replaced by ours."""
        self._source = program.source
        self._program = program
        self._edits: list[Edit] = []
        self._todos: list[Todo] = []
        self._returned: list[Returned] = []
        self._excluded: frozenset[str] = frozenset()
        """The functions with a write into an argument that cannot make a new array."""

    def settle(self) -> None:
        """Rewrite until another pass edits nothing."""
        for _ in range(_MOST_PASSES):
            if not self._take(*self._pass()):
                return

    def return_arguments(self) -> bool:
        """Make functions return what they write, with their callers; whether there are any."""
        while True:
            found, _ = chosen(self._program, self._excluded)
            context, text = self._pass(returned=found)
            if not found.keys() & context.kept:
                break
            self._excluded |= context.kept
        self._returned += found.values()
        return bool(found) and self._take(context, text)

    def _take(self, context: Context, text: str) -> bool:
        """Go on with a new text; whether it differs."""
        before = self._program.source.text
        self._edits += _in_lines_of(self._source.text, before, context.edits)
        self._todos += _in_lines_of(self._source.text, before, context.announced)
        if text != before:
            self._program = Program(parsed(self._source.path, text))
        return text != before

    def _pass(
        self, *, notes: bool = False, returned: Mapping[str, Returned] | None = None, refusals: Sequence[Refusal] = ()
    ) -> tuple[Context, str]:
        """One pass over the program: what it did, and the new text."""
        context = Context(self._program, returned or {}, is_xo=self.is_xo)
        for each in refusals:
            context.todo(each.place, each.problem)
        wrapper = MetadataWrapper(cst.parse_module(self._program.source.text), unsafe_skip_copy=True)
        module = wrapper.module.visit(_Transformer(context, wrapper, notes=notes))
        return context, names.with_imports(context, module).code

    def finished(self, *, return_arguments: bool) -> Rewritten:
        """The result, with the notes in its text."""
        refusals = chosen(self._program, self._excluded)[1] if return_arguments else []
        context, text = self._pass(notes=True, refusals=refusals)
        todos = [*self._todos, *_in_lines_of(self._source.text, self._program.source.text, context.todos)]
        source, edits = self._source, tuple(sorted(set(self._edits)))
        return Rewritten(source.path, source.text, text, edits, tuple(sorted(set(todos))), tuple(self._returned))


def _in_lines_of(original: str, text: str, found: list[_Record]) -> list[_Record]:
    """Edits or notes with the lines of the original, which correspond to those of the text."""
    if not found:
        return []
    before, after = original.split("\n"), text.split("\n")
    lines = [1] * (len(after) + 2)
    for _, first, last, start, end in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        for line in range(start, end):
            lines[line + 1] = min(first + line - start, max(last - 1, 0)) + 1
    return [each._replace(line=lines[each.line]) for each in found]


class _Transformer(cst.CSTTransformer):
    """Applies the rules to each node when its parts are done."""

    def __init__(self, context: Context, wrapper: MetadataWrapper, *, notes: bool) -> None:
        super().__init__()
        self._context = context
        self._notes = notes
        self._positions = wrapper.resolve(PositionProvider)
        self._nodes: dict[_Place, ast.AST] = {}
        source = context.program.source
        for node in ast.walk(source.tree):
            if isinstance(node, ast.expr | ast.stmt) and type(node).__name__ in _IN_AST.values():
                self._nodes.setdefault((type(node).__name__, *source.span(node)), node)
        functions = context.names.functions.values() if context.returned else ()
        self._functions = {node.lineno: node for node in functions}

    def _twin(self, node: cst.CSTNode) -> ast.AST | None:
        """The node of ``ast`` at the position of a node with formatting; None for nodes that are not edited."""
        name, position = _IN_AST.get(type(node).__name__), self._positions.get(node)
        if name is None or position is None:
            return None
        start, end = position.start, position.end
        return self._nodes.get((name, start.line, start.column + 1, end.line, end.column + 1))

    def on_leave(self, original_node: Any, updated_node: Any) -> Any:
        """The new node."""
        twin = self._twin(original_node)
        is_compiled = twin is not None and self._context.is_compiled(twin)
        for rule in (foreign.in_compiled,) if is_compiled else _RULES.get(type(twin).__name__, ()):
            updated_node = rule(self._context, twin, updated_node) or updated_node
        if not hasattr(original_node, "leading_lines"):
            return updated_node
        line = self._positions[original_node].start.line
        if isinstance(original_node, cst.FunctionDef) and (defined := self._functions.get(line)) is not None:
            updated_node = returning.function(self._context, defined, updated_node)
        lines = [updated_node]
        if isinstance(original_node, cst.SimpleStatementLine):
            lines = self._lines(original_node, updated_node)
        found = [*self._context.announced, *(self._context.todos if self._notes else ())]
        problems = [todo.problem for todo in found if todo.line == line]
        if not lines:
            return cst.RemoveFromParent()
        lines[0] = _commented(lines[0], problems)
        return lines[0] if len(lines) == 1 else cst.FlattenSentinel(lines)

    def _lines(self, original: cst.SimpleStatementLine, updated: cst.SimpleStatementLine) -> list[Any]:
        """The lines that replace one line."""
        twin = self._twin(original.body[0]) if len(original.body) == 1 else None
        found = stores.chain(self._context, twin, updated) if isinstance(twin, ast.Assign) else None
        if isinstance(twin, ast.Return):
            found = returning.return_of_call(self._context, twin, updated)
        line = self._positions[original].start.line
        imported = None if found else names.imported(self._context, updated, line)
        if imported is not None:
            reason = "xarrayops.numpy has NumPy's names for every library" if imported else "nothing uses it any more"
            self._context.edits.append(Edit(line, "import", reason))
        return found or ([updated] if imported is None else imported)


def _commented(statement: cst.CSTNode, problems: Sequence[str]) -> cst.CSTNode:
    """A statement preceded by a comment for each problem; existing comments are not repeated."""
    leading = list(statement.leading_lines)  # type: ignore[attr-defined]
    known = {line.comment.value for line in leading if line.comment is not None}
    texts = [f"# {MARK}: {problem}" for problem in dict.fromkeys(problems)]
    lines = [cst.EmptyLine(comment=cst.Comment(text)) for text in texts if text not in known]
    return statement.with_changes(leading_lines=[*leading, *lines]) if lines else statement
