"""Which backend serves a class, an array, a name or a namespace; a backend is loaded when it is first asked for.

The module that an entry point names decides by ``ARRAY_TYPES`` which classes it serves. A class without an entry point
is served by the generic functions, through ``__array_namespace__``.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from importlib import import_module
from threading import RLock
from types import ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple

from xarrayops._core.backend import Backend as Backend
from xarrayops._core.entry_points import (
    GROUP as GROUP,
    backend_name as backend_name,
    distribution_name as distribution_name,
    dtype_backend_name as dtype_backend_name,
    entry_points as entry_points,
    install_hint as install_hint,
    names as names,
    unknown as unknown,
)
from xarrayops._protocol.types import Array, Gap
from xarrayops.errors import BackendNotFound, InvalidBackend, Unsupported

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

    from xarrayops._core.sparse_backend import SparseBackend

SCALARS = frozenset({bool, int, float, complex})
"""Python's own numbers, which belong to no library. Exactly these: a NumPy scalar is a NumPy array."""
_by_class: dict[type, Backend] = {}
_generic: dict[str, Backend] = {}
"""The backends of libraries without an entry point, by the name of the namespace."""
by_module: dict[str, Backend] = {}
"""What is loaded, by the name of the backend module."""
building = RLock()
"""Held while a backend is built, so that all threads get the same one. What is built already is found without it."""


def load(entry: EntryPoint) -> Backend:
    """The backend behind an entry point; imported, validated and built once."""
    if entry.value not in by_module:
        from xarrayops._core.validation import validate  # it needs inspect, a quarter of the time of `import xarrayops`

        module = import_module(entry.value)  # not under our lock: another thread may hold Python's lock on the module
        with building:
            if entry.value not in by_module:
                validate(module)
                by_module[entry.value] = Backend(backend_name(entry), module)
    return by_module[entry.value]


def backend_by_name(name: str) -> Backend:
    """The backend of that name.

    Raises
    ------
    BackendNotFound
        No backend has the name, or its library cannot be imported; the message says how to get it.
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
            f"backend {name!r} needs a library that is missing: {error}. {install_hint(entry)}"
        ) from error
    except Exception as error:  # a broken library may raise anything at import
        raise BackendNotFound(f"backend {name!r} cannot be imported: {error}. {install_hint(entry)}") from error


def backend_of_class(cls: type) -> Backend | None:
    """The backend that serves a class; None if no entry point does and none was admitted for the generic functions."""
    found = _by_class.get(cls)
    if found is None and cls not in SCALARS and cls is not type(None):
        found = _served_by_entry_point(cls)
        if found is not None:
            _by_class[cls] = found
    return found


def _served_by_entry_point(cls: type) -> Backend | None:
    for base in cls.__mro__:
        root = base.__module__.partition(".")[0]
        entry = entry_points().get(root) if root in sys.modules else None
        if entry is not None:
            backend = load(entry)
            if issubclass(cls, backend.module.ARRAY_TYPES) and refused_class(cls, backend) is None:
                return backend
    return None


def backend_of_container(cls: type) -> Backend | None:
    """The backend whose sparse containers bear a class of their own, this one; None if there is none."""
    for base in cls.__mro__:
        root = base.__module__.partition(".")[0]
        entry = entry_points().get(root) if root in sys.modules else None
        if entry is not None:
            backend = load(entry)
            package = backend.sparse_classes
            if package and f"{base.__module__}.".startswith(f"{package}."):
                return backend
    return None


def sparse_backend_of(classes: Iterable[type]) -> SparseBackend | None:
    """The sparse side of the one backend of some classes, a container's among them; None if there is no such one."""
    containers = {cls: backend_of_container(cls) for cls in classes}
    if not any(containers.values()):
        return None
    backends = {found or backend_of_class(cls) for cls, found in containers.items()}
    backend = backends.pop() if len(backends) == 1 else None
    return None if backend is None else backend.sparse


def sparse_side(x: Any) -> SparseBackend | None:
    """The sparse side of the library of x if x is a sparse container, else None."""
    backend = backend_of_container(type(x))
    if backend is None:
        backend = backend_of_class(type(x))
        if backend is None or not backend.has_sparse_layouts:
            return None
    return backend.sparse if backend.sparse.holds(x) else None


def refused_class(cls: type, backend: Backend) -> Gap | None:
    """Why a subclass of the library's arrays is none that we serve (``np.matrix``); None if we do."""
    refused: dict[str, Gap] = getattr(backend.module, "REFUSED_TYPES", {})
    names = (f"{base.__module__.partition('.')[0]}.{base.__qualname__}" for base in cls.__mro__)
    return next((refused[name] for name in names if name in refused), None)


def refusal(x: Any) -> Gap | None:
    """Why an object that its library calls an array is none that we serve, or None."""
    for base in type(x).__mro__:
        entry = entry_points().get(base.__module__.partition(".")[0])
        if entry is not None and base.__module__.partition(".")[0] in sys.modules:
            backend = load(entry)
            if isinstance(x, backend.module.ARRAY_TYPES):
                return refused_class(type(x), backend) or backend.functions["refuse"](x)
    return None


def register_conforming(x: Any) -> Backend | None:
    """The backend of an object, admitting its class for the generic functions if it has ``__array_namespace__``."""
    found = backend_of_class(type(x))
    conforms = hasattr(type(x), "__array_namespace__")  # asked of the class: np.float32 has the method, and is no array
    if found is None and conforms and refusal(x) is None:
        found = generic_backend(x.__array_namespace__())
        _by_class[type(x)] = found
    return found


def generic_backend(namespace: ModuleType) -> Backend:
    """The backend of a library that has no entry point, named by its namespace."""
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
        raise BackendNotFound(f"module {namespace.__name__} is no namespace of the array API standard.")
    return generic_backend(namespace)


def backend_of(x: Any) -> Backend:
    """The backend of an array, by its class and, where that does not determine it, by the array itself.

    Raises
    ------
    BackendNotFound, Unsupported
        It is no array, or one that we do not serve.
    """
    found = register_conforming(x)
    gap = refusal(x)
    if gap is not None:
        raise Unsupported(str(gap))
    if found is None:
        raise BackendNotFound(f"{describe_class(type(x))} is no array of a known library. Make it one: xo.asarray(x).")
    return refined(found, x)


def refined(backend: Backend, x: Array) -> Backend:
    """The backend of this very array, where its class does not determine it: an XLA tensor's."""
    name = backend.functions["refine"](x)
    return backend if name is None else backend_by_name(name)


def describe_class(cls: type) -> str:
    """A class as an error shows it."""
    return cls.__name__ if cls.__module__ == "builtins" else f"{cls.__module__}.{cls.__qualname__}"


def backend_by_dtype_owner(name: str) -> Backend:
    """The backend that `dtype_backend_name` named: of an entry point, or of a namespace module without one."""
    return backend_by_name(name) if name in entry_points() else generic_backend(sys.modules[name])


class BackendStatus(NamedTuple):
    """Whether a backend can be used here, and if not, why and what would help."""

    name: str
    code: str
    backend: Backend | None = None
    reason: str = ""
    hint: str = ""

    @property
    def available(self) -> bool:
        """Whether the code is "ok", and not "not-installed", "broken" or "no-device"."""
        return self.code == "ok"


def statuses() -> list[BackendStatus]:
    """Every backend that an entry point names."""
    return [status(name) for name in names()]


def status(name: str) -> BackendStatus:
    """Whether the backend of that name can be used here; imports no library but its own."""
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
