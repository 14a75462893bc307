"""Find the backend of an array, of a name, or of all arguments of a call. All code uses these functions.

torch.compile cannot trace the registry: `resolved` says how functions that call it return a backend. The registry,
which Dynamo does not see, remembers the classes that no backend serves.
"""

from __future__ import annotations

import copyreg
from collections.abc import Iterator
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

from xarrayops._core.backends import foreign, mixed, registry
from xarrayops._core.backends.entry_points import dtype_backend_name
from xarrayops._core.backends.namespace import EXTENSIONS, Namespace
from xarrayops._core.backends.numpy_scalars import is_numpy_scalar
from xarrayops._core.backends.registry import Backend, by_class, by_container, by_name, describe_class
from xarrayops._core.backends.resolved import publish as publish, resolved as resolved
from xarrayops._generic import NAMESPACES
from xarrayops.errors import NotAnArray, Unsupported, XArrayOpsError
from xarrayops.plugin.arrays import Array, Gap
from xarrayops.plugin.candidates import constant_while_tracing

if TYPE_CHECKING:
    from xarrayops._core.backends.sparse_backend import SparseBackend

SCALARS = frozenset({bool, int, float, complex})
"""Python's numbers, which every library accepts. Exactly these classes: a NumPy scalar is a NumPy array."""
NON_ARRAY_TYPES = SCALARS | {type(None)}
"""The classes that every library accepts: Python's numbers and NoneType."""


def _published(backend: Backend | None) -> str | None:
    return None if backend is None else publish(f"backend:{backend.module.__name__}", backend)


def of(x: Array) -> Backend:
    """The backend of an array, by its class or, if that does not determine it, by the array itself.

    Raises
    ------
    NotAnArray, Unsupported
        x is not an array, or is not supported.
    """
    backend = _served(x)
    return _registered(x) if backend is None else backend


def named(name: str) -> Backend:
    """The backend of that name.

    Raises
    ------
    BackendNotFound
        No backend has the name, or its library cannot be imported; the message says how to install it.
    """
    try:
        return by_name[name]
    except KeyError:
        return getattr(resolved, _load_named(name))


@constant_while_tracing
def _load_named(name: str) -> str:
    return str(_published(registry.load_named(name)))


def one_of(verb: str, arguments: dict[str, Any], *, containers: bool = False) -> Backend:
    """The backend that serves all arguments. Every backend accepts None and scalars, also NumPy's.

    With ``containers`` it accepts sparse containers too.

    Raises
    ------
    MixedBackends
        The arguments belong to several libraries. The message describes each of them, and shows a conversion.
    NotAnArray, Unsupported
        An argument is not an array or not supported, or no argument is an array.
    """
    backend = None
    for x in arguments.values():
        if type(x) not in NON_ARRAY_TYPES:
            found = _served(x)
            if found is None or (backend is not None and found is not backend):
                return _examined(verb, arguments, containers=containers)
            backend = found
    return _examined(verb, arguments, containers=containers) if backend is None else backend


def library(given: Any) -> Backend:
    """The backend of a library, given by a name, a backend, a namespace module, an array or a container."""
    if isinstance(given, Backend):
        return given
    if isinstance(given, str):
        return named(given)
    if isinstance(given, ModuleType):
        return registry.of_namespace(given)
    return of_container(type(given)) or of(given)


def _restored(name: str, extension: str | None) -> Any:
    """What a pickle or a copy of a backend (None), a namespace ("") or an extension is: the object itself."""
    if registry.module_of(name) is None:
        import_module(name)
    backend = registry.of_root(name)
    if extension is None:
        return backend
    return getattr(backend.namespace, extension) if extension else backend.namespace


def _pickled(namespace: Namespace) -> tuple[Any, ...]:
    if namespace.__spec__ is not None:  # of `xarrayops.compat`, where the name is not that of the module
        return import_module, (namespace.__spec__.name,)
    name = namespace.__name__.removeprefix(NAMESPACES)
    extension = next((each for each in EXTENSIONS if name.endswith(f".{each}")), "")
    return _restored, (name.removesuffix(f".{extension}"), extension)


copyreg.pickle(Namespace, _pickled)
copyreg.pickle(Backend, lambda backend: (_restored, (backend.name, None)))


def installed() -> Iterator[Backend]:
    """The backends that can be loaded here, by their entry points."""
    for name in registry.entry_points():
        try:
            backend = named(name)
        except XArrayOpsError:
            continue
        yield backend


def of_class(cls: type) -> Backend | None:
    """The backend whose arrays have this class; None if the class alone does not determine a backend."""
    try:
        return by_class[cls]
    except KeyError:
        name = _examine(cls)
        return None if name is None else getattr(resolved, name)


@constant_while_tracing
def _examine(cls: type) -> str | None:
    return _published(registry.examine(cls))


def of_container(cls: type) -> Backend | None:
    """The backend whose library defines this class of sparse containers; None for other classes."""
    try:
        return by_container[cls]
    except KeyError:
        name = _examine_container(cls)
        return None if name is None else getattr(resolved, name)


@constant_while_tracing
def _examine_container(cls: type) -> str | None:
    return _published(registry.examine_container(cls))


def of_dtype(dtype: Any) -> Backend | None:
    """The backend of a native dtype; None for other objects."""
    name = _owner_of_dtype(dtype)
    return None if name is None else getattr(resolved, name)


@constant_while_tracing
def _owner_of_dtype(dtype: Any) -> str | None:
    owner = dtype_backend_name(dtype)
    return None if owner is None else _published(registry.of_root(owner))


def sparse_of(x: Any) -> SparseBackend | None:
    """The sparse backend of x if x is a sparse container, else None."""
    backend = of_class(type(x))
    if backend is None:
        backend = of_container(type(x))
    elif not backend.has_sparse_layouts:
        return None
    return backend.sparse if backend is not None and backend.sparse.holds(x) else None


def if_array(x: Any) -> Backend | None:
    """The backend of the class of x; None if x is not an array. Registers the class if it follows the standard."""
    return of_class(type(x)) or registry.register(x)


def refusal(x: Any) -> Gap | None:
    """Why an array of a known library is not supported; None if it is, and for objects that are not arrays."""
    backend = of_class(type(x))
    if backend is None:
        return registry.refused_class(type(x))
    return None if backend.refuse is None else backend.refuse(x)


def _served(x: Array) -> Backend | None:
    """The backend of this array; None if x is refused, or its class is not registered yet."""
    try:
        backend = by_class[type(x)]
    except KeyError:
        name = _examine(type(x))
        if name is None:
            return None
        backend = getattr(resolved, name)
    if backend.refuse is not None and backend.refuse(x) is not None:
        return None
    return backend if backend.refine is None else _refined(backend, x)


def _refined(backend: Backend, x: Array) -> Backend:
    """The backend of an array whose class does not determine it: XLA tensors have the same class as other tensors."""
    name = None if backend.refine is None else backend.refine(x)
    return backend if name is None else named(name)


def _registered(x: Any) -> Backend:
    """The backend of an array whose class is not registered yet; raises for other objects."""
    found, gap = if_array(x), refusal(x)
    if gap is not None:
        raise Unsupported(f"{describe_class(type(x))} is not supported. {gap}.")
    if found is None:
        raise NotAnArray(f"{describe_class(type(x))} is not an array of a known library. {foreign.fix('x', x)}")
    return _refined(found, x)


def _examined(verb: str, arguments: dict[str, Any], *, containers: bool) -> Backend:
    """`one_of` for new classes, and for arguments that are not all arrays of one library."""
    arrays = {name: x for name, x in arguments.items() if type(x) not in NON_ARRAY_TYPES}
    if not arrays:
        raise mixed.no_arrays(verb, arguments)
    found = {name: _of_argument(verb, name, arrays, containers=containers) for name in arrays}
    if len(set(found.values())) > 1:  # with arrays of another library, NumPy's scalars count as numbers
        found = {name: b for name, b in found.items() if not is_numpy_scalar(arrays[name])}
    if len(set(found.values())) > 1:
        raise mixed.several_libraries(verb, arrays, found)
    return next(iter(found.values()))


def _of_argument(verb: str, name: str, arrays: dict[str, Any], *, containers: bool) -> Backend:
    x = arrays[name]
    sparse = of_container(type(x))
    gap = refusal(x) if sparse is None else None
    if gap is not None:
        raise Unsupported(f"{mixed.written(verb)}: argument {name} is a {describe_class(type(x))}. {gap.of(name)}.")
    if sparse is not None and not containers:
        raise mixed.sparse_argument(verb, name, x)
    backend = sparse or if_array(x)
    if backend is None:
        raise mixed.not_an_array(verb, name, arrays)
    return _refined(backend, x)
