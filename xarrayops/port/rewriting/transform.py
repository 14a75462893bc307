"""A program is rewritten in passes, until a pass changes nothing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeVar

from xarrayops.port.annotations import note_on_annotations
from xarrayops.port.rewriting.context import Context
from xarrayops.port.rewriting.edits import Edit, Returned, Rewritten, Todo
from xarrayops.port.rewriting.lines import Change, changed
from xarrayops.port.rewriting.passes import Pass
from xarrayops.port.rewriting.returned import chosen
from xarrayops.port.source import Program
from xarrayops.port.source.files import parsed
from xarrayops.port.source.notebooks import restored
from xarrayops.port.vectorizing import offered
from xarrayops.port.vectorizing.offers import KIND as VECTORIZED, changes

_Record = TypeVar("_Record", Edit, Todo)
_MOST_PASSES = 6
"""The maximum number of passes: a pass may enable edits in the next one."""


def rewritten(
    program: Program,
    style: str = "numpy",
    *,
    return_arguments: bool = False,
    vectorize: bool = False,
    scan: bool = False,
    call: str | None = None,
) -> Rewritten:
    """Rewrite a program until another pass edits nothing, and then write the notes."""
    work = _Work(program)
    if vectorize:
        work.vectorize(call, scan=scan)
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
        self._original = program
        self._source = program.source
        self._program = program
        self._origins = [*range(1, len(program.source.lines) + 1)]
        """The line of the original for each line of the program."""
        self._edits: list[Edit] = []
        self._todos: list[Todo] = []
        self._returned: list[Returned] = []
        self._notes: list[str] = []
        """Which places are not vectorized, and why."""
        self._excluded: frozenset[str] = frozenset()
        """The functions with a write into an argument that cannot make a new array."""

    def vectorize(self, call: str | None, *, scan: bool) -> None:
        """Make the edits of whole arrays that are proved, or that a call confirms."""
        offers, refused = offered(self._program, call, scan=scan)
        self._edits += [Edit(each.line, VECTORIZED, each.reason) for each in offers]
        self._notes += [f"line {each.line} of the original is not vectorized: {each.reason}" for each in refused]
        self._go_on(changes(self._program, offers))

    def settle(self) -> None:
        """Rewrite until another pass edits nothing."""
        for _ in range(_MOST_PASSES):
            self._last = self._pass()
            if not self._take(self._last):
                return
        self._last = self._pass()

    def return_arguments(self) -> bool:
        """Make functions return what they write, with their callers; whether there are any."""
        while True:
            found, _ = chosen(self._program, self._excluded)
            done = self._pass(returned=found)
            if not found.keys() & done.context.kept:
                break
            self._excluded |= done.context.kept
        self._returned += found.values()
        return bool(found) and self._take(done)

    def _pass(self, returned: Mapping[str, Returned] | None = None) -> Pass:
        return Pass(Context(self._program, returned or {}, is_xo=self.is_xo))

    def _take(self, done: Pass) -> bool:
        """Go on with the text of a pass; whether it differs."""
        self._edits += self._in_original(done.context.edits)
        self._todos += self._in_original(done.context.announced)
        if not done.changes:
            return False
        self._go_on(done.changes)
        return True

    def _go_on(self, changes: Iterable[Change]) -> None:
        """Go on with the text after some changes."""
        lines, origins = changed(self._program.source.lines, changes)
        self._origins = [self._origins[line - 1] for line in origins]
        option = self._program.scipy_array_api
        self._program = Program(parsed(self._source.path, "\n".join(lines)), scipy_array_api=option)

    def _in_original(self, found: list[_Record]) -> list[_Record]:
        """Edits or notes with the lines of the original."""
        return [each._replace(line=self._origins[each.line - 1]) for each in found]

    def finished(self, *, return_arguments: bool) -> Rewritten:
        """The result, with the notes in its text."""
        context, source = self._last.context, self._source
        found, context.todos = context.todos, []
        for each in chosen(self._program, self._excluded)[1] if return_arguments else ():
            context.todo(each.place, each.problem)
        context.todos += found
        lines, origins = changed(self._program.source.lines, self._last.layout.comments(context.todos))
        todos = {*self._todos, *self._in_original(context.todos)}
        notes = tuple(sorted(set(self._edits))), tuple(sorted(todos)), tuple(self._returned)
        before = tuple(self._origins[line - 1] for line in origins)
        of_annotations = note_on_annotations(self._original, (each.line for each in todos))
        texts = source.text, "\n".join(lines)
        original, text = map(restored, texts) if source.cells else texts
        return Rewritten(source.path, original, text, *notes, before, (*self._notes, *of_annotations), source.cells)
