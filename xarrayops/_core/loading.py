"""From the name of a backend to the backend, or to the reason why it cannot be used here."""

from __future__ import annotations

from importlib import import_module
from threading import RLock
from typing import TYPE_CHECKING, NamedTuple

from xarrayops._core.backend import Backend
from xarrayops._core.entry_points import backend_name, distribution_name, entry_points, install_hint, names, unknown
from xarrayops.errors import BackendNotFound, InvalidBackend

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

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
        return BackendStatus(name, "broken", None, str(error), f"Mend or uninstall {distribution_name(entry)}.")
    except Exception as error:  # a broken library may raise anything at import
        return BackendStatus(name, "broken", None, f"cannot be imported: {error}", install_hint(entry))
    if devices:
        return BackendStatus(name, "ok", backend)
    hint = f"{name} needs an accelerator and its driver."
    return BackendStatus(name, "no-device", backend, "no device that it can use", hint)
