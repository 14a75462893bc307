"""The comparison of the runs of a function with a reference, whose spread is measured."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import cached_property
from typing import Any

import numpy as np

import xarrayops as xo
from xarrayops._host.compare import difference, spread_of
from xarrayops.errors import Unsupported, XArrayOpsError
from xarrayops.plugin.nested import fill
from xarrayops.testing._verify import _replay
from xarrayops.testing._verify._random import Tape
from xarrayops.testing._verify._report import Divergence, Outcome, Report, Status
from xarrayops.testing._verify._rounding import rounding
from xarrayops.testing._verify._run import NUMPY, Call, Run, Setup, TimeUp, namespaces, run
from xarrayops.testing._verify._trace import Key, Operands, Tracer
from xarrayops.testing._verify._values import (
    Value,
    class_difference,
    first_line,
    is_array,
    leaves,
    opened,
    structure,
    value,
)

SAMPLES = 5
"""The runs with random rounding."""
SAMPLES_OF_REPLAY = 3
UNSTABLE = 1e-3
"""The relative spread above which a comparison has little meaning."""
MOST_SECONDS = 20.0
"""No further run with random rounding starts after this time."""


class Comparison:
    """The reference with its spread, and the comparison of runs with it."""

    def __init__(
        self,
        function: Callable[..., Any],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        expected: Any,
        seconds: float | None,
    ) -> None:
        self.tape = Tape()
        self.seconds = seconds
        self.notes: list[str] = []
        args, kwargs = fill((args, kwargs), _as_numpy)
        self.port = Call(function, args, kwargs)
        self.has_arrays = any(isinstance(x, np.ndarray) for _, x in leaves(opened((args, kwargs), exhausts=False)))
        self.has_original = callable(expected)
        self.original = Call(expected, args, kwargs) if self.has_original else self.port
        self.namespaces = [*namespaces(function), *namespaces(self.original.function)]
        found = run(self.original, NUMPY, self.tape.replacing(self.namespaces, records=True), self.tape, None, seconds)
        if isinstance(found.error, TimeUp):
            raise TimeoutError(f"verify: the reference was {found.error}. Instead: seconds= with a longer limit")
        if found.error is not None:
            raise found.error
        self.want = found
        if expected is not None and not self.has_original:
            expected = opened(expected)
            results = {f"result{path}": value(x) for path, x in leaves(expected)}
            self.want = found._replace(results=results, shape=structure(expected))
        self._require_values()
        samples = self._samples(self.original)
        self.spread = dict.fromkeys(self.want.results, 0.0)
        for path, exact in {**found.results, **found.arguments}.items():
            if path not in self.want.results or self.want.results[path].shape == exact.shape:
                self.spread[path] = spread_of(exact, [each[path] for each in samples if path in each])
                self._note_unstable(path, exact)

    def _require_values(self) -> None:
        """Raise if the reference has nothing that another run could be compared with."""
        nothing = self.original._replace(function=lambda *_, **__: None)
        before = run(nothing, NUMPY, nullcontext(), Tape(), None, None)
        is_silent = all(each.data is None for each in self.want.results.values()) and self.want.shape == "."
        if (
            is_silent
            and self.want.arguments_shape == before.arguments_shape
            and not any(difference(each, self.want.arguments[path]) for path, each in before.arguments.items())
        ):
            raise ValueError(
                "verify: the reference returns None, and changes no argument and no variable of its module, so nothing "
                "can be compared. Instead: a function that returns what it computes"
            )

    def _run(self, call: Call, setup: Setup, around: AbstractContextManager[Any] | None = None) -> Run:
        """A run with the recorded draws; ``around`` is open while the function runs."""
        return run(call, setup, self.tape.replacing(self.namespaces), self.tape, around, self.seconds)

    def _samples(self, call: Call) -> list[dict[str, Value]]:
        """The results and arguments of runs with random rounding."""
        found: list[dict[str, Value]] = []
        start, error = time.perf_counter(), None
        for seed in range(SAMPLES):
            if time.perf_counter() - start > MOST_SECONDS:
                break
            with rounding(seed, self.namespaces):
                sample = self._run(_with_rounding(call), NUMPY)
            error = error or sample.error
            if sample.error is None:
                found.append({**sample.results, **sample.arguments})
        if not found:
            what = "how much rounding changes the results is not known"
            self.notes.append(f"{what}, because a run with random rounding failed: {error}")
        return found

    def _note_unstable(self, path: str, exact: Value) -> None:
        """Note that rounding changes a result so much that a comparison has little meaning."""
        if exact.is_numeric and exact.data.dtype.kind in "biufc" and exact.data.size:
            with np.errstate(all="ignore"):
                large = np.abs(exact.data.astype(np.complex128)) * max(UNSTABLE, 64 * exact.eps)
                count = int(np.sum(self.spread[path] > large))
            if count:
                self.notes.append(
                    f"{path}: for {count} of {exact.data.size} elements the comparison has little meaning: random "
                    f"rounding changes them by more than a thousandth, or the reference changes in each run"
                )

    def report(self, ways: Sequence[Setup], *, replay: bool, progress: Callable[[str], object]) -> Report:
        """The outcomes of all runs, NumPy's first."""
        first = sorted(ways, key=lambda each: each.name != "numpy")
        outcomes: list[Outcome] = []
        raised: set[str] = set()
        for setup in first:
            library = setup.name.partition(":")[0]
            if setup.mode.traces and library in raised:  # a compiler may take a minute for the same error
                outcomes.append(Outcome(setup.name, "not run", f"it raises on {library} without a compiler"))
                continue
            progress(setup.name)
            outcomes.append(self._outcome(setup, replay=replay))
            if outcomes[-1].status == "raised":
                raised.add(setup.name)
        notes = dict.fromkeys([*self.notes, *(setup.mode.note for setup in first if setup.mode.note)])
        return Report(self.port.name, tuple(outcomes), tuple(notes))

    def _outcome(self, setup: Setup, *, replay: bool) -> Outcome:
        """The outcome with `xarrayops.use`, or the failure without it."""
        found = self._compared(setup, replay=replay)
        if found.status in ("unsupported", "not run") and setup.name == "numpy":  # the reference runs there
            return found._replace(status="raised")
        is_plain = not setup.mode.traces and isinstance(setup.library, str) and setup.library != "numpy"
        if found.status != "same" or not is_plain or not self.has_arrays:
            return found
        alone = self._compared(setup._replace(is_default=False), replay=replay)
        if alone.status in ("same", "not run"):
            return found
        status: Status = "different" if alone.status == "different" else "raised"
        return alone._replace(status=status, what=f"without xo.use: {alone.what}")

    def _compared(self, setup: Setup, *, replay: bool) -> Outcome:
        try:
            got = self._run(self.port, setup)
        except XArrayOpsError as gap:  # the library cannot hold the arguments
            return Outcome(setup.name, "unsupported", first_line(gap))
        ledger = got.ledger
        numbers = (got.seconds, ledger.transfers, ledger.waits, ledger.computes, got.compilations)
        if got.error is not None:
            status: Status = "raised"
            if setup.mode.traces or not isinstance(setup.library, str):  # some functions cannot run this way
                status = "not run"
            if isinstance(got.error, TimeUp):
                status = "not run"
            if isinstance(got.error, Unsupported):
                status = "unsupported"
            found = self._replayed(setup, "") if status == "raised" and replay else None
            if status == "raised" and found is None and isinstance(got.error, Exception):
                found = _replay.of_error(got.error)
            return Outcome(setup.name, status, first_line(got.error), found, *numbers)
        what = self._difference(got, setup)
        if not what and not setup.mode.traces:
            what = self.tape.difference
        if not what:
            left = _left(got, setup)
            status = "different" if left and setup.mode.has_devices else "same"
            return Outcome(setup.name, status, left, None, *numbers, setup.mode.has_values)
        mismatch = self.tape.mismatch
        found = None
        if mismatch is not None:
            text = what.partition(": ")[2]
            found = _replay.divergence(mismatch, "return", "random stream", mismatch.why, text)
        elif replay and not setup.mode.traces:
            found = self._replayed(setup, what)
        return Outcome(setup.name, "different", what, found, *numbers)

    def _difference(self, got: Run, setup: Setup) -> str:
        """What differs; empty if nothing does."""
        is_eager = not setup.mode.traces
        if got.shape != self.want.shape:
            return f"the result is nested as {got.shape}, the reference's as {self.want.shape}"
        if is_eager and got.arguments_shape != self.want.arguments_shape:
            return f"the arguments after the call are nested as {got.arguments_shape}, not {self.want.arguments_shape}"
        wanted = {path: each for path, each in self.want.results.items() if is_eager or path.startswith("result")}
        if is_eager:  # arrays that cannot be written keep their values
            is_fixed = xo.backend(setup.library).immutable
            wanted |= {path: x for path, x in self.want.arguments.items() if not (x.library and is_fixed)}
        found = got.results | got.arguments
        for path, want in wanted.items():
            place = f"{path} after the call" if path in self.want.arguments else path
            if path not in found:
                return f"{place}: the run has no such value"
            classes = class_difference(want, found[path]) if is_eager or not want.is_numeric else ""
            different = classes or difference(want, found[path], self.spread.get(path, 0.0))
            if different is not None:
                return f"{place}: {different if isinstance(different, str) else different.text}"
        for path in sorted(got.shared - self.want.shared if setup.name == "numpy" else ()):
            return f"{path} shares the memory of an argument, and the reference's does not"
        return ""

    @_replay.defined_values()
    def _replayed(self, setup: Setup, what: str) -> Divergence | None:
        """The first line that differs in a run of the port, if a replay finds one."""
        traced = Tracer()
        reference, got = self._reference_states, self._run(self.port, setup, traced.tracing())

        def operands(step: int) -> Operands | None:
            again = Tracer(step)
            self._run(self.port, setup, again.tracing())
            return again.operands

        argument = self._argument(what)
        found = _replay.first_divergence(reference, traced.states, operands, argument, is_whole=got.error is None)
        if found is None and not traced.is_complete:
            self.notes.append(f"the replay on {setup.name} ended before the difference: it has too many states")
        return found

    def _argument(self, what: str) -> str:
        """The name of the argument that a difference is about; empty if it is about a result."""
        found = re.match(r"argument (\w+)", what)
        if found is None:
            return ""
        names = getattr(getattr(self.port.function, "__code__", None), "co_varnames", ())
        return str(names[int(found[1])]) if found[1].isdigit() and int(found[1]) < len(names) else found[1]

    @cached_property
    def _reference_states(self) -> _replay.Reference:
        names = {self.original.code_name: self.port.code_name}
        traced = Tracer(names=names)
        self._run(self.original, NUMPY, traced.tracing())
        samples: list[dict[Key, Value]] = []
        for seed in range(SAMPLES_OF_REPLAY):
            sample = Tracer(names=names)
            with rounding(seed, self.namespaces):
                self._run(_with_rounding(self.original), NUMPY, sample.tracing())
            samples.append({state.key: state.value for state in sample.states})
        return _replay.Reference(traced.states, samples)


def _as_numpy(x: Any) -> Any:
    """An argument that is an array of another library, as a NumPy array."""
    return xo.convert(x, "numpy") if is_array(x) and not isinstance(x, (np.ndarray, np.generic)) else x


def _left(got: Run, setup: Setup) -> str:
    """Where values left the library in which the function ran, to results or to NumPy; empty if nowhere."""
    own = xo.backend(setup.library).name
    returned = {path: each for path, each in got.results.items() if not path.startswith("variable ")}
    arrays = {path: each.library for path, each in returned.items() if each.library not in ("", own)}
    found = [f"{path} is an array of {library}" for path, library in arrays.items()]
    if got.ledger.transfers or got.ledger.waits:  # without any, a scalar was computed from numbers
        scalars = [path for path, each in returned.items() if each.dtype and not each.library]
        found += [f"{path} is a scalar of numpy" for path in scalars]
    devices = {each.device for each in got.arguments.values()} - {""}
    placed = {path: each.device for path, each in got.results.items() if each.device}
    found += [
        f"{path} is on the device {device}" for path, device in placed.items() if devices and device not in devices
    ]
    read = [str(each) for each in got.ledger.crossings if each.what in setup.mode.host_calls]
    return "; ".join([*found, *(f"{each} raises for a tensor on a GPU" for each in read)])


def _with_rounding(call: Call) -> Call:
    """The call on arrays that round at random."""
    round_ = lambda x: np.asarray(x) if isinstance(x, np.ndarray) else x
    return Call(call.function, *fill((call.args, call.kwargs), round_))
