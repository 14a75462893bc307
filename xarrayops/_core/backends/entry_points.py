"""The entry points of the group ``xarrayops.backends``. Every backend needs one.

An entry point's name is the root package of the array classes that it may serve; its value is the backend module.
"""

from __future__ import annotations

import os
import sys
from functools import cache
from typing import TYPE_CHECKING, Any

from xarrayops._surface import BACKENDS
from xarrayops.errors import BackendNotFound, InvalidBackend, available_names, install_command

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP = "xarrayops.backends"


@cache
def entry_points() -> dict[str, EntryPoint]:
    """The entry points, by root package."""
    from importlib import metadata

    entries = [*metadata.entry_points(group=GROUP)]
    try:
        metadata.distribution("xarrayops")
    except metadata.PackageNotFoundError:  # frozen, zipped and vendored copies may lack it
        entries += [metadata.EntryPoint(root, module, GROUP) for root, module in BACKENDS.items()]
    found: dict[str, EntryPoint] = {}
    for entry in entries:
        other = found.setdefault(entry.name, entry)
        if other.value != entry.value:
            names = " and ".join(sorted(distribution_name(e) for e in (other, entry)))
            raise InvalidBackend(
                f"both {names} claim the root package {entry.name!r} ({other.value}, {entry.value}). Uninstall one."
            )
    return found


def module_of(root: str) -> str | None:
    """The backend module of a root package; None if it has no entry point.

    It is known for our own backends: to read the entry points of all distributions takes milliseconds.
    """
    if root in BACKENDS:
        return BACKENDS[root]
    entry = entry_points().get(root)
    return None if entry is None else entry.value


def distribution_name(entry: EntryPoint) -> str:
    """The distribution that defines an entry point."""
    return entry.dist.name if entry.dist is not None else entry.value


def backend_name(module: str) -> str:
    """The name of the backend of a module: if several roots share the module, the root named like it."""
    own = module.rpartition(".")[2]
    if BACKENDS.get(own) == module:
        return own
    roots = sorted(root for root, entry in entry_points().items() if entry.value == module)
    return own if own in roots else roots[0]


def names() -> list[str]:
    """The names of all backends with an entry point. No backend is imported."""
    return sorted({backend_name(entry.value) for entry in entry_points().values()})


def install_hint(entry: EntryPoint) -> str:
    """The command that installs the library of a backend: the extras of its distribution that begin with its name."""
    dist, root = entry.dist, backend_name(entry.value).replace("_", "-")
    extras = [] if dist is None else dist.metadata.get_all("Provides-Extra") or []
    fitting = [e for e in extras if e == root] or [e for e in extras if e.startswith(f"{root}-")]
    commands = [install_command(extra, distribution_name(entry)) for extra in fitting]
    return f"Install it: {' or '.join(commands)}" if commands else f"Install {root}."


def unknown(name: str) -> BackendNotFound:
    """The error for a name that no backend has."""
    listing = available_names(str(name).lower(), names()) if names() else "none; is xarrayops installed?"
    source = "XARRAYOPS_BACKEND is set to it. " if os.environ.get("XARRAYOPS_BACKEND") == name else ""
    return BackendNotFound(
        f"xarrayops has no backend {name!r}: {listing}{'' if listing.endswith('?') else '.'} {source}"
        f"For a library without its own backend, pass its namespace module."
    )


def dtype_backend_name(dtype: Any) -> str | None:
    """The name of the backend of a native dtype, by the dtype's class; None if unknown."""
    cls = dtype if isinstance(dtype, type) else type(dtype)
    root = cls.__module__.partition(".")[0]
    served = module_of(root)
    if served is not None:
        return backend_name(served)
    module = sys.modules.get(root)
    return root if module is not None and hasattr(module, "__array_api_version__") else None
