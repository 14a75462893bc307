"""Which function creates an array, and on which device: by ``like=``, by ``backend=``, or by the default."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from xarrayops._core import default_backend, registry
from xarrayops._core.dispatch import backend_named, backend_of_class
from xarrayops._core.registry import Backend
from xarrayops.errors import BackendNotFound


def creation(verb: str, like: Any, name: str | None, dtype: Any, device: Any) -> tuple[Callable[..., Any], Any, Any]:
    """How to create an array: the function, the native dtype and the native device.

    ``like`` gives the library and the device, ``name`` the library. Without both, `xarrayops.use` decides.
    """
    refuse_both(verb, like, name)
    if like is None and name is None:
        name, default_device = default_backend.current()
        device = default_device if device is None else device
    backend = creation_backend(like, name)
    if device is not None:
        device = backend.native_device(device)
    elif like is not None:
        device = backend.functions["device"](like)
    if dtype is not None:
        dtype = backend.native_dtype(dtype)
    return backend.functions[verb], dtype, device


def refuse_both(verb: str, like: Any, name: str | None) -> None:
    """Raise if both ``like=`` and ``backend=`` are given."""
    if like is not None and name is not None:
        raise TypeError(f"xo.{verb} takes like= or backend=, not both.")


def creation_backend(like: Any, name: str | None) -> Backend:
    """The backend that creates the array: that of a name, or of an array's class."""
    if name is not None:
        return backend_named(name)
    backend = backend_of_class(type(like))
    if backend is None:
        backend = registry.register_conforming(like)
    if backend is None:
        kind = registry.describe_class(type(like))
        raise BackendNotFound(f"like= must be an array of a known library; it is a {kind}.")
    return backend
