"""Find the backend of a class, an array, a name or a namespace. A backend is loaded at its first use.

The module of an entry point lists the classes that it serves in ``ARRAY_TYPES``. The generic functions serve classes
without an entry point, through ``__array_namespace__``.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from importlib import import_module
from threading import RLock
from types import ModuleType
from typing import TYPE_CHECKING, Any

from xarrayops._core.backends.backend import Backend as Backend
from xarrayops._core.backends.entry_points import (
    GROUP as GROUP,
    backend_name as backend_name,
    distribution_name as distribution_name,
    dtype_backend_name as dtype_backend_name,
    entry_points as entry_points,
    install_hint as install_hint,
    names as names,
    unknown as unknown,
)
from xarrayops.errors import BackendNotFound, InvalidBackend, Unsupported
from xarrayops.plugin.arrays import Array, Gap, Record

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

    from xarrayops._core.backends.sparse_backend import SparseBackend

SCALARS = frozenset({bool, int, float, complex})
"""Python's numbers, which every library accepts. Exactly these classes: a NumPy scalar is a NumPy array."""
_by_class: dict[type, Backend] = {}
_by_container: dict[type, Backend] = {}
_by_array_type: dict[type, Backend] = {}
_generic: dict[str, Backend] = {}
"""The backends without an entry point, by the name of the namespace."""
by_module: dict[str, Backend] = {}
"""The loaded backends, by the name of the backend module."""
on_load: list[Callable[[Backend], None]] = []
"""Functions to call with each backend that was loaded."""
building = RLock()
"""Held while a backend is built, so that all threads get the same one. A built backend is found without the lock."""


def load(entry: EntryPoint) -> Backend:
    """The backend of an entry point; imported, validated and built once."""
    if entry.value not in by_module:
        from xarrayops._core.backends.validation import validate  # slow: it imports inspect

        module = import_module(entry.value)  # outside our lock: another thread may hold Python's import lock
        with building:
            if entry.value not in by_module:
                validate(module)
                by_module[entry.value] = Backend(backend_name(entry), module)
                for notify in on_load:
                    notify(by_module[entry.value])
    return by_module[entry.value]


def backend_by_name(name: str) -> Backend:
    """The backend of that name.

    Raises
    ------
    BackendNotFound
        No backend has the name, or its library cannot be imported; the message says how to install it.
    """
    entry = entry_points().get(name)
    if entry is None:
        raise unknown(name)
    try:
        return load(entry)
    except InvalidBackend:
        raise
    except ModuleNotFoundError as error:
        raise BackendNotFound(
            f"backend {name!r} needs a library that is not installed: {error}. {install_hint(entry)}"
        ) from error
    except Exception as error:  # a broken library may raise any error at import
        raise BackendNotFound(f"backend {name!r} cannot be imported: {error}. {install_hint(entry)}") from error


def load_imported() -> None:
    """Load the backends whose libraries are imported. A backend that cannot be loaded is left out."""
    for name, entry in entry_points().items():
        if name in sys.modules and entry.value not in by_module:
            with suppress(Exception):  # a broken library may raise any error
                load(entry)


def backend_of_class(cls: type) -> Backend | None:
    """The backend that serves a class; None if it has no entry point and is not registered."""
    found = _by_class.get(cls)
    if found is None and cls not in SCALARS and cls is not type(None):
        found = _served_by_entry_point(cls)
        if found is not None:
            _by_class[cls] = found
    return found


def _served_by_entry_point(cls: type) -> Backend | None:
    for _, backend in _libraries_of(cls):
        if issubclass(cls, backend.module.ARRAY_TYPES) and refused_class(cls, backend) is None:
            return backend
    return None


def backend_of_container(cls: type) -> Backend | None:
    """The backend whose library defines this class of sparse containers; None if there is none."""
    if cls in _by_container:
        return _by_container[cls]
    for base, backend in _libraries_of(cls):
        package = backend.sparse_classes
        if package and f"{base.__module__}.".startswith(f"{package}."):
            _by_container[cls] = backend
            return backend
    return None


def _libraries_of(cls: type) -> Iterator[tuple[type, Backend]]:
    """The base classes of a class that are of imported libraries, each with the backend of its library."""
    for base in cls.__mro__:
        root = base.__module__.partition(".")[0]
        entry = entry_points().get(root) if root in sys.modules else None
        if entry is not None:
            yield base, load(entry)


def sparse_backend_of(classes: Iterable[type]) -> SparseBackend | None:
    """The sparse backend of some classes; None if no class is a container's, or they belong to several backends."""
    containers = {cls: backend_of_container(cls) for cls in classes}
    if not any(containers.values()):
        return None
    backends = {found or backend_of_class(cls) for cls, found in containers.items()}
    backend = backends.pop() if len(backends) == 1 else None
    return None if backend is None else backend.sparse


def sparse_side(x: Any) -> SparseBackend | None:
    """The sparse backend of x if x is a sparse container, else None."""
    backend = backend_of_container(type(x))
    if backend is None:
        backend = backend_of_class(type(x))
        if backend is None or not backend.has_sparse_layouts:
            return None
    return backend.sparse if backend.sparse.holds(x) else None


def refused_class(cls: type, backend: Backend) -> Gap | None:
    """Why a subclass of the library's array classes is not supported (``np.matrix``); None if it is."""
    refused: dict[str, Gap] = getattr(backend.module, "REFUSED_TYPES", {})
    names = (f"{base.__module__.partition('.')[0]}.{base.__qualname__}" for base in cls.__mro__)
    return next((refused[name] for name in names if name in refused), None)


def refusal(x: Any) -> Gap | None:
    """Why an array of a known library is not supported; None if it is."""
    backend = _by_array_type.get(type(x))
    if backend is None:
        backend = next((b for _, b in _libraries_of(type(x)) if isinstance(x, b.module.ARRAY_TYPES)), None)
        if backend is None:
            return None
        _by_array_type[type(x)] = backend
    return refused_class(type(x), backend) or backend.functions["refuse"](x)


def register_conforming(x: Any) -> Backend | None:
    """The backend of an object. A class with ``__array_namespace__`` is registered for the generic functions."""
    found = backend_of_class(type(x))
    conforms = hasattr(type(x), "__array_namespace__")  # of the class: np.float32 has it too, and is not an array
    if found is None and conforms and refusal(x) is None:
        found = generic_backend(x.__array_namespace__())
        _by_class[type(x)] = found
    return found


def generic_backend(namespace: ModuleType) -> Backend:
    """The backend of a library without an entry point, named by its namespace."""
    name = namespace.__name__
    if name not in _generic:
        module = ModuleType(f"{name} (the generic functions)")
        vars(module).update(NAMESPACE=namespace, ARRAY_TYPES=(type(namespace.empty((0,))),))
        with building:
            if name not in _generic:
                _generic[name] = Backend(name, module)
        for cls in module.ARRAY_TYPES:
            _by_class.setdefault(cls, _generic[name])
    return _generic[name]


def backend_by_namespace(namespace: ModuleType) -> Backend:
    """The backend of a namespace module, such as ``numpy``, ``array_api_compat.torch`` or ``array_api_strict``."""
    for backend in (*by_module.values(), *_generic.values()):
        if namespace in (backend.namespace, backend.module.NAMESPACE):
            return backend
    root = namespace.__name__.removeprefix("array_api_compat.").partition(".")[0]
    if root in entry_points():
        return backend_by_name(root)
    if not hasattr(namespace, "__array_namespace_info__"):
        raise BackendNotFound(f"module {namespace.__name__} is not a namespace of the array API standard.")
    return generic_backend(namespace)


def backend_for(library: Any) -> Backend:
    """The backend of a library that is given by a name, a backend, a namespace module, an array or a container."""
    if isinstance(library, Backend):
        return library
    if isinstance(library, str):
        return backend_by_name(library)
    if isinstance(library, ModuleType):
        return backend_by_namespace(library)
    return backend_of_container(type(library)) or backend_of(library)


def backend_of(x: Any) -> Backend:
    """The backend of an array, by its class or, if that does not determine it, by the array itself.

    Raises
    ------
    BackendNotFound, Unsupported
        x is not an array, or is not supported.
    """
    found = register_conforming(x)
    gap = refusal(x)
    if gap is not None:
        raise Unsupported(str(gap))
    if found is None:
        raise BackendNotFound(f"{describe_class(type(x))} is not an array of a known library. Instead: xo.asarray(x)")
    return refined(found, x)


def refined(backend: Backend, x: Array) -> Backend:
    """The backend of this array, if its class does not determine it: XLA tensors share the class of others."""
    name = backend.functions["refine"](x)
    return backend if name is None else backend_by_name(name)


def describe_class(cls: type) -> str:
    """The name of a class, for errors."""
    return cls.__name__ if cls.__module__ == "builtins" else f"{cls.__module__}.{cls.__qualname__}"


def backend_by_dtype_owner(name: str) -> Backend:
    """The backend of a name that `dtype_backend_name` returned: of an entry point, or of a namespace module."""
    return backend_by_name(name) if name in entry_points() else generic_backend(sys.modules[name])


class BackendStatus(Record):
    """Whether a backend can be used; if not, why, and what to do."""

    name: str
    code: str
    backend: Backend | None = None
    reason: str = ""
    hint: str = ""

    @property
    def available(self) -> bool:
        """Whether the code is "ok". The others are "not-installed", "broken" and "no-device"."""
        return self.code == "ok"


def statuses() -> list[BackendStatus]:
    """The status of every backend that has an entry point."""
    return [status(name) for name in names()]


def status(name: str) -> BackendStatus:
    """The status of the backend of that name. Imports that backend's library only."""
    entry = entry_points()[name]
    try:
        backend = load(entry)
        devices = backend.devices()
    except ModuleNotFoundError as error:
        reason = f"not installed (no module {error.name})"
        return BackendStatus(name, "not-installed", None, reason, install_hint(entry))
    except InvalidBackend as error:
        return BackendStatus(name, "broken", None, str(error), f"Fix or uninstall {distribution_name(entry)}.")
    except Exception as error:  # a broken library may raise anything at import
        return BackendStatus(name, "broken", None, f"cannot be imported: {error}", install_hint(entry))
    if devices:
        return BackendStatus(name, "ok", backend)
    hint = f"{name} needs an accelerator and its driver."
    return BackendStatus(name, "no-device", backend, "no device that it can use", hint)
