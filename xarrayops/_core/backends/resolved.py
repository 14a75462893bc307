"""What was found or computed once, as attributes of a module, which torch.compile reads while it traces.

torch.compile cannot trace look-ups with locks, imports or entry points. Functions that need them are
`constant_while_tracing`: Dynamo calls them, and treats a returned string as a constant. So they return the name of
their result in the module `resolved`, whose attributes Dynamo reads each time. Dynamo would keep the contents of a dict
from its first access.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from itertools import count
from types import ModuleType
from typing import Any, Generic, TypeVar, overload

from xarrayops.plugin.candidates import constant_while_tracing

T = TypeVar("T")
resolved = ModuleType("xarrayops._resolved", doc="The attributes are the functions and backends found so far.")
sys.modules[resolved.__name__] = resolved  # so cloudpickle saves it by name, with functions that read it
owners: dict[str, Any] = {}
"""The instances of classes with a `computed_once`, by the name that `known_as` gives them."""
_number = count()


def publish(name: str, value: Any) -> str:
    """Store an object in `resolved`, and return its name there. While Dynamo runs, the first object of a name stays."""
    name = name.replace(".", "_")  # Dynamo would read a dot as an attribute of an attribute
    if not (runs_in_dynamo() and hasattr(resolved, name)):
        setattr(resolved, name, value)
    return name


def enter(table: dict[Any, Any], key: Any, value: Any) -> None:
    """Enter a value in a table that compiled functions read, unless Dynamo runs.

    Dynamo traces a function again after a graph break, and must find the same entries: it compares the two traces.
    """
    if not runs_in_dynamo():
        table[key] = value


def runs_in_dynamo() -> bool:
    """Whether Dynamo runs in this thread, and calls a function while it traces another one."""
    guards = sys.modules.get("torch._guards")
    return guards is not None and guards.TracingContext.try_get() is not None


def known_as(instance: Any) -> str:
    """A name for an instance of a class with a `computed_once`, which stores it as its attribute ``key``."""
    key = f"{type(instance).__name__} {next(_number)}"
    owners[key] = instance
    return key


class computed_once(Generic[T]):  # noqa: N801 - a decorator, like functools.cached_property
    """A property that is computed at its first access. `functools.cached_property` has a lock in Python 3.11.

    The values are not attributes of the instance: Dynamo would notice that they appeared while it traced.
    """

    def __init__(self, function: Callable[[Any], T]) -> None:
        self._function = function
        self.__doc__ = function.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, instance: None, owner: type) -> computed_once[T]: ...

    @overload
    def __get__(self, instance: Any, owner: type | None = None) -> T: ...

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        if instance is None:
            return self
        try:
            return _computed[self._name, instance.key]
        except KeyError:
            return getattr(resolved, _compute(self._name, instance.key))


_computed: dict[tuple[str, str], Any] = {}
"""The values that compiled functions find without a call."""
_values: dict[tuple[str, str], Any] = {}


@constant_while_tracing
def _compute(name: str, key: str) -> str:
    if (name, key) not in _values:
        instance = owners[key]
        _values.setdefault((name, key), getattr(type(instance), name)._function(instance))
    enter(_computed, (name, key), _values[name, key])
    return publish(f"{name} of {key}", _values[name, key])


def is_traced() -> bool:
    """Whether torch.compile traces the call. It cannot combine NumPy's arrays and tensors."""
    answer: bool = getattr(resolved, _tracing_test())()
    return answer


@constant_while_tracing
def untraced(name: str, function: Callable[..., Any], reason: str) -> str:
    """The name in `resolved` of a function for torch.compile, which traces neither it nor what it calls."""
    return publish(name, sys.modules["torch"].compiler.disable(function, reason=reason))


@constant_while_tracing
def _tracing_test() -> str:
    """The name in `resolved` of the function that answers `is_traced`, which torch.compile evaluates."""
    known = vars(resolved)
    if known["is_traced"] is bool and "torch" in sys.modules:
        compiler = getattr(sys.modules["torch"], "compiler", None)  # another thread may be importing PyTorch
        known["is_traced"] = bool if compiler is None else compiler.is_compiling
    return "is_traced"


vars(resolved)["is_traced"] = bool  # which is False without an argument
