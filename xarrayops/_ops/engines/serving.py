"""The functions that serve calls in modes: first the engines' functions, then that of the arrays' own library.

`explaining` explains them by the same tests, without passing arrays.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from xarrayops._core.backends import find
from xarrayops._core.backends.registry import Backend
from xarrayops._core.dispatch.arguments import Several
from xarrayops._core.dispatch.lookup import Classes, function_without_modes
from xarrayops._core.modes import tables as modes
from xarrayops._ops.engines import functions, passing
from xarrayops._ops.engines.block import active
from xarrayops._ops.engines.chosen import with_choices
from xarrayops._ops.engines.routes import FunctionOf, Route
from xarrayops.errors import BackendNotFound
from xarrayops.plugin.nested import VALUES
from xarrayops.plugin.sparse import CONTAINER_VERBS


def serving(verb: str, own: Backend, function: Callable[..., Any], function_of: FunctionOf) -> Callable[..., Any]:
    """A function that calls the measured choice or the first engine that can serve, else the arrays' own library.

    The own function also serves if another one raises: so errors come from the caller's library.
    """
    otherwise = _by_active(verb, own, function, function_of)
    return with_choices(verb, own, function, function_of, otherwise)


def _by_active(verb: str, own: Backend, function: Callable[..., Any], function_of: FunctionOf) -> Callable[..., Any]:
    """A function that calls the first engine that can serve, else the arrays' own library."""
    routes: dict[str, Route] = {}
    traces = own.own_hook("trace_state")

    def by_engine(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if name not in routes:
            engine = find.named(name)
            routes[name] = Route(verb, own, engine, function_of)
        return routes[name](args, kwargs)

    def serve(*args: Any, **kwargs: Any) -> Any:
        names = active()
        if names and (traces is None or traces() is None):
            for name in names:
                if name != own.name:
                    try:
                        return by_engine(name, args, kwargs)
                    except BackendNotFound:
                        raise
                    except Exception:  # the next one serves, and the last one raises
                        continue
        return function(*args, **kwargs)

    return serve


def in_tables(verb: str, own: Backend, key: Classes, function: Callable[..., Any], state: int) -> Callable[..., Any]:
    """The entry of a dispatch table in modes or in blocks of measured choice, for a function and some classes."""
    if verb not in functions.SERVED:
        return function
    function_of = partial(by_table, verb, own, key)
    if state == modes.IN_CHOICES:
        return with_choices(verb, own, function, function_of, function, only_now=True)
    return serving(verb, own, function, function_of)


def by_engines(verb: str, function: Callable[..., Any] | None = None) -> Callable[..., Any]:
    """The function for calls of ``function(backend, ...)``, by default of a hook, for a verb without a dispatch table.

    An engine uses the same function, with its own backend and arrays.
    """
    served: dict[Backend, Callable[..., Any]] = {}

    def call(backend: Backend, *args: Any) -> Any:
        return backend.functions[verb](*args) if function is None else function(backend, *args)

    def serve(own: Backend, *args: Any) -> Any:
        if own not in served:
            served[own] = serving(verb, own, partial(call, own), lambda engine: partial(call, engine))
        return served[own](*args)

    return serve


def by_table(verb: str, own: Backend, key: Classes, engine: Backend) -> Callable[..., Any]:
    """The engine's function, for its own classes instead of those of the caller's library."""
    ours, theirs = passing.plain_class(own), passing.plain_class(engine)

    def translated(cls: type) -> type:
        return theirs if cls is ours or cls not in (*VALUES, Several) else cls

    if isinstance(key, tuple):
        dense = function_without_modes(verb, tuple(map(translated, key)))
    else:
        dense = function_without_modes(verb, translated(key))
    if verb not in CONTAINER_VERBS:
        return dense

    def of_either(*args: Any) -> Any:
        is_dense = all(type(x) is theirs for x in args)
        return dense(*args) if is_dense else getattr(engine.sparse, verb)(*args)

    return of_either
