"""A verb on the arrays of one library, served by the function of another one."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from xarrayops._core.backends import find, registry
from xarrayops._core.backends.integer_inputs import casting_integers
from xarrayops._core.backends.registry import Backend
from xarrayops._core.backends.resolved import is_traced
from xarrayops._core.modes import defaults
from xarrayops._core.modes.precision import of_policy, refusal_of_engine
from xarrayops._ops.engines import forms, functions, passing
from xarrayops._ops.engines.forms import Form
from xarrayops._ops.engines.passing import NotPassed
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
        plain: Any = self.plain
        part = self._part
        parts = tuple([x.dtype if type(x) is plain else part(x) for x in (*args, *kwargs.values())])
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

    def unbound(self, *args: Any, **kwargs: Any) -> Any:
        """The route for calls of any form."""
        return self(args, kwargs)

    def bound(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Callable[..., Any]:
        """The route for calls of this form: its function is found once, if arrays and plain values decide it."""
        values = (*(x for x in args if type(x) is not self.plain), *kwargs.values())
        if self.takes_containers or not all(type(x) in VALUES for x in values):
            return self.unbound
        try:
            function, default = self.function_for(args, kwargs), defaults.floating_dtype()
        except Exception:  # perhaps only now, while the engine compiles; the call raises it again where it is caught
            return self.unbound

        def serve(*args: Any, **kwargs: Any) -> Any:
            if defaults.floating_dtype() != default:
                return self(args, kwargs)
            self.require_no_trace()
            taken = [self._passed(x) if type(x) is self.plain else x for x in args]
            return self._served(function, taken, kwargs, args, kwargs)

        return serve

    def __call__(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The result of the engine, in arrays of the caller's library. Raises if the engine cannot serve the call."""
        function = self.function_for(args, kwargs)
        plain = self.plain
        taken = [self._passed(x) if type(x) is plain else fill(x, self._taken) for x in args]
        named = {name: x if type(x) in VALUES else fill(x, self._taken) for name, x in kwargs.items()}
        return self._served(function, taken, named, args, kwargs)

    def _served(
        self,
        function: Callable[..., Any],
        taken: list[Any],
        named: dict[str, Any],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
    ) -> Any:
        """The result of the engine's function for arrays of the engine, in arrays of the caller's library."""
        result = self._result(function, taken, named)
        for x in taken:
            if result is x:
                raise NotPassed(f"{self.engine.name} returns the argument itself, which would share its memory")
        if type(result) is self._engine_class:
            return self._back(result, args, kwargs)
        return fill(result, lambda x: self._back(x, args, kwargs))

    def _result(self, function: Callable[..., Any], taken: list[Any], named: dict[str, Any]) -> Any:
        """Call the engine's function under the precision policy of this thread."""
        context = self._context or nullcontext
        if self._multiplies:
            with self._policy(next(x for _, x in arrays_in(taken))), context():
                return function(*taken, **named)
        with context():
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
        return passing.back(x, self.own, self.engine, (args, kwargs)) if found is None else found

    def _taken(self, value: Any) -> Any:
        """An argument with arrays and dtypes of the engine."""
        if type(value) is self.plain:
            return self._passed(value)
        name = self._dtype_name(value)
        if name is not None:
            return self.engine.native_dtype(name)
        return passing.passed(value, self.engine, takes_containers=self.takes_containers)
