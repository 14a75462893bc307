# Long: one class: the states of a signature and the transitions between them.
"""The programs of one compiled function: one for each signature, made and checked at its first call."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Hashable, Iterator
from copy import copy
from threading import RLock
from time import perf_counter
from typing import Any

from xarrayops._core.backends import find
from xarrayops._core.backends.registry import Backend
from xarrayops._core.modes import defaults, settings as scoped
from xarrayops._ops import agreement
from xarrayops._ops.choices import compilations
from xarrayops._ops.compilation.captured import Captured
from xarrayops._ops.compilation.compilers import Compiler, compiler_for, reason_of, untraceable
from xarrayops._ops.compilation.ledger import Choice, Entry, When
from xarrayops._ops.compilation.signature import Signature, all_plain, library_of_class
from xarrayops._ops.compilation.tokens import NotConstant
from xarrayops._ops.transformations.arguments import arrays_of, library_of
from xarrayops.errors import Unsupported, XArrayOpsError
from xarrayops.plugin.arrays import Array, Record

Program = Callable[..., Any]


def EAGER(*args: Any) -> Any:  # noqa: N802 - a constant: it stands for the function itself
    """Marks a signature whose calls run eagerly."""
    raise AssertionError("the function itself runs")


class Options(Record):
    """The options of `jit`."""

    engine: str | None
    when: When
    check: bool
    limit: int
    dynamic: tuple[str, ...]
    static: tuple[str, ...]


class _State:
    """The state of one signature."""

    def __init__(self, compiler: Compiler, choice: Choice, described: dict[str, str], reason: str) -> None:
        self.compiler = compiler
        self.choice = choice
        self.described = described
        self.reason = reason
        self.program: Program | None = None
        """The function that serves the calls, once timing is finished."""
        self.compiled: Program | None = None
        self.error: XArrayOpsError | None = None
        self.forms: list[Any] = []
        """The form of the latest call, if the program reads it."""
        self.calls = 0
        """The number of calls since then; with several threads, some may not be counted."""


class Programs:
    """Finds and makes the programs of a function. See `jit` for the options."""

    def __init__(self, call: str, function: Callable[..., Any], options: Options) -> None:
        self._call = call
        self._function = function
        self._options = options
        self.engine = options.engine
        self._signature = Signature(call, function, options.static, options.dynamic)
        self._captured = Captured(function)
        self._states: dict[Hashable, _State] = {}
        self._transformed: dict[Hashable, Program] = {}
        self._compiling = RLock()
        self._last_compilation_s: float | None = None
        self._has_warned = False

    def caller(self) -> Callable[..., Any]:
        """The function that users call: a fast look-up of the programs of settled signatures."""
        function, first_call, key_of, states = self._function, self.first_call, self._key, self._states
        signature_of, captured, eager = self._signature.of, self._captured, self._eager
        failed_later = self._failed_later
        recent: tuple[list[Hashable], _State | None] = ([], None)

        def jitted(*args: Any, **kwargs: Any) -> Any:
            nonlocal recent
            parts, arrays = signature_of(args, kwargs)
            reads, version = captured.latest
            for read, value in reads:
                if read() is not value:
                    try:
                        state = states.get(key_of(parts, arrays))
                    except NotConstant:
                        state = None
                    break
            else:  # like `_key`, but faster
                parts += version, defaults.changes, scoped.keys_here() if scoped.blocks_here() else ()
                latest, state = recent
                if state is None or parts != latest:  # faster than hashing shapes
                    state = states.get(tuple(parts))
                    recent = parts, state
            if state is None:
                return first_call(args, kwargs)
            program = state.program
            if program is None:
                waits = state.error is None and not state.choice.compiles
                return eager(state, args, kwargs) if waits else first_call(args, kwargs)
            state.calls += 1
            if program is EAGER:
                return function(*args, **kwargs)
            try:
                return program(*arrays)
            except Exception as error:
                return failed_later(state, error, args, kwargs)

        return jitted

    def _key(self, parts: list[Hashable], arrays: list[Array]) -> Hashable:
        """Raises `NotConstant` for a variable that cannot be compared."""
        engine = self._options.engine
        own = library_of_class(type(arrays[0])) if arrays else None
        version = self._captured.version(own if engine is None else find.named(engine))
        parts += version, defaults.changes, scoped.keys_here() if scoped.blocks_here() else ()
        return tuple(parts)

    def first_call(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """A call of an unsettled signature: eager, compiling, or timed."""
        parts, arrays = self._signature.of(args, kwargs)
        own = library_of("jit", arrays)
        if own is None:  # without arrays there is nothing to compile
            return self._function(*args, **kwargs)
        if own.functions["is_transformed"]() or not all_plain(arrays):
            return self._inside_transformation(own, parts, args, kwargs, arrays)
        try:
            key = self._key([*parts], arrays)
        except NotConstant as error:
            unknown = self._state((*parts, str(error)), own, args, kwargs, str(error))
            return self._function(*args, **kwargs) if unknown is None else self._eager(unknown, args, kwargs)
        with self._compiling:
            found = self._states.get(key) or self._state(key, own, args, kwargs)
            if found is None:
                return self._function(*args, **kwargs)
            state = found
            if state.error is not None:
                raise copy(state.error).with_traceback(None) from state.error.__cause__
            if state.compiled is None and state.choice.compiles:
                return self._compiled(state, args, kwargs, arrays)
        if not state.choice.compiles or state.compiled is None:
            return self._eager(state, args, kwargs)
        if state.forms:
            state.forms[:] = [self._signature.form(args, kwargs)]
        try:
            if state.choice.is_timed:
                return self._timed(state, arrays)
            state.calls += 1
            return state.compiled(*arrays)
        except Exception as error:
            return self._failed_later(state, error, args, kwargs)

    def _state(
        self, key: Hashable, own: Backend, args: tuple[Any, ...], kwargs: dict[str, Any], reason: str = ""
    ) -> _State | None:
        """The state of a new signature, or of one whose variables cannot be compared; None beyond the cache limit."""
        if key in self._states:
            return self._states[key]
        compiler = compiler_for(own, self._options.engine, (args, kwargs), is_required=self._options.when == "now")
        when = self._options.when if compiler.refusal is None else "never"
        reason = reason or compiler.refusal or ""
        count = sum(state.compiled is not None for state in self._states.values())
        if not reason and when != "never" and count >= self._options.limit:
            reason = f"{count} signatures are compiled, which is the limit"
            self._warn(reason)
        if len(self._states) >= self._options.limit + KEPT:
            return None
        described = self._signature.described(args, kwargs) | self._captured.current
        why = reason or self._changes(described)
        choice = Choice("never" if reason else when, self._expected_s(compiler.engine))
        self._states[key] = _State(compiler, choice, described, why)
        return self._states[key]

    def _expected_s(self, engine: Backend | None) -> float:
        """The seconds that a compilation is expected to take."""
        if engine is None:
            return 0.0
        return self._last_compilation_s or compilations.expected_s(engine.name) or engine.compilation_seconds

    def _changes(self, described: dict[str, str]) -> str:
        """How a signature differs from the previous one."""
        if not self._states:
            return ""
        before = next(reversed(self._states.values())).described
        names = dict.fromkeys((*before, *described))
        changes = [
            f"{name} {before.get(name, 'not given')} -> {described.get(name, 'not given')}"
            for name in names
            if before.get(name) != described.get(name)
        ]
        return "; ".join(changes) or "modes or constants changed"

    def _warn(self, reason: str) -> None:
        if not self._has_warned:
            self._has_warned = True
            message = f"{self._call}: {reason}; further ones run eagerly. The ledger shows what changed."
            warnings.warn(message, RuntimeWarning, stacklevel=5)

    def _eager(self, state: _State, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """A call of the function itself, timed if the policy needs it."""
        start = perf_counter()
        result = self._function(*args, **kwargs)
        _wait(result)
        state.choice.ran_eagerly(perf_counter() - start)
        if not state.choice.may_compile and state.choice.eager_calls >= 3:
            state.program = EAGER
        return result

    def _timed(self, state: _State, arrays: list[Array]) -> Any:
        assert state.compiled is not None, "only compiled calls are timed"
        start = perf_counter()
        result = state.compiled(*arrays)
        _wait(result)
        state.choice.ran_compiled(perf_counter() - start)
        if not state.choice.is_timed and not (state.forms and state.choice.compiles):
            state.program = state.compiled if state.choice.compiles else EAGER
            if state.program is EAGER:
                state.reason = "compiled calls are not faster"
        return result

    def _inside_transformation(
        self, own: Backend, parts: list[Hashable], args: tuple[Any, ...], kwargs: dict[str, Any], arrays: list[Array]
    ) -> Any:
        """The function as part of a trace of the library: compiled code if the library allows it there."""
        compiler = compiler_for(own, None, (args, kwargs), is_required=False)
        if compiler.engine is None or self._options.when == "never" or self._options.engine not in (None, own.name):
            return self._function(*args, **kwargs)
        try:
            key = self._key(parts, arrays)
        except NotConstant:
            return self._function(*args, **kwargs)
        if key not in self._transformed:
            if len(self._transformed) >= KEPT:  # cached entries may keep tracers alive
                self._transformed.clear()
            forms = [self._signature.form(args, kwargs)]
            self._transformed[key] = compiler.program(self._function, self._signature, forms)
        return self._transformed[key](*arrays)

    def _compiled(self, state: _State, args: tuple[Any, ...], kwargs: dict[str, Any], arrays: list[Array]) -> Any:
        """The first compiled call of a signature, compared with an eager one."""
        try:
            want = self._eagerly_twice(state, args, kwargs) if self._options.check else _NOTHING
            start = perf_counter()
            forms = [self._signature.form(args, kwargs)]
            program = state.compiler.program(self._function, self._signature, forms)
            try:
                got = program(*arrays)
                _wait(got)
            except Exception as error:
                if want is _NOTHING:  # an error of the function itself comes first
                    self._function(*args, **kwargs)
                raise untraceable(self._call, state.compiler.name, error, self._function) from error
            seconds = perf_counter() - start
            if want is not _NOTHING and want is not _RANDOM:
                text = agreement.difference(want, got, self._run, (args, kwargs))
                if text is not None:
                    fix = "Instead: check=False, if rounding explains the difference"
                    raise XArrayOpsError(f"{self._call}: compiled by {state.compiler.name}, {text}. {fix}")
        except XArrayOpsError as error:
            return self._failed(state, error, args, kwargs)
        state.choice.compiled(seconds)
        if state.compiler.engine is not None:
            compilations.record(state.compiler.engine.name, seconds)
        state.compiled, self._last_compilation_s = getattr(program, "direct", program), seconds
        state.forms = forms if self._signature.has_objects(forms[0]) else []
        return got

    def _failed_later(self, state: _State, error: Exception, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The result of the function itself if a program that worked before fails, for example for unusual strides."""
        result = self._function(*args, **kwargs)  # an error of the function itself comes first
        state.reason = f"a later call failed: {reason_of(error)}"
        state.program = EAGER
        state.choice.give_up()
        return result

    def _failed(self, state: _State, error: XArrayOpsError, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Raise, or stay eager if compilation is optional."""
        state.reason = str(error).removeprefix(f"{self._call}: ")
        if self._options.when == "now":
            state.error = error
            raise error
        state.choice.give_up()
        return self._eager(state, args, kwargs)

    def _eagerly_twice(self, state: _State, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The eager results on copies of the arguments. Raises for functions that cannot be compiled correctly."""
        given = agreement.copied((args, kwargs))
        with agreement.draws_watched() as used:
            want = self._run(given)
            _wait(want)
        if used.foreign_to(state.compiler.engine):
            raise Unsupported(
                f"{self._call}: it draws from the global generator of {used.names()}, and the numbers would be "
                f"constants of the compiled code. Instead: xo.random with a key as an argument"
            )
        written = agreement.first_written(self._signature.named(args, kwargs), self._signature.named(*given))
        if written is not None:
            raise Unsupported(
                f"{self._call}: it writes to {written}, but compiled functions must not write to arguments. Instead: "
                f"return the new array, as xo.at does"
            )
        del given  # the memory of large arguments
        again = agreement.copied((args, kwargs))
        with agreement.draws_watched():
            start = perf_counter()
            second = self._run(again)
            _wait(second)
            state.choice.timed_eagerly(perf_counter() - start)
        if used.is_any:
            return _RANDOM
        changed = agreement.difference(want, second)
        if changed is not None:
            raise Unsupported(
                f"{self._call}: two calls with the same arguments differ: {changed}. It depends on state that "
                f"compiled code would not see. Instead: pass the state as an argument"
            )
        return want

    def _run(self, given: Any) -> Any:
        """The result of the function itself for positional and named arguments."""
        return self._function(*given[0], **given[1])

    def entries(self) -> Iterator[Entry]:
        """The ledger, without the signatures of transformations."""
        for state in list(self._states.values()):
            choice = state.choice
            served_eagerly = state.program is EAGER
            yield Entry(
                ", ".join(f"{name}={text}" for name, text in state.described.items()),
                "" if state.compiler.engine is None else state.compiler.engine.name,
                choice.compilation_s,
                choice.eager_s,
                choice.compiled_s,
                choice.eager_calls + (state.calls if served_eagerly else 0),
                choice.timed_calls + (choice.compilation_s is not None) + (0 if served_eagerly else state.calls),
                state.reason,
            )


KEPT = 32
"""The number of signatures that are cached in addition to the compiled ones."""
_NOTHING = object()
_RANDOM = object()


def _wait(result: Any) -> None:
    """Wait for the values of a result."""
    for x in arrays_of(result):
        functions = find.of(x).functions
        if not functions["is_lazy"](x):
            functions["synchronize"](x)
