"""The explanation of calls that engines or measured choices may serve: the tests of serving, without passing arrays."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from xarrayops._core.backends import find
from xarrayops._core.backends.registry import Backend
from xarrayops._core.modes.precision import refusal_of_engine
from xarrayops._ops.choices.block import current
from xarrayops._ops.choices.serving import with_choice
from xarrayops._ops.choices.verdicts import Choice
from xarrayops._ops.engines import passing
from xarrayops._ops.engines.block import active
from xarrayops._ops.engines.chosen import chooser, refusal_of_name
from xarrayops._ops.engines.routes import Route
from xarrayops._ops.explanation import Candidate, Explanation, chosen_name
from xarrayops.errors import XArrayOpsError
from xarrayops.plugin.candidates import Call, copies_of, refusal
from xarrayops.plugin.nested import arrays_in, fill
from xarrayops.plugin.precision import PRODUCTS


def with_engines(found: Explanation, own: Backend, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Explanation:
    """The explanation for the arrays' own library, preceded by the active engines."""
    measurements = current()
    if measurements is not None:
        choose = chooser(found.verb, own, fill, lambda engine: fill)
        described = None if choose is None else choose.choice(measurements, args, kwargs)
        choice = None if described is None else described[1]
        if choice is not None:
            refused = _refusal_of_choice(found.verb, own, choice, args, kwargs)
            found = with_choice(found, choice, refused, measurements)
        elif described is not None and not measurements.is_pinned:
            found = found._replace(summary=f"{found.summary}; not measured: see python -m xarrayops.tune --from-log")
    engines = [find.named(name) for name in active() if name != own.name]
    if not engines:
        return found
    listed = tuple(each for engine in engines for each in candidates_of(found.verb, own, engine, args, kwargs))
    first = chosen_name(listed)
    summary = found.summary if first is None else f"{first} serves this call"
    return found._replace(summary=summary, candidates=(*listed, *found.candidates), chosen=first or found.chosen)


def _refusal_of_choice(
    verb: str, own: Backend, choice: Choice, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> str | None:
    library, _, kernel = choice.candidate.partition(":")
    engine = find.named(library)
    found = refusal_of_name(verb, engine, kernel)
    return _refusal(verb, own, engine, args, kwargs) if found is None and engine is not own else found


def candidates_of(
    verb: str, own: Backend, engine: Backend, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Iterator[Candidate]:
    """The kernels of an engine for a call, or the function of the engine if it lists no kernels."""
    reason = _refusal(verb, own, engine, args, kwargs)
    arguments = _named(args, kwargs)
    kernels = [kernel for kernel in engine.kernels(verb) if kernel[0] != "generic"]
    if reason is not None or not kernels:
        copies = () if reason is not None else passing.copies(arguments, engine)
        yield Candidate(f"{engine.name}:{verb}", reason is None, reason or "the engine's function", copies)
        return
    call = Call(*passing.sampled((args, kwargs), engine))
    for kernel in kernels:
        reason = refusal(kernel, call)
        copies = () if reason is not None else passing.copies(arguments, engine, copies_of(kernel, call))
        yield Candidate(f"{engine.name}:{kernel[0]}", reason is None, reason or "", copies)


def _refusal(verb: str, own: Backend, engine: Backend, args: tuple[Any, ...], kwargs: dict[str, Any]) -> str | None:
    """Why an engine cannot serve a call; None if it can."""
    traces = own.own_hook("trace_state")
    if traces is not None and traces() is not None:
        return f"{own.name} compiles or transforms a function"
    try:
        Route(verb, own, engine, lambda engine: fill).function_for(args, kwargs)
    except XArrayOpsError as error:
        return str(error)
    arguments = _named(args, kwargs)
    if verb in PRODUCTS:
        _, x = next(arrays_in(arguments))
        refused = refusal_of_engine(engine, own.functions["dtype_name"](x.dtype))
        if refused is not None:
            return refused
    return passing.obstacle(arguments, own, engine)


def _named(args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    return {f"argument {i}": value for i, value in enumerate(args, 1)} | kwargs
