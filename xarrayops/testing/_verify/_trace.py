"""The statements of a source file, and the states of variables after each of them while a function runs."""

from __future__ import annotations

import ast
import linecache
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from types import FrameType
from typing import Any

import numpy as np

from xarrayops._system.hooks import hooked
from xarrayops.plugin.arrays import Record
from xarrayops.testing._verify._run import is_of_user
from xarrayops.testing._verify._values import NUMBERS, Value, is_array, leaves, value

MOST_STATES = 20_000
MOST_BYTES = 1 << 30
"""The states and bytes that a trace keeps; later states are left out, and the report says so."""

_COMPOUND = (ast.For, ast.While, ast.If, ast.With, ast.Try, ast.AsyncFor, ast.AsyncWith, ast.Match)
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_WITHOUT_STATEMENTS = frozenset(("<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>", "<module>"))
Key = tuple[str, str, bool, int]
"""The function, the variable, whether it changed through another one, and how many such states it had before."""


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
    assigned: list[str] = []
    read: list[str] = []
    written: list[str] = []
    for each in (inner for part in _own_parts(node) for inner in ast.walk(part)):
        if isinstance(each, ast.Name) and not isinstance(each.ctx, ast.Del):
            if isinstance(each.ctx, ast.Store):
                assigned.append(each.id)
            else:
                read.append(each.id)
        elif isinstance(each, ast.Subscript) and isinstance(each.ctx, ast.Store):
            written.extend(_base(each))
        elif isinstance(each, ast.keyword) and each.arg == "out":
            written.extend(_base(each.value))
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


class State(Record):
    """A variable after a statement: it was bound, or its elements have changed.

    Attributes
    ----------
    function, name, number : str, str, int
        The variable, and how many such states it had before. The name of a result is "return" with its path.
    value : Value
        A copy.
    file, line : str, int
        The statement that made the state.
    through : str
        The variable that was written where this one shares its memory; empty if it was bound or written itself.
    step : int
        The number of the execution of the statement.
    """

    function: str
    name: str
    number: int
    value: Value
    file: str
    line: int
    through: str
    step: int

    @property
    def key(self) -> Key:
        """The key that a state shares with the same state of another run."""
        return self.function, self.name, bool(self.through), self.number


class Operands(Record):
    """The values that a statement read when it ran."""

    statement: Statement
    values: dict[str, Value]


class _Frame:
    def __init__(self) -> None:
        self.pending: Statement | None = None
        self.step = 0
        self.last: dict[str, Any] = {}


class Tracer:
    """Records the states of the variables of the user's functions.

    Parameters
    ----------
    operands_of : int, optional
        The step whose operands are kept in ``operands``.
    names : dict, optional
        The names in the states of functions that have another one.
    """

    def __init__(self, operands_of: int = -1, names: dict[str, str] | None = None) -> None:
        self.states: list[State] = []
        self.operands: Operands | None = None
        self.is_complete = True
        self._operands_of = operands_of
        self._names = names or {}
        self._frames: dict[FrameType, _Frame] = {}
        self._counts: Counter[tuple[str, str, bool]] = Counter()
        self._steps = 0
        self._bytes = 0

    @contextmanager
    def tracing(self) -> Iterator[None]:
        """A context in which states are recorded in this thread."""
        try:
            with hooked(self._call):
                yield
        finally:
            self._frames.clear()

    def _call(self, frame: FrameType, event: str, argument: Any) -> Any:
        code = frame.f_code
        module = frame.f_globals.get("__name__", "")
        if code.co_name in _WITHOUT_STATEMENTS or not is_of_user(code.co_filename, module):
            return None
        found = self._frames[frame] = _Frame()
        parameters = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
        self._bound(frame, found, parameters, code.co_firstlineno)
        return self._event

    def _event(self, frame: FrameType, event: str, argument: Any) -> Any:
        self._step(frame, event, argument)
        return self._event

    def _step(self, frame: FrameType, event: str, argument: Any) -> None:
        found = self._frames[frame]
        if event == "exception":
            found.pending = None
            return
        statement = statements(frame.f_code.co_filename).get(frame.f_lineno) if event == "line" else None
        pending = found.pending
        if pending is not None and (pending is not statement or frame.f_lineno == pending.line):
            self._finish(frame, found, pending)
            found.pending = None
        if event == "return":
            for path, x in leaves(argument):
                if _is_kept(x):
                    self._record(frame, found, f"return{path}", x, frame.f_lineno)
            del self._frames[frame]
        elif statement is not None and found.pending is None:
            found.pending = statement
            found.step = self._steps
            self._steps += 1
            if found.step == self._operands_of:
                scope = {**frame.f_globals, **frame.f_locals}
                values = {name: value(scope[name]) for name in statement.read if _is_kept(scope.get(name))}
                self.operands = Operands(statement, values)

    def _finish(self, frame: FrameType, found: _Frame, statement: Statement) -> None:
        """Record what a statement has bound and written."""
        self._bound(frame, found, statement.assigned, statement.line)
        if not statement.written:
            return
        for name in statement.written:
            if name in statement.targets and name not in statement.assigned and is_array(frame.f_locals.get(name)):
                self._record(frame, found, name, frame.f_locals[name], statement.line)
            else:
                self._changed(frame, found, name, statement, "")
        through = statement.written[0]
        for name, x in list(frame.f_locals.items()):
            if is_array(x) and name not in statement.written and name not in statement.assigned:
                self._changed(frame, found, name, statement, through)

    def _bound(self, frame: FrameType, found: _Frame, names: tuple[str, ...], line: int) -> None:
        for name in names:
            x = frame.f_locals.get(name)
            if _is_kept(x):
                self._record(frame, found, name, x, line)

    def _changed(self, frame: FrameType, found: _Frame, name: str, statement: Statement, through: str) -> None:
        """Record a variable if its elements have changed since its last state."""
        x = frame.f_locals.get(name)
        if not is_array(x) or name in statement.assigned:
            return
        before, now = found.last.get(name), value(x)
        may_be_nan = now.data is not None and now.data.dtype.kind in "fc"
        if before is None or not np.array_equal(before.data, now.data, equal_nan=may_be_nan):
            self._record(frame, found, name, x, statement.line, through)

    def _record(self, frame: FrameType, found: _Frame, name: str, x: Any, line: int, through: str = "") -> None:
        function = self._names.get(frame.f_code.co_name, frame.f_code.co_name)
        number = self._counts[function, name, bool(through)]
        self._counts[function, name, bool(through)] += 1
        if len(self.states) >= MOST_STATES or self._bytes > MOST_BYTES:
            self.is_complete = False
            return
        kept = value(x)
        self._bytes += getattr(kept.data, "nbytes", 0)
        found.last[name] = kept
        self.states.append(State(function, name, number, kept, frame.f_code.co_filename, line, through, found.step))


def _is_kept(x: Any) -> bool:
    return isinstance(x, NUMBERS) or is_array(x)


def source_line(file: str, line: int) -> str:
    """The text of a line, without indentation."""
    return linecache.getline(file, line).strip()
