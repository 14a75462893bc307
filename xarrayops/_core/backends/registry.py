"""The loaded backends and the examined classes. Use `find` to look up a backend.

A backend is loaded at its first use. The module of an entry point lists the classes that it serves in ``ARRAY_TYPES``.
The generic functions serve classes without an entry point, through ``__array_namespace__``.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from importlib import import_module
from threading import RLock
from types import ModuleType
from typing import Any

from xarrayops._core.backends import known_bugs
from xarrayops._core.backends.backend import Backend as Backend
from xarrayops._core.backends.entry_points import (
    backend_name,
    distribution_name,
    entry_points as entry_points,
    install_hint as install_hint,
    module_of as module_of,
    names as names,
    unknown as unknown,
)
from xarrayops._core.backends.resolved import enter
from xarrayops._surface import BACKENDS
from xarrayops.errors import BackendNotFound, InvalidBackend
from xarrayops.plugin.arrays import Gap, Record

by_class: dict[type, Backend] = {}
"""The backends by array class, for classes that were examined or registered."""
by_container: dict[type, Backend | None] = {}
"""The backends by sparse container class; None for other examined classes."""
by_name: dict[str, Backend] = {}
by_module: dict[str, Backend] = {}
"""The loaded backends, by the name of the backend module."""
_generic: dict[int, Backend] = {}
"""The backends without an entry point, by the identity of their namespace, which they keep alive."""
_other_classes: dict[type, Gap | None] = {}
"""The classes that no backend serves, with the reason if their library rejects them."""
MEMORY: tuple[Any, ...] = (by_class, by_container, by_name, by_module, _generic, _other_classes)
"""All caches of the registry, for tests that install other entry points."""
on_load: list[Callable[[Backend], None]] = []
"""Callbacks that are called with each newly loaded backend."""
building = RLock()
"""Held while a backend is built, so that all threads get the same one. A built backend is found without the lock."""


def load(name: str) -> Backend:
    """The backend of a backend module; imported, validated and built once."""
    if name not in by_module:
        module = import_module(name)  # outside our lock: another thread may hold Python's import lock
        with building:
            if name not in by_module:
                if name not in BACKENDS.values():  # the tests validate our own
                    from xarrayops._core.backends.validation import validate  # slow: it imports inspect

                    validate(module)
                by_module[name] = Backend(backend_name(name), module)
                for notify in on_load:
                    notify(by_module[name])
                known_bugs.warn(by_module[name])
    return by_module[name]


def load_named(name: str) -> Backend:
    """The backend of that name, as `find.named` returns it."""
    module = module_of(name)
    if module is None:
        raise unknown(name)
    try:
        backend = load(module)
    except (InvalidBackend, Warning):  # a filter may turn the warning of known bugs into an error
        raise
    except ModuleNotFoundError as error:
        raise BackendNotFound(
            f"backend {name!r} needs a library that is not installed: {error}. {install_hint(entry_points()[name])}"
        ) from error
    except Exception as error:  # a broken library may raise any error at import
        raise BackendNotFound(
            f"backend {name!r} cannot be imported: {error}. {install_hint(entry_points()[name])}"
        ) from error
    enter(by_name, name, backend)
    return backend


def load_imported() -> None:
    """Load the backends whose libraries are imported. Backends that cannot be loaded are omitted."""
    for name, entry in entry_points().items():
        if name in sys.modules and entry.value not in by_module:
            with suppress(Exception):  # a broken library may raise any error
                load(entry.value)


def examine(cls: type) -> Backend | None:
    """The backend that serves a class; None if it has no entry point and is not registered."""
    if cls in by_class or cls in _other_classes:
        return by_class.get(cls)
    gap = None
    for _, backend in _libraries_of(cls):
        if issubclass(cls, backend.module.ARRAY_TYPES):
            gap = backend.functions["refuse_class"](cls)
            if gap is None:
                enter(by_class, cls, backend)
                return backend
    _other_classes[cls] = gap
    return None


def examine_container(cls: type) -> Backend | None:
    """The backend whose library defines this class of sparse containers, or None."""
    if cls in by_container:
        return by_container[cls]
    libraries = ((base, backend) for base, backend in _libraries_of(cls) if backend.sparse_classes)
    found = next((b for base, b in libraries if f"{base.__module__}.".startswith(f"{b.sparse_classes}.")), None)
    enter(by_container, cls, found)
    return found


def _libraries_of(cls: type) -> Iterator[tuple[type, Backend]]:
    """The base classes that belong to imported libraries, each with the backend of its library."""
    for base in cls.__mro__:
        root = base.__module__.partition(".")[0]
        module = module_of(root) if root in sys.modules else None
        if module is not None:
            yield base, load(module)


def refused_class(cls: type) -> Gap | None:
    """Why a class of a known library is not supported; None for classes that are supported or unknown."""
    return None if examine(cls) is not None else _other_classes[cls]


def register(x: Any) -> Backend | None:
    """Register the class of an object that has ``__array_namespace__`` for the generic functions; None for others."""
    cls = type(x)
    # test the class: np.float32 has the attribute too but is not an array
    if hasattr(cls, "__array_namespace__") and refused_class(cls) is None:
        by_class[cls] = generic_backend(x.__array_namespace__())
    return by_class.get(cls)


def generic_backend(namespace: ModuleType) -> Backend:
    """The backend of a library without an entry point, named by its namespace."""
    key = id(namespace)
    if key not in _generic:
        module = ModuleType(f"{namespace.__name__} (the generic functions)")
        vars(module).update(NAMESPACE=namespace, ARRAY_TYPES=(type(namespace.empty((0,))),))
        with building:
            if key not in _generic:
                _generic[key] = Backend(namespace.__name__, module)
        for cls in module.ARRAY_TYPES:
            by_class.setdefault(cls, _generic[key])
    return _generic[key]


def of_root(name: str) -> Backend:
    """The backend of the name of an entry point or of an imported namespace module."""
    return load_named(name) if module_of(name) else generic_backend(sys.modules[name])


def of_namespace(namespace: ModuleType) -> Backend:
    """The backend of a namespace module, such as ``numpy``, ``array_api_compat.torch`` or ``array_api_strict``.

    A module is a namespace of the library whose arrays it makes, whatever its name: packages contain copies of
    array-api-compat under names of their own.
    """
    for backend in (*by_module.values(), *_generic.values()):
        if namespace in (backend.namespace, backend.module.NAMESPACE):
            return backend
    name = namespace.__name__
    if sys.modules.get(name) is namespace and module_of(name):  # the module jax is the library, not a namespace
        return load_named(name)
    if not hasattr(namespace, "__array_namespace_info__"):
        raise BackendNotFound(f"module {name} is not a namespace of the array API standard.")
    try:
        x = namespace.empty((0,))
    except Exception as error:  # CuPy without a GPU raises an error of its own
        raise BackendNotFound(f"module {name} cannot make an array: {error}") from error
    return examine(type(x)) or register(x) or generic_backend(namespace)


def describe_class(cls: type) -> str:
    """The name of a class, for errors."""
    return cls.__name__ if cls.__module__ == "builtins" else f"{cls.__module__}.{cls.__qualname__}"


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
        backend = load(entry.value)
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
