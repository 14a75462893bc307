"""Replay: run a function again, line by line, and find the first line that leaves the error budget."""

from __future__ import annotations

import ast
import traceback
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest import mock

import numpy as np

import xarrayops as xo
import xarrayops.numpy as xnp
from xarrayops._host.compare import Difference, difference, spread_of
from xarrayops.plugin.arrays import Record
from xarrayops.testing._verify._kinds import Scene, kind_of
from xarrayops.testing._verify._random import Mismatch
from xarrayops.testing._verify._report import Divergence, Kind
from xarrayops.testing._verify._run import is_of_user
from xarrayops.testing._verify._trace import Key, Operands, State, source_line, statements
from xarrayops.testing._verify._values import Value

_RAISED: dict[type[Exception], Kind] = {IndexError: "out of bounds", OverflowError: "cast"}


class Reference(Record):
    """The states of the reference, and of its runs with random rounding."""

    states: list[State]
    samples: list[dict[Key, Value]]

    def spread(self, state: State) -> Any:
        """The spread of the samples of a state."""
        found = [sample[state.key] for sample in self.samples if state.key in sample]
        return spread_of(state.value, found)


class _Found(Record):
    state: State
    want: State
    difference: Difference


@contextmanager
def defined_values() -> Iterator[None]:
    """A context in which new arrays of ``empty`` are zeros, so that the elements not yet written can be compared."""
    with ExitStack() as patches:
        for module in (np, xo, xnp):
            for name in ("empty", "empty_like"):
                zeros = getattr(module, name.replace("empty", "zeros"))
                patches.enter_context(mock.patch.object(module, name, zeros))
        yield


def of_error(error: Exception) -> Divergence:
    """The user's line that raised."""
    text = f"{type(error).__name__}: {error}"
    kind: Kind = next((kind for cls, kind in _RAISED.items() if isinstance(error, cls)), "error")
    frames = [
        (frame.f_code, line)
        for frame, line in traceback.walk_tb(error.__traceback__)
        if is_of_user(frame.f_code.co_filename, frame.f_globals.get("__name__", ""))
    ]
    if not frames:
        return Divergence("", 0, "", "", "return", kind, "the call raises", text)
    code, line = frames[-1]
    source = source_line(code.co_filename, line)
    return Divergence(code.co_filename, line, code.co_name, source, "return", kind, "the line raises", text)


def first_divergence(
    reference: Reference,
    states: Sequence[State],
    operands: Callable[[int], Operands | None],
    argument: str = "",
    *,
    is_whole: bool = True,
) -> Divergence | None:
    """The first line of a run that differs from the reference, and its kind; None if no variable differs.

    ``operands(step)`` runs again, and returns what the statement of a step reads. ``argument`` is the name of the
    argument that differs after the call; empty if a result differs. ``is_whole`` is False for a run that raised.
    """
    pairs = _aligned(reference.states, states, is_whole=is_whole)
    found = _first_value(reference, pairs)
    drift = _first_dtype(pairs) if is_whole else None
    alias = _first_alias(reference, states, found) if is_whole else None
    if alias is not None:
        return alias
    if drift is not None and (found is None or _place(states, drift.state) <= _place(states, found.state)):
        found = drift
    if found is None:
        return None
    found = _before_return(found, reference.states, states)
    state = found.state
    terms = sum(each.function == state.function and each.name == state.name for each in states)
    kind: Kind = "bug"
    why = "the operands are not known"
    read = operands(state.step)
    written = read is not None and argument in read.statement.targets
    if found.difference.what == "dtype":
        kind, why = "dtype", "the dtype differs from this line on"
    elif written and not any(each.name == argument and each.number for each in reference.states):
        kind, why = "alias", f"the line writes other values into the argument {argument} than the reference"
    elif read is not None:
        want, spread = found.want.value, reference.spread(found.want)
        scene = Scene(want, state.value, spread, found.difference, read.statement, read.values, terms)
        kind, why = kind_of(scene)
    return divergence(state, state.name, kind, why, found.difference.text)


def _before_return(found: _Found, wanted: Sequence[State], states: Sequence[State]) -> _Found:
    """For a result that is a variable of the run alone: the last line that bound it."""
    statement = statements(found.state.file).get(found.state.line)
    if found.state.name != "return" or statement is None or not isinstance(statement.node.value, ast.Name):
        return found
    variable = found.state.function, statement.node.value.id
    if any((each.function, each.name) == variable for each in wanted):
        return found
    before = states[: _place(states, found.state)]
    bound = [each for each in before if (each.function, each.name) == variable]
    return found._replace(state=bound[-1]) if bound else found


def divergence(place: State | Mismatch, variable: str, kind: Kind, why: str, text: str) -> Divergence:
    """A difference in a line."""
    source = source_line(place.file, place.line)
    return Divergence(place.file, place.line, place.function, source, variable, kind, why, text)


def _aligned(wanted: Sequence[State], states: Sequence[State], *, is_whole: bool) -> list[tuple[State, State]]:
    """Pairs of states of the run and the reference, by function, variable and number.

    Where the numbers of states of a variable differ, as where a loop became one call, a state of the run belongs to the
    next equal one of the reference, and the last state to the last one.
    """
    known_of, found_of = _by_name(wanted), _by_name(states)
    aligned: dict[int, State] = {}
    for name, found in found_of.items():
        known, start = known_of.get(name, []), 0
        differs = len(found) > len(known) or (is_whole and len(found) < len(known))
        for state in found:
            at = start
            if differs:
                equal = (i for i in range(at, len(known)) if difference(known[i].value, state.value) is None)
                at = next(equal, len(known) - 1 if state is found[-1] else len(known))
            if 0 <= at < len(known):
                aligned[id(state)], start = known[at], at + 1
    return [(state, aligned[id(state)]) for state in states if id(state) in aligned]


def _by_name(states: Sequence[State]) -> dict[tuple[str, str, bool], list[State]]:
    found: dict[tuple[str, str, bool], list[State]] = defaultdict(list)
    for state in states:
        found[state.key[:3]].append(state)
    return found


def _first_value(reference: Reference, pairs: Sequence[tuple[State, State]]) -> _Found | None:
    for state, want in pairs:
        found = difference(want.value, state.value, reference.spread(want), strict_dtype=False)
        if found is not None:
            return _Found(state, want, found)
    return None


def _first_dtype(pairs: Sequence[tuple[State, State]]) -> _Found | None:
    """The first state of a floating-point variable that has another dtype, or of any variable if there is none."""
    found = [
        _Found(
            state, want, Difference("dtype", f"dtype {state.value.dtype} where the reference has {want.value.dtype}")
        )
        for state, want in pairs
        if want.value.dtype and state.value.dtype and want.value.dtype != state.value.dtype
    ]
    floating = [each for each in found if "float" in each.want.value.dtype or "complex" in each.want.value.dtype]
    return next(iter(floating or found), None)


def _first_alias(reference: Reference, states: Sequence[State], found: _Found | None) -> Divergence | None:
    """The line that writes through another name in one of the two runs only, if what differs depends on it."""
    here = {(each.function, each.name) for each in states if each.through}
    there = {(each.function, each.name) for each in reference.states if each.through}
    affected = _names(found) if found is not None else None
    for lacking, wanted in ((there - here, reference.states), (here - there, states)):
        for changed in wanted:
            if not changed.through or (changed.function, changed.name) not in lacking:
                continue
            if affected is not None and changed.name not in affected:
                continue
            own = wanted is states
            line = changed if own else _matching(changed, wanted, states)
            if line is None or (found is not None and _place(states, line) > _place(states, found.state)):
                continue
            run = "the run" if own else "the reference"
            text = f"writing {changed.through} changes {changed.name} in {run} only, which shares its memory"
            return divergence(line, changed.name, "alias", text, f"{changed.name} is {changed.value}")
    return None


def _place(states: Sequence[State], state: State) -> int:
    return next(i for i, each in enumerate(states) if each is state)


def _names(found: _Found) -> set[str]:
    """The variables on which a state depends directly."""
    statement = statements(found.state.file).get(found.state.line)
    return {found.state.name, *(statement.read if statement is not None else ())}


def _matching(changed: State, wanted: Sequence[State], states: Sequence[State]) -> State | None:
    """The state of the run after the write that changed another variable in the reference."""
    writes = [each for each in wanted if each.step == changed.step and not each.through]
    keys = {each.key for each in writes}
    return next((each for each in states if each.key in keys), None)
