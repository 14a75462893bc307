"""One run of a function: its arguments in a library, and its results and changed arguments as NumPy arrays."""

from __future__ import annotations

import copy
import signal
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext, redirect_stdout
from importlib import import_module
from importlib.util import find_spec
from io import StringIO
from typing import Any

import numpy as np

import xarrayops as xo
from xarrayops._core.backends import registry
from xarrayops._ops.transfers.ledger import Ledger, is_of_library
from xarrayops.plugin.arrays import Record
from xarrayops.plugin.nested import fill
from xarrayops.plugin.runs import RunMode
from xarrayops.testing._verify._random import Tape, through
from xarrayops.testing._verify._state import State
from xarrayops.testing._verify._values import (
    NUMBERS,
    Value,
    attributes,
    is_array,
    is_installed,
    leaves,
    opened,
    structure,
    value,
)

WITHOUT_BACKEND = ("array_api_strict",)
"""Libraries without a backend that are used if they are installed."""
_COMPARED = (*NUMBERS, str, bytes, type(None))
"""The classes of arguments that are compared after the call, besides arrays."""


class Setup(Record):
    """A library, and a way to run functions on its arrays."""

    library: Any
    name: str
    mode: RunMode
    is_default: bool = True
    """Whether new arrays belong to the library, by `xarrayops.use`."""

    @property
    def names(self) -> set[str]:
        """The name that selects it: the library, and the way to run."""
        library = self.name.partition(":")[0]
        return {library, f"{library}:{self.mode.label or 'eager'}"}


class Run(Record):
    """The outcome of a run.

    Attributes
    ----------
    results, arguments : dict of Value
        The leaves of the result and of the variables of the module that have changed, and those of the arguments after
        the call, by path.
    shape, arguments_shape : str
        The nesting of the result, and of the arguments after the call.
    error : Exception or None
        What the function raised.
    ledger : Ledger
        The transfers, waits and computations.
    compilations : int
        How often the library compiled something.
    seconds : float
        The time of the call.
    shared : set of str
        On NumPy, the results that may share memory with an argument.
    """

    results: dict[str, Value]
    arguments: dict[str, Value]
    shape: str
    arguments_shape: str
    error: Exception | TimeUp | None
    ledger: Ledger
    compilations: int
    seconds: float
    shared: frozenset[str] = frozenset()


class Call(Record):
    """A function with its arguments on NumPy."""

    function: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: dict[str, Any]

    @property
    def name(self) -> str:
        """The name of the function."""
        return str(getattr(self.function, "__qualname__", repr(self.function)))

    @property
    def code_name(self) -> str:
        """The name of its code, as frames have it."""
        code = getattr(self.function, "__code__", None)
        return "" if code is None else str(code.co_name)


class TimeUp(BaseException):
    """A run takes longer than its limit. Programs that catch every Exception do not catch it."""


@contextmanager
def time_limit(seconds: float | None) -> Iterator[None]:
    """Raise TimeUp in the block after some seconds: in the main thread, where the system has interval timers."""
    if seconds is None or threading.current_thread() is not threading.main_thread() or not hasattr(signal, "setitimer"):
        yield
        return

    def stop(*_: Any) -> None:
        raise TimeUp(f"stopped after {seconds:g} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


NUMPY = Setup("numpy", "numpy", RunMode())


def setups(libraries: Sequence[str] | None) -> list[Setup]:
    """The ways to run on the installed libraries, or only the named ones.

    ``"jax"`` names all ways of JAX, ``"jax:jit"`` one of them, and ``"jax:eager"`` the one without a compiler.
    """
    roots = None if libraries is None else {name.partition(":")[0] for name in libraries}
    statuses = [registry.status(name) for name in registry.names() if roots is None or name in roots]
    found = [
        Setup(status.name, f"{status.name}:{mode.label}".rstrip(":"), mode)
        for status in statuses
        if status.available and status.backend is not None
        for mode in status.backend.functions["run_modes"]()
    ]
    found += [Setup(import_module(name), name, RunMode()) for name in WITHOUT_BACKEND if find_spec(name)]
    if libraries is None:
        return found
    known = {name for each in found for name in each.names}
    unknown = [name for name in libraries if name not in known]
    if unknown:
        reasons = "".join(f" {status.name}: {status.reason}. {status.hint}" for status in statuses if status.reason)
        names = sorted({*registry.names(), *WITHOUT_BACKEND, *known})
        raise ValueError(f"verify cannot run on {', '.join(unknown)}.{reasons} Instead: one of {', '.join(names)}")
    return [each for each in found if not each.names.isdisjoint(libraries)]


def run(
    call: Call,
    setup: Setup,
    draws: AbstractContextManager[None],
    tape: Tape,
    around: AbstractContextManager[Any] | None,
    seconds: float | None,
) -> Run:
    """Run a function in a library, at most for some seconds. What it prints is discarded, and its exceptions are kept.

    ``around`` is open while it runs.
    """
    with ExitStack() as contexts:
        contexts.enter_context(warnings.catch_warnings())
        warnings.simplefilter("ignore")
        contexts.enter_context(np.errstate(all="ignore"))
        contexts.enter_context(setup.mode.context())
        args, kwargs = _placed(call, setup, tape)
        state = State(getattr(call.function, "__globals__", {}))
        contexts.callback(state.restore)
        function = setup.mode.compiled(call.function)
        contexts.enter_context(_defaults(setup, args, kwargs) if setup.is_default else nullcontext())
        contexts.enter_context(draws)
        watch = nullcontext(Ledger()) if setup.mode.traces else xo.profile(show=False)
        compilations = xo.backend(setup.library).functions["compilations"]
        error, result, before, start = None, None, compilations(), time.perf_counter()
        with watch as ledger, around or nullcontext(), redirect_stdout(StringIO()):
            try:
                with time_limit(seconds):
                    result = opened(function(*args, **kwargs))
            except (Exception, TimeUp) as raised:  # whatever the function or the library raises is an outcome
                error = raised
        took = time.perf_counter() - start
        given = opened(dict(enumerate(args)) | kwargs, exhausts=False)
        shapes = structure(result), structure(given)
        found = Run({}, {}, *shapes, error, ledger, compilations() - before, took)
        return _with_values(found, setup, result, given, {} if setup.mode.traces else opened(state.changed()))


def _with_values(run: Run, setup: Setup, result: Any, given: dict[Any, Any], changed: dict[str, Any]) -> Run:
    """The run with the values of its result, of its arguments, and of the variables that it has changed."""
    has_values, error = setup.mode.has_values, run.error
    named = [(f"argument {name}{path}", x) for name, arg in given.items() for path, x in leaves(arg)]
    results: dict[str, Value] = {}
    written: dict[str, Value] = {}
    try:
        if error is None:
            found = [("result", result), *((f"variable {name}", x) for name, x in changed.items())]
            results = {
                f"{name}{path}": value(x, has_values=has_values) for name, each in found for path, x in leaves(each)
            }
        written = {
            path: value(x, has_values=has_values) for path, x in named if is_array(x) or isinstance(x, _COMPARED)
        }
    except Exception as raised:  # lazy results are computed here, and may fail
        error = raised
    memory = [x for _, x in named if isinstance(x, np.ndarray)]
    arrays = [(path, x) for path, x in leaves(result, "result") if isinstance(x, np.ndarray)]
    shared = frozenset(path for path, x in arrays if any(np.may_share_memory(x, each) for each in memory))
    return run._replace(results=results, arguments=written, error=error, shared=shared)


def _placed(call: Call, setup: Setup, tape: Tape) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments in the library, also in objects. One array that is passed twice stays one array."""
    made: dict[int, Any] = {}

    def place(x: Any) -> Any:
        if isinstance(x, np.ndarray):
            if id(x) not in made:
                converted = x.copy() if setup.library == "numpy" else xo.convert(x, setup.library, copy=True)
                made[id(x)] = setup.mode.place(converted)
            return made[id(x)]
        members = attributes(x)
        if members is None:
            return through(tape, x)
        if id(x) not in made:
            made[id(x)] = copy.copy(x)
            for name, each in members.items():
                object.__setattr__(made[id(x)], name, fill(each, place))
        return made[id(x)]

    args, kwargs = fill((call.args, call.kwargs), place)
    return args, kwargs


def _defaults(setup: Setup, args: Any, kwargs: Any) -> AbstractContextManager[Any]:
    """A context in which new arrays belong to the library and the device of the arguments."""
    first = next((x for _, x in leaves((args, kwargs)) if is_array(x) and not isinstance(x, np.generic)), None)
    return xo.use(setup.library if first is None or setup.library == "numpy" else first)


def namespaces(function: Callable[..., Any]) -> list[dict[str, Any]]:
    """The global variables of the user's modules that a function can reach."""
    start = getattr(function, "__globals__", None)
    found: dict[int, dict[str, Any]] = {}
    pending = [start] if isinstance(start, dict) else []
    while pending:
        namespace = pending.pop()
        if id(namespace) not in found:
            found[id(namespace)] = namespace
            pending.extend(_reachable(namespace))
    return list(found.values())


def _reachable(namespace: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for each in list(namespace.values()):
        name = getattr(each, "__name__" if isinstance(each, type(sys)) else "__module__", None)
        module = sys.modules.get(name) if isinstance(name, str) else None
        if module is not None and is_of_user(getattr(module, "__file__", None) or "", module.__name__):
            yield vars(module)


def is_of_user(file: str, module: str) -> bool:
    """Whether a file is part of the user's program."""
    return bool(file) and not is_installed(file) and not is_of_library(module)
