"""The functions that serve calls in modes: first the engines' functions, then that of the arrays' own library.

`explaining` explains them by the same tests, without passing arrays.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import Any

from xarrayops._core.backends import find, registry
from xarrayops._core.backends.integer_inputs import casting_integers
from xarrayops._core.backends.registry import Backend
from xarrayops._core.backends.resolved import is_traced, resolved
from xarrayops._core.dispatch.arguments import Several, signature
from xarrayops._core.dispatch.lookup import Classes, function_without_modes
from xarrayops._core.modes import defaults, tables as modes
from xarrayops._core.modes.precision import of_policy, refusal_of_engine
from xarrayops._ops.choices.serving import Chooser
from xarrayops._ops.engines import forms, functions, passing
from xarrayops._ops.engines.block import active
from xarrayops._ops.engines.forms import Form
from xarrayops._ops.engines.passing import NotPassed
from xarrayops._surface import EXTRA, SURFACE
from xarrayops.errors import BackendNotFound
from xarrayops.plugin.candidates import first_able
from xarrayops.plugin.nested import VALUES, arrays_in, fill
from xarrayops.plugin.precision import PRODUCTS
from xarrayops.plugin.sparse import CONTAINER_VERBS

FunctionOf = Callable[[Backend], Callable[..., Any]]
"""Returns the function of a verb for the arrays of a library."""


def _find_compiler(backend: Backend) -> None:
    """Make ``resolved.is_traced`` the test of PyTorch's compiler, if PyTorch was imported since."""
    is_traced()


registry.on_load.append(_find_compiler)


class Route:
    """A verb on the arrays of one library, served by the function of another one, the engine.

    Raises `NotPassed` if the engine never serves the verb.
    """

    def __init__(self, verb: str, own: Backend, engine: Backend, function_of: FunctionOf) -> None:
        self.verb, self.own, self.engine = verb, own, engine
        self.takes_containers = verb in CONTAINER_VERBS or verb.startswith("sparse.")
        self._traces = engine.own_hook("trace_state")
        self.require_no_trace()
        self.plain, self._engine_class = passing.plain_class(own), passing.plain_class(engine)
        self._quick_passing, self._quick_return = passing.quick_passing(own, engine), passing.quick_return(own, engine)
        refusal = forms.refusal_of_verb(verb, own, engine)
        if refusal is not None:
            raise NotPassed(refusal)
        self._function = self._casting = function_of(engine)
        if verb in functions.CAST:
            self._casting = casting_integers(verb, self._function, engine.functions, self._floating_dtype)
        self._context = engine.own_hook("serving_others")
        self._index = forms.narrower_index(verb, own, engine)
        self._wide_index = engine.native_dtype(forms.default_dtype(engine, "indexing"))
        self._multiplies = verb in PRODUCTS
        self._found: dict[Any, Callable[..., Any] | str] = {}

    def _floating_dtype(self) -> str:
        return defaults.floating_dtype() or forms.default_dtype(self.own, "real floating")

    def require_no_trace(self) -> None:
        """Raise while the engine compiles or transforms a function: its results would be tracers."""
        if self._traces is not None and self._traces() is not None:
            raise NotPassed(f"{self.engine.name} compiles or transforms a function")

    def function_for(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Callable[..., Any]:
        """The function of the engine for calls of this form. No array is passed to find it.

        Raises if the engine would not return the same as the caller's library.
        """
        self.require_no_trace()
        parts = (*map(self._part, args), *map(self._part, kwargs.values())) if kwargs else (*map(self._part, args),)
        key = defaults.floating_dtype(), parts, *kwargs
        try:
            found = self._found[key]
        except KeyError:
            form = Form((*kwargs,), parts)
            function = self._casting if forms.has_integers(self.own, form) else self._function
            found = next(forms.refusals_of_form(self.verb, self.own, self.engine, form), function)
            self._found[key] = found
        if not isinstance(found, str) and self.takes_containers:
            found = forms.refusal_of_formats(self.own, self.engine, args, self.plain) or found
        if isinstance(found, str):
            raise NotPassed(found)
        return found

    def _part(self, value: Any) -> Any:
        """The part of the form for one argument: a dtype, a class, or a tuple of parts."""
        kind = type(value)
        if kind is self.plain:
            return value.dtype
        if kind in VALUES:
            return kind
        if isinstance(value, (tuple, list)):
            return tuple(map(self._part, value))
        name = self._dtype_name(value)
        if name is not None:
            return self.own.native_dtype(name)
        if self.takes_containers and find.sparse_of(value) is not None:
            return value.dtype
        raise NotPassed(f"an argument is a {registry.describe_class(kind)}")

    def _dtype_name(self, value: Any) -> str | None:
        """The name of an argument that is a dtype; None for other arguments."""
        is_array = hasattr(value, "dtype") and not isinstance(value, type)  # NumPy's dtypes may be classes
        return None if is_array else self.own.functions["dtype_name"](value)

    def __call__(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The result of the engine, in arrays of the caller's library. Raises if the engine cannot serve the call."""
        function = self.function_for(args, kwargs)
        plain = self.plain
        taken = [self._passed(x) if type(x) is plain else fill(x, self._taken) for x in args]
        named = {name: fill(value, self._taken) for name, value in kwargs.items()} if kwargs else kwargs
        result = self._result(function, taken, named)
        for x in taken:
            if result is x:
                raise NotPassed(f"{self.engine.name} returns the argument itself, which would share its memory")
        if type(result) is self._engine_class:
            return self._back(result, args, kwargs)
        return fill(result, lambda x: self._back(x, args, kwargs))

    def _result(self, function: Callable[..., Any], taken: list[Any], named: dict[str, Any]) -> Any:
        """Call the engine's function under the precision policy of this thread."""
        if self._context is None and not self._multiplies:
            return function(*taken, **named)
        policy = self._policy(next(x for _, x in arrays_in(taken))) if self._multiplies else nullcontext()
        with policy, nullcontext() if self._context is None else self._context():
            return function(*taken, **named)

    def _policy(self, x: Any) -> AbstractContextManager[Any]:
        """The context in which the engine follows the precision policy. Raises if it cannot."""
        refusal = refusal_of_engine(self.engine, self.engine.functions["dtype_name"](x.dtype))
        if refusal is not None:
            raise NotPassed(refusal)
        return of_policy(self.engine, x)

    def _passed(self, x: Any) -> Any:
        """An array of the engine."""
        found = self._quick_passing(x)
        return passing.passed(x, self.engine, takes_containers=self.takes_containers) if found is None else found

    def _back(self, x: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """A result as an array of the caller's library."""
        if self._index is not None and x.dtype == self._wide_index and type(x) is self._engine_class:
            x = self.engine.functions["astype"](x, self.engine.native_dtype(self._index))
        found = self._quick_return(x, (args, kwargs)) if type(x) is self._engine_class else None
        if found is None:
            return passing.back(x, self.own, self.engine, (args, kwargs))
        return found if self.own.returned is None else self.own.returned(found)

    def _taken(self, value: Any) -> Any:
        """An argument with arrays and dtypes of the engine."""
        if type(value) is self.plain:
            return self._passed(value)
        name = self._dtype_name(value)
        if name is not None:
            return self.engine.native_dtype(name)
        return passing.passed(value, self.engine, takes_containers=self.takes_containers)


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


def with_choices(
    verb: str,
    own: Backend,
    function: Callable[..., Any],
    function_of: FunctionOf,
    otherwise: Callable[..., Any],
) -> Callable[..., Any]:
    """A function that calls the measured choice if there is one, and else ``otherwise``."""
    found = chooser(verb, own, function, function_of)
    if found is None:
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


def named_candidate(verb: str, own: Backend, function_of: FunctionOf, name: str) -> Callable[..., Any]:
    """The function of a candidate, ``library:kernel`` as `explain` lists it, for arrays of a library.

    Raises `ValueError` for a kernel that the library does not have.
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
    return lambda *args, **kwargs: route(args, kwargs)


def refusal_of_name(verb: str, engine: Backend, kernel: str) -> str | None:
    """Why a name is not that of a kernel of a verb; None if it is."""
    names = [each[0] for each in engine.kernels(verb)] or [verb]
    names += [each[0] for each in engine.alternatives(verb)]
    listed = ", ".join(f"{engine.name}:{name}" for name in names)
    return None if kernel in (*names, verb) else f"no kernel {engine.name}:{kernel} for {verb}; there is {listed}"


def in_tables(verb: str, own: Backend, key: Classes, function: Callable[..., Any], state: int) -> Callable[..., Any]:
    """The entry of a dispatch table in modes or in blocks of measured choice, for a function and some classes."""
    if verb not in functions.SERVED:
        return function
    function_of = partial(by_table, verb, own, key)
    if state == modes.IN_CHOICES:
        return with_choices(verb, own, function, function_of, function)
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
