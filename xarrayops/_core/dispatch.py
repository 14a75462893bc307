"""Dispatch: one look-up finds the function that serves a call, by the classes of its arguments or by a backend.

A dispatching function has a table. The key is the class of the array argument. For two array arguments it is a table of
tables, which is faster than a tuple; for more, the key is the tuple of the classes; for a sequence, their set::

    def add(x1, x2, /):
        try:
            f = _add[type(x1)][type(x2)]
        except KeyError:
            f = getattr(resolved, resolve("add", (type(x1), type(x2))))
        return f(x1, x2)

An operation of several steps calls `require_one_backend` once, and takes each step from ``backend.functions``.

`resolve` finds the function, enters it in the table and returns its name in `resolved`. It returns a name because of
torch.compile: Dynamo calls a function that is `constant_while_tracing`, and treats a returned string as a constant. It
reads the attributes of a module each time, but keeps the contents of a dict from its first access. It cannot trace the
registry, so backends are found in the same way (`served_by`).
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
from xarrayops._protocol.sparse import CONTAINER_VERBS
from xarrayops._protocol.types import Array

Classes = type | tuple[type, ...] | frozenset[type]
Table = dict[Any, Any]

resolved = ModuleType("xarrayops._resolved", doc="The attributes are the functions and backends that were found.")
_tables: dict[str, Table] = {}
_backends: dict[type, Backend] = {}
"""The backend of each class, as far as one was found."""


def table(verb: str) -> Table:
    """A new table for a verb; `resolve` fills it."""
    return _tables.setdefault(verb, {})


def function_for(verb: str, key: Classes) -> Callable[..., Any]:
    """The function of a verb for some classes, for callers that need not be as fast as a generated function."""
    try:
        return _tables[verb][key]
    except KeyError:
        return getattr(resolved, resolve(verb, key))


@constant_while_tracing
def resolve(verb: str, key: Classes) -> str:
    """Find the function of a verb for some classes, enter it in the verb's table, and return its name in `resolved`.

    None and Python's numbers are ignored where the table of the standard accepts them. If the classes do not determine
    one backend, the function found is `dispatch_slow` for this verb. It examines the arguments themselves, registers a
    class by ``__array_namespace__``, or raises.
    """
    classes = key if isinstance(key, (tuple, frozenset)) else (key,)
    arrays = [cls for cls in classes if cls not in NON_ARRAY_TYPES]
    backends = {registry.backend_of_class(cls) for cls in arrays}
    backend = backends.pop() if len(backends) == 1 else None
    if backend is None or (len(arrays) < len(classes) and _lacks_an_array(verb, key)):
        sparse = registry.sparse_backend_of(arrays) if verb in CONTAINER_VERBS else None
        if sparse is None:
            return publish(f"{verb}:slow", partial(dispatch_slow, verb))
        return _enter(verb, key, f"{verb}:{sparse.backend.name}:sparse", getattr(sparse, verb))
    function, name = backend.functions[verb], f"{verb}:{backend.name}"
    if isinstance(key, tuple) and int in key and verb in LIMITED and getattr(backend.module, "WRAPS_INTEGERS", False):
        name = f"{name}:{key.index(int)}"
        function = within_limits(verb, backend, scalar_first=key[0] is int)
    return _enter(verb, key, name, function)


def _enter(verb: str, key: Classes, name: str, function: Callable[..., Any]) -> str:
    """Enter the function of a key in the table of the verb, and publish it."""
    if isinstance(key, tuple) and len(key) == 2:
        table(verb).setdefault(key[0], {})[key[1]] = function
    else:
        table(verb)[key] = function
    return publish(name, function)


def publish(name: str, value: Any) -> str:
    """Store an object in `resolved`, and return its name there."""
    name = name.replace(".", "_")  # Dynamo would read a dot as an attribute of an attribute
    setattr(resolved, name, value)
    return name


def _lacks_an_array(verb: str, key: Classes) -> bool:
    """Whether the key has the class of None or of a number where an array is required."""
    if isinstance(key, tuple):
        return any(is_misplaced(cls, role) for cls, role in zip(key, roles(verb).values(), strict=True))
    return True


def dispatch_slow(verb: str, /, *args: Any, **kwargs: Any) -> Any:
    """Serve a call whose classes do not determine the backend; raise if the arguments do not determine it either."""
    arguments = dict(array_arguments(verb, args, kwargs))
    backend = common_backend(PUBLIC_NAMES.get(verb, verb), arguments, containers=verb in CONTAINER_VERBS)
    bound = signature(verb).bind(*args, **kwargs)
    for name, convert in (("dtype", backend.native_dtype), ("device", backend.native_device)):
        if bound.arguments.get(name) is not None:
            bound.arguments[name] = convert(bound.arguments[name])
    return backend.functions[verb](*bound.args, **bound.kwargs)


@constant_while_tracing
def _resolve_backend(cls: type) -> str | None:
    """The name in `resolved` of the backend of a class; None if the class alone does not determine a backend."""
    backend = registry.backend_of_class(cls)
    if backend is None:
        return None
    _backends[cls] = backend
    return publish_backend(backend)


def publish_backend(backend: Backend) -> str:
    """Store a backend in `resolved`, and return its name there."""
    return publish(f"backend:{backend.module.__name__}", backend)


def backend_of_class(cls: type) -> Backend | None:
    """The backend of a class; None if the class alone does not determine a backend."""
    try:
        return _backends[cls]
    except KeyError:
        name = _resolve_backend(cls)
        return None if name is None else getattr(resolved, name)


def served_by(x: Array) -> Backend | None:
    """The backend of this array; None if x is refused, or its class is not registered yet."""
    backend = backend_of_class(type(x))
    if backend is None or (backend.refuse is not None and backend.refuse(x) is not None):
        return None
    name = None if backend.refine is None else backend.refine(x)
    return backend if name is None else backend_named(name)


def backend_named(name: str) -> Backend:
    """The backend of that name; raises like `registry.backend_by_name`."""
    backend: Backend = getattr(resolved, _publish_backend_named(name))
    return backend


@constant_while_tracing
def _publish_backend_named(name: str) -> str:
    return publish_backend(registry.backend_by_name(name))


def require_one_backend(verb: str, arguments: dict[str, Any]) -> Backend:
    """The one backend that serves all arguments. Registers a new class and raises like `common_backend`."""
    backend = None
    for x in arguments.values():
        if type(x) not in NON_ARRAY_TYPES:
            found = served_by(x)
            if found is None or (backend is not None and found is not backend):
                return common_backend(verb, arguments)
            backend = found
    return common_backend(verb, arguments) if backend is None else backend


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
