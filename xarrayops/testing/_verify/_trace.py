"""The states of the variables of the user's functions, line by line, while a function runs."""

from __future__ import annotations

import linecache
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

import numpy as np

from xarrayops.plugin.arrays import Record
from xarrayops.testing._verify._statements import Statement, statements
from xarrayops.testing._verify._values import NUMBERS, Value, is_array, leaves, value

MOST_STATES = 20_000
MOST_BYTES = 1 << 30
"""The states and bytes that a trace keeps; later states are left out, and the report says so."""

_WITHOUT_STATEMENTS = frozenset(("<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>", "<module>"))
Key = tuple[str, str, bool, int]
"""The function, the variable, whether it changed through another one, and how many such states it had before."""


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
    """Records the states of the variables of functions in some files.

    Parameters
    ----------
    is_traced : callable
        ``is_traced(file, module)`` says whether the functions of a file are the user's.
    operands_of : int, optional
        The step whose operands are kept in ``operands``.
    names : dict, optional
        The names in the states of functions that have another one.
    """

    def __init__(
        self, is_traced: Callable[[str, str], bool], operands_of: int = -1, names: dict[str, str] | None = None
    ) -> None:
        self.states: list[State] = []
        self.operands: Operands | None = None
        self.is_complete = True
        self._is_traced = is_traced
        self._operands_of = operands_of
        self._names = names or {}
        self._frames: dict[FrameType, _Frame] = {}
        self._counts: Counter[tuple[str, str, bool]] = Counter()
        self._steps = 0
        self._bytes = 0

    @contextmanager
    def tracing(self) -> Iterator[None]:
        """A context in which states are recorded in this thread."""
        before = sys.gettrace()
        sys.settrace(self._call)
        try:
            yield
        finally:
            sys.settrace(before)
            self._frames.clear()

    def _call(self, frame: FrameType, event: str, argument: Any) -> Any:
        code = frame.f_code
        if code.co_name in _WITHOUT_STATEMENTS or not self._is_traced(
            code.co_filename, frame.f_globals.get("__name__", "")
        ):
            return None
        found = self._frames[frame] = _Frame()
        parameters = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
        self._without_tracing(self._bound, frame, found, parameters, code.co_firstlineno)
        return self._event

    def _event(self, frame: FrameType, event: str, argument: Any) -> Any:
        self._without_tracing(self._step, frame, event, argument)
        return self._event

    def _without_tracing(self, function: Callable[..., None], *args: Any) -> None:
        """Call a function that itself uses the libraries."""
        tracer = sys.gettrace()
        sys.settrace(None)
        try:
            function(*args)
        finally:
            sys.settrace(tracer)

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
        if (
            before is None
            or before.shape != now.shape
            or not np.array_equal(before.data, now.data, equal_nan=_nan(now))
        ):
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


def _nan(x: Value) -> bool:
    return x.data is not None and x.data.dtype.kind in "fc"


def source_line(file: str, line: int) -> str:
    """The text of a line, without indentation."""
    return linecache.getline(file, line).strip()
