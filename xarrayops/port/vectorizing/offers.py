"""Edits that are offered: each has a proof, or asks what a call of the program must show."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from xarrayops.plugin.arrays import Record
from xarrayops.port.rewriting.context import Context
from xarrayops.port.rewriting.lines import Change, Layout
from xarrayops.port.rewriting.names import imports
from xarrayops.port.source import Program
from xarrayops.port.source.value import ARRAY, UNKNOWN

KIND = "vectorized"
"""The kind of these edits."""


class Offer(Record):
    """New statements for some statements of one block.

    ``asks`` are expressions of Python that must be true whenever the first statement runs: what the analysis does not
    know. Without them the edit is proved to keep the meaning.
    """

    statements: tuple[ast.stmt, ...]
    new: tuple[ast.stmt, ...]
    reason: str
    asks: tuple[str, ...] = ()
    needs_xo: bool = False
    """Whether the new statements use xarrayops itself."""

    @property
    def line(self) -> int:
        """The first line of the statements."""
        return self.statements[0].lineno

    @property
    def last(self) -> int:
        """Their last line."""
        return self.statements[-1].end_lineno or self.line

    def change(self, lines: tuple[str, ...]) -> Change:
        """The new lines, with the comment at the end of the first statement."""
        first, last = self.statements[0], self.statements[-1]
        indent = lines[self.line - 1][: first.col_offset]
        texts = (ast.unparse(ast.fix_missing_locations(each)) for each in self.new)
        new = [(indent + line).rstrip() for text in texts for line in text.split("\n")]
        if first is last and len(new) == 1:
            new[0] += lines[self.last - 1].encode()[last.end_col_offset :].decode()
        return Change(self.line, self.last + 1, tuple(new))


def changes(program: Program, offers: Iterable[Offer]) -> list[Change]:
    """The changes of a program by some edits, with the import that they need."""
    context, found = Context(program, {}, is_xo=False), [*offers]
    if any(each.needs_xo for each in found):
        context.needs.add("xarrayops")
    lines = program.source.lines
    return [*imports(context, Layout(program.source), {}), *(each.change(lines) for each in found)]


class Refused(Record):
    """A place that stays: its line, and why."""

    line: int
    reason: str


def blocks(tree: ast.AST) -> Iterable[list[ast.stmt]]:
    """The blocks of statements of a program."""
    for node in ast.walk(tree):
        for name in ("body", "orelse", "finalbody"):
            block = getattr(node, name, None)
            if isinstance(block, list) and block:
                yield block


def is_alone(context: Context, statement: ast.stmt) -> bool:
    """Whether the lines of a statement have no other one."""
    lines = context.program.source.lines
    before = lines[statement.lineno - 1].encode()[: statement.col_offset]
    after = lines[(statement.end_lineno or 1) - 1].encode()[statement.end_col_offset :].decode().strip()
    return not before.strip() and (not after or after.startswith("#"))


def is_pure(context: Context, node: ast.expr) -> bool:
    """Whether an expression can be evaluated again, or at another time."""
    first, second = context.program.evaluated_once(node)
    return first is second


def may_be_array(context: Context, node: ast.expr) -> bool:
    """Whether a variable of the program, or an attribute of one, is or may be an array."""
    return context.names.resolve(node) is None and context.value(node).kind in (ARRAY, UNKNOWN)


def parsed(text: str) -> ast.expr:
    """The expression of a text."""
    return ast.parse(text, mode="eval").body


def called(name: str, *args: ast.expr, **keywords: ast.expr) -> ast.Call:
    """A call of a function by its dotted name."""
    return ast.Call(parsed(name), [*args], [ast.keyword(key, value) for key, value in keywords.items()])
