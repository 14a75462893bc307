"""The lines of the statements of a program, and a text in which some of them are replaced."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from xarrayops.plugin.arrays import Record
from xarrayops.port.rewriting.edits import MARK, Todo
from xarrayops.port.source import Source

_CONTINUED = re.compile(r"[;:]\s*\\$")
"""The end of a line whose next statement stands on the following line."""
_OPEN_END = re.compile(r"\s*;?\s*\\")
"""What follows a statement on a line that the next, empty line continues."""
_CLAUSE = re.compile(r"\s*(else|finally|except|case)\b")
"""The start of a line whose statement follows a colon."""
_BODIES = ("body", "orelse", "handlers", "finalbody", "cases")


@dataclass(eq=False)
class Unit:
    """Statements that can be parsed alone: a compound statement, or the statements of one logical line."""

    start: int
    """The first line, with the decorators."""
    last: int
    is_outer: bool
    """Whether the statements are at the level of the module."""
    lead: int = 0
    """The number of empty lines and comments before statements of the module, except for the first of them."""
    statements: list[ast.stmt] = field(default_factory=list)


class Change(Record):
    """New lines instead of those from ``start`` up to ``stop``, which is excluded."""

    start: int
    stop: int
    lines: tuple[str, ...]


class Layout:
    """The lines of one program."""

    def __init__(self, source: Source) -> None:
        self.lines = source.lines
        self.units: dict[ast.stmt, Unit] = {}
        """The smallest unit of each statement."""
        self.places: dict[int, int] = {}
        """The line before which a comment on a statement stands, by the line of the statement."""
        self._divide(source.tree.body, None)

    def _divide(self, body: list[ast.stmt], around: Unit | None) -> None:
        unit, is_outer = around, around is None
        for statement in body:
            start = _start(statement)
            last = self._last(statement)
            is_first, is_elif = self._begins_line(statement, start), self._is_elif(statement)
            if is_first:
                self.places[statement.lineno] = start
            elif unit is around and _CLAUSE.match(self.lines[start - 1]):
                self.places.setdefault(start, start)
            if unit is None or (is_first and not is_elif):
                unit = Unit(start, last, is_outer, start - 1 - unit.last if is_outer and unit else 0)
            if unit is not around:
                unit.statements.append(statement)
                unit.last = last
            self.units[statement] = unit
            for inner in _bodies(statement):
                self._divide(inner, unit)

    def _begins_line(self, statement: ast.stmt, start: int) -> bool:
        """Whether nothing stands before a statement on its line."""
        is_continued = start > 1 and _CONTINUED.search(self.lines[start - 2]) is not None
        before = self.lines[start - 1].encode()[: statement.col_offset]
        return not before.strip() and not is_continued

    def _last(self, statement: ast.stmt) -> int:
        """The last line of a statement, with an empty line that continues it."""
        last = statement.end_lineno or statement.lineno
        rest = self.lines[last - 1].encode()[statement.end_col_offset :].decode()
        return last + 1 if _OPEN_END.fullmatch(rest) and last < len(self.lines) else last

    def _is_elif(self, statement: ast.stmt) -> bool:
        return isinstance(statement, ast.If) and self.lines[statement.lineno - 1].lstrip().startswith("elif")

    def comments(self, found: Iterable[Todo]) -> Iterator[Change]:
        """A comment before each statement with a problem; existing comments are not repeated."""
        by_line: dict[int, dict[str, None]] = {}
        for todo in found:
            by_line.setdefault(todo.line, {})[todo.problem] = None
        for line, problems in by_line.items():
            place = self.places.get(line)
            if place is None:
                continue
            known = set(self._comments_before(place))
            text = self.lines[place - 1]
            indent = text[: len(text) - len(text.lstrip())]
            new = (f"# {MARK}: {problem}" for problem in problems)
            yield Change(place, place, tuple(indent + each for each in new if each not in known))

    def _comments_before(self, line: int) -> Iterator[str]:
        for text in map(str.strip, reversed(self.lines[: line - 1])):
            if text and not text.startswith("#"):
                return
            yield text


def changed(lines: tuple[str, ...], changes: Iterable[Change]) -> tuple[list[str], list[int]]:
    """The lines after some changes, and the line before the changes for each of them."""
    text: list[str] = []
    origins: list[int] = []
    at = 1
    for change in sorted(changes, key=lambda each: each[:2]):
        assert change.start >= at, "changes overlap"
        text += lines[at - 1 : change.start - 1]
        origins += range(at, change.start)
        text += change.lines
        origins += (min(change.start + i, max(change.stop - 1, change.start)) for i in range(len(change.lines)))
        at = change.stop
    return text + list(lines[at - 1 :]), origins + list(range(at, len(lines) + 1))


def _start(statement: ast.stmt) -> int:
    """The first line of a statement, with its decorators."""
    decorators = getattr(statement, "decorator_list", None)
    return decorators[0].lineno if decorators else statement.lineno


def _bodies(statement: ast.stmt) -> Iterator[list[ast.stmt]]:
    """The statements inside a statement, by clause."""
    for name in _BODIES:
        found = getattr(statement, name, None) or []
        if name in ("handlers", "cases"):
            yield from (each.body for each in found)
        else:
            yield found
