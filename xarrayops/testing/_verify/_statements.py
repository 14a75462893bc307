"""The statements of a source file by line: what each assigns, and what it reads."""

from __future__ import annotations

import ast
import linecache
from functools import cache
from typing import Any

from xarrayops.plugin.arrays import Record

_COMPOUND = (ast.For, ast.While, ast.If, ast.With, ast.Try, ast.AsyncFor, ast.AsyncWith, ast.Match)
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


class Statement(Record):
    """One statement, or the first line of a compound one.

    Attributes
    ----------
    node : ast.stmt
        The statement.
    line : int
        Its first line.
    assigned : tuple of str
        The variables that it binds.
    written : tuple of str
        The variables whose elements it may write: ``targets``, and variables that a call without an assignment reads.
    targets : tuple of str
        The variables whose elements it writes: with an index, by ``+=``, or as ``out=``.
    read : tuple of str
        The variables that it reads.
    """

    node: Any
    line: int
    assigned: tuple[str, ...]
    written: tuple[str, ...]
    targets: tuple[str, ...]
    read: tuple[str, ...]


@cache
def statements(file: str) -> dict[int, Statement]:
    """The innermost statement of each line of a file; empty if the file cannot be read."""
    linecache.checkcache(file)
    source = "".join(linecache.getlines(file))
    try:
        tree = ast.parse(source)
    except SyntaxError:  # the file may be in another language, such as a template
        return {}
    found: dict[int, Statement] = {}
    for node in ast.walk(tree):  # outer nodes first
        if isinstance(node, ast.stmt) and not isinstance(node, _DEFINITIONS):
            last = node.end_lineno or node.lineno
            if isinstance(node, _COMPOUND):
                body = node.cases[0].pattern if isinstance(node, ast.Match) else node.body[0]
                last = max(node.lineno, body.lineno - 1)
            statement = _statement(node)
            found.update(dict.fromkeys(range(node.lineno, last + 1), statement))
    return found


def _statement(node: ast.stmt) -> Statement:
    parts = _own_parts(node)
    names = [each for part in parts for each in ast.walk(part) if isinstance(each, ast.Name)]
    assigned = [each.id for each in names if isinstance(each.ctx, ast.Store)]
    read = [each.id for each in names if isinstance(each.ctx, ast.Load)]
    written: list[str] = []
    for part in parts:
        for each in ast.walk(part):
            if isinstance(each, ast.Subscript) and isinstance(each.ctx, ast.Store):
                written.extend(_base(each))
            elif isinstance(each, ast.Call):
                written.extend(
                    name for keyword in each.keywords if keyword.arg == "out" for name in _base(keyword.value)
                )
    if isinstance(node, ast.AugAssign):
        written.extend(_base(node.target))
        read.extend(_base(node.target))
    targets = tuple(dict.fromkeys(written))
    if isinstance(node, ast.Expr):
        written.extend(read)
    lists = (assigned, written, targets, read)
    return Statement(node, node.lineno, *(tuple(dict.fromkeys(each)) for each in lists))


def _own_parts(node: ast.stmt) -> list[ast.AST]:
    """The parts that run with the first line of a compound statement; the whole of a simple one."""
    if isinstance(node, (ast.For, ast.AsyncFor)):
        return [node.target, node.iter]
    if isinstance(node, (ast.While, ast.If)):
        return [node.test]
    if isinstance(node, (ast.With, ast.AsyncWith)):
        return list(node.items)
    if isinstance(node, ast.Match):
        return [node.subject]
    return [] if isinstance(node, ast.Try) else [node]


def _base(node: ast.AST) -> list[str]:
    """The variable under indices and attributes."""
    while isinstance(node, (ast.Subscript, ast.Attribute, ast.Starred)):
        node = node.value
    return [node.id] if isinstance(node, ast.Name) else []
