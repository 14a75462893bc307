"""From a call to the function that serves it: one look-up, by the classes of the arguments or by a backend.

A dispatching function holds a table keyed by the class of its array argument; with two array arguments a table of
tables (cheaper than a tuple), with more the tuple of all classes, with a sequence the set of its classes::

    def add(x1, x2, /):
        try:
            f = _add[type(x1)][type(x2)]
        except KeyError:
            f = getattr(resolved, resolve("add", (type(x1), type(x2))))
        return f(x1, x2)

An operation of several steps finds its backend once, by `require_one_backend`, and each step in ``backend.functions``.

`resolve` finds the function, enters it in the table and returns the name under which `resolved` holds it. It returns a
name, and not the function, because of torch.compile: Dynamo calls a function that is `constant_while_tracing` and takes
a string for a constant, and it reads a module's attribute afresh each time, whereas it keeps the contents of a dict as
they were when it first met it. It cannot trace the registry, so backends are found in the same way (`served_by`).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from types import ModuleType
from typing import Any

from xarrayops._core import registry
from xarrayops._core.arguments import (
    NON_ARRAY_TYPES,
    PUBLIC_NAMES,
    array_arguments,
    common_backend,
    is_misplaced,
    roles,
    signature,
)
from xarrayops._core.integer_limits import LIMITED, within_limits
from xarrayops._core.registry import Backend
from xarrayops._protocol.candidates import constant_while_tracing as constant_while_tracing
from xarrayops._protocol.sparse import OF_CONTAINERS
from xarrayops._protocol.types import Array

Classes = type | tuple[type, ...] | frozenset[type]
Table = dict[Any, Any]

resolved = ModuleType("xarrayops._resolved", doc="The functions and backends that were found.")
_tables: dict[str, Table] = {}


def table(verb: str) -> Table:
    """The table of a verb: empty, to be filled by `resolve`."""
    return _tables.setdefault(verb, {})


def function_for(verb: str, key: Classes) -> Callable[..., Any]:
    """What serves a verb for some classes, where the call need not be as quick as that of a generated function."""
    try:
        return _tables[verb][key]
    except KeyError:
        return getattr(resolved, resolve(verb, key))


@constant_while_tracing
def resolve(verb: str, key: Classes) -> str:
    """Find what serves a verb for some classes, enter it in the verb's table, and return its name in `resolved`.

    None and Python's numbers belong to any library where the table of the standard allows them, and nowhere else. Where
    no one backend serves the classes, the name leads to a function that raises with the arguments in hand, or that
    registers a class by its instance's ``__array_namespace__``.
    """
    classes = key if isinstance(key, (tuple, frozenset)) else (key,)
    arrays = [cls for cls in classes if cls not in NON_ARRAY_TYPES]
    backends = {registry.backend_of_class(cls) for cls in arrays}
    backend = backends.pop() if len(backends) == 1 else None
    if backend is None or (len(arrays) < len(classes) and _lacks_an_array(verb, key)):
        sparse = registry.sparse_backend_of(arrays) if verb in OF_CONTAINERS else None
        if sparse is None:
            return publish(f"{verb}:slow", partial(dispatch_slow, verb))
        return _enter(verb, key, f"{verb}:{sparse.backend.name}:sparse", getattr(sparse, verb))
    function, name = backend.functions[verb], f"{verb}:{backend.name}"
    if isinstance(key, tuple) and int in key and verb in LIMITED and getattr(backend.module, "WRAPS_INTEGERS", False):
        name = f"{name}:{key.index(int)}"
        function = within_limits(verb, backend, scalar_first=key[0] is int)
    return _enter(verb, key, name, function)


def _enter(verb: str, key: Classes, name: str, function: Callable[..., Any]) -> str:
    """Enter what serves a key in the table of the verb, and publish it."""
    if isinstance(key, tuple) and len(key) == 2:
        table(verb).setdefault(key[0], {})[key[1]] = function
    else:
        table(verb)[key] = function
    return publish(name, function)


def publish(name: str, value: Any) -> str:
    """Keep something in `resolved`; the name under which it is found there."""
    name = name.replace(".", "_")  # Dynamo takes a dot for the way to an attribute of an attribute
    setattr(resolved, name, value)
    return name


def _lacks_an_array(verb: str, key: Classes) -> bool:
    """Whether None or a number stands in the key where an array must be."""
    if isinstance(key, tuple):
        return any(is_misplaced(cls, role) for cls, role in zip(key, roles(verb).values(), strict=True))
    return True


def dispatch_slow(verb: str, /, *args: Any, **kwargs: Any) -> Any:
    """Serve a call whose classes alone do not determine the backend; raise if the arguments do not either."""
    arguments = dict(array_arguments(verb, args, kwargs))
    backend = common_backend(PUBLIC_NAMES.get(verb, verb), arguments, containers=verb in OF_CONTAINERS)
    bound = signature(verb).bind(*args, **kwargs)
    for name, convert in (("dtype", backend.native_dtype), ("device", backend.native_device)):
        if bound.arguments.get(name) is not None:
            bound.arguments[name] = convert(bound.arguments[name])
    return backend.functions[verb](*bound.args, **bound.kwargs)


@constant_while_tracing
def _publish_backend_of(cls: type) -> str | None:
    """The name in `resolved` of the backend of a class; None if there is none, or none until an instance is at hand."""
    backend = registry.backend_of_class(cls)
    return None if backend is None else publish_backend(backend)


def publish_backend(backend: Backend) -> str:
    """Keep a backend in `resolved`; the name under which it is found there."""
    return publish(f"backend:{backend.module.__name__}", backend)


def backend_of_class(cls: type) -> Backend | None:
    """The backend of a class; None if no backend serves it, or none does until an instance is at hand."""
    name = _publish_backend_of(cls)
    return None if name is None else getattr(resolved, name)


def served_by(x: Array) -> Backend | None:
    """The backend of this very array; None if x is refused, or its class is not registered yet."""
    backend = backend_of_class(type(x))
    if backend is None or (backend.refuse is not None and backend.refuse(x) is not None):
        return None
    name = None if backend.refine is None else backend.refine(x)
    return backend if name is None else backend_named(name)


def backend_named(name: str) -> Backend:
    """The backend of that name; raises as `registry.backend_by_name`."""
    backend: Backend = getattr(resolved, _publish_backend_named(name))
    return backend


@constant_while_tracing
def _publish_backend_named(name: str) -> str:
    return publish_backend(registry.backend_by_name(name))


def require_one_backend(verb: str, arguments: dict[str, Any]) -> Backend:
    """The one backend that serves all arguments; raises as `common_backend`, which registers a class that is new."""
    found = [served_by(x) for x in arguments.values() if type(x) not in NON_ARRAY_TYPES]
    backend = found[0] if found else None
    if backend is None or any(other is not backend for other in found):
        return common_backend(verb, arguments)
    return backend


@constant_while_tracing
def native_dtype(cls: type, dtype: Any) -> Any:
    """The native dtype of a class's library for a name or a native dtype; unchanged while the library is unknown."""
    backend = registry.backend_of_class(cls)
    return dtype if backend is None else backend.native_dtype(dtype)


@constant_while_tracing
def native_device(cls: type, device: Any) -> Any:
    """The native device of a class's library for a name or a native device; unchanged while the library is unknown."""
    backend = registry.backend_of_class(cls)
    return device if backend is None else backend.native_device(device)
