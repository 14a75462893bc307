"""The functions that call a measured choice, and those of its candidates."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from xarrayops._core.backends import find
from xarrayops._core.backends.registry import Backend
from xarrayops._core.backends.resolved import resolved
from xarrayops._core.dispatch.arguments import signature
from xarrayops._ops.choices.serving import Chooser
from xarrayops._ops.engines import passing
from xarrayops._ops.engines.passing import NotPassed
from xarrayops._ops.engines.routes import FunctionOf, Route
from xarrayops._surface import EXTRA, SURFACE
from xarrayops.errors import BackendNotFound
from xarrayops.plugin.candidates import Call, first_able


def with_choices(
    verb: str,
    own: Backend,
    function: Callable[..., Any],
    function_of: FunctionOf,
    otherwise: Callable[..., Any],
    *,
    only_now: bool = False,
) -> Callable[..., Any]:
    """A function that calls the measured choice if there is one, and else ``otherwise``.

    With ``only_now`` it is ``otherwise`` if no open block has a choice for the library: the caller asks again later.
    """
    found = chooser(verb, own, function, function_of)
    if found is None or (only_now and found.limit.leave_unread()):
        return otherwise
    choose, traces = found.function_for, own.own_hook("trace_state")

    def serve(chosen: Callable[..., Any] | None, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if chosen is None or (traces is not None and traces() is not None):
            return otherwise(*args, **kwargs)
        try:
            return chosen(*args, **kwargs)
        except BackendNotFound:
            raise
        except Exception:  # the function of the arrays' own library raises its own error
            return function(*args, **kwargs)

    def call(*args: Any, **kwargs: Any) -> Any:
        return serve(None if resolved.is_traced() else choose(args, kwargs), args, kwargs)

    if verb not in SURFACE and verb not in EXTRA:
        return call
    scope = {"plain": found.plain, "limit": found.limit, "size": own.functions["size"], "resolved": resolved}
    return with_limit(verb, scope | {"otherwise": otherwise, "choose": choose, "serve": serve})


def with_limit(verb: str, scope: dict[str, Any]) -> Callable[..., Any]:
    """A function that looks up the choice if the first array reaches the limit of the verb.

    It is compiled with the parameters of the verb: to collect options and pass them on takes longer than the test.
    """
    parameters = signature(verb).parameters.values()
    prefix = {"VAR_POSITIONAL": "*", "KEYWORD_ONLY": "{0}="}
    given = ", ".join(prefix.get(each.kind.name, "").format(each.name) + each.name for each in parameters)
    args = "".join(f"{each}, " for each in given.split(", ") if "=" not in each)
    kwargs = ", ".join(f"'{each.name}': {each.name}" for each in parameters if each.kind is each.KEYWORD_ONLY)
    x = next(iter(parameters)).name
    source = f"""def call{signature(verb)}:
    if resolved.is_traced() or (type({x}) is plain and size({x}) < limit.size):
        return otherwise({given})
    chosen = choose(({args}), {{{kwargs}}})
    return otherwise({given}) if chosen is None else serve(chosen, ({args}), {{{kwargs}}})
"""
    exec(source, scope)
    call: Callable[..., Any] = scope["call"]
    return call


def chooser(verb: str, own: Backend, function: Callable[..., Any], function_of: FunctionOf) -> Chooser | None:
    """What finds the function of a measured choice; None for a library whose arrays have no values, such as Dask."""
    try:
        plain = passing.plain_class(own)
    except NotPassed:
        return None
    return Chooser(verb, own, plain, function, partial(named_candidate, verb, own, function_of))


def named_candidate(
    verb: str, own: Backend, function_of: FunctionOf, name: str, call: Call | None = None
) -> Callable[..., Any]:
    """The function of a candidate, ``library:kernel`` as `explain` lists it, for arrays of a library.

    With a call, it is for calls of the same form. Raises `ValueError` for a kernel that the library does not have.
    """
    library, _, kernel = name.partition(":")
    engine = find.named(library)
    refused = refusal_of_name(verb, engine, kernel)
    if refused is not None:
        raise ValueError(refused)

    def of_engine(engine: Backend) -> Callable[..., Any]:
        listed = [each for each in (*engine.kernels(verb), *engine.alternatives(verb)) if each[0] == kernel]
        return first_able(verb, listed) if listed else function_of(engine)

    if engine is own:
        return of_engine(own)
    route = Route(verb, own, engine, of_engine)
    return route.unbound if call is None else route.bound(*call)


def refusal_of_name(verb: str, engine: Backend, kernel: str) -> str | None:
    """Why a name is not that of a kernel of a verb; None if it is."""
    names = [each[0] for each in engine.kernels(verb)] or [verb]
    names += [each[0] for each in engine.alternatives(verb)]
    listed = ", ".join(f"{engine.name}:{name}" for name in names)
    return None if kernel in (*names, verb) else f"no kernel {engine.name}:{kernel} for {verb}; there is {listed}"
