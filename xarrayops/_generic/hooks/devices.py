"""Devices: their memory and names, and the versions of the library."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from types import ModuleType
from typing import Any

from xarrayops._generic import library
from xarrayops.errors import available_names
from xarrayops.plugin.arrays import Array, Device


def versions(xp: ModuleType) -> dict[str, str]:
    """Versions of the library and of its runtimes (CUDA, cuDNN, HIP), by name."""
    import importlib

    root = library(xp).partition(".")[0]
    return {root: str(getattr(importlib.import_module(root), "__version__", "unknown"))}


def devices(xp: ModuleType) -> list[Device]:
    """The usable devices; the CPU first if there is one."""
    return [Device(str(d), str(d), d) for d in xp.__array_namespace_info__().devices()]


def device_attributes(xp: ModuleType, device: Any, /) -> dict[str, int | str]:
    """The `DEVICE_ATTRIBUTES` of a native device; unknown ones are omitted."""
    return {}  # the standard defines none


def free_bytes(xp: ModuleType, device: Any, /) -> int | None:
    """The bytes of a native device that the library can still allocate; None if unknown."""
    return None  # the standard does not report it


def release_memory(xp: ModuleType, device: Any, /) -> None:
    """Release the memory of a native device that the library caches for reuse, where possible."""


def peak_bytes(xp: ModuleType, device: Any, call: Callable[[], Any], /) -> int | None:
    """The peak memory that a call allocates, in bytes; None if unknown. The call waits for its results."""
    return None  # the standard does not report it


def as_device(xp: ModuleType, device: Any, /) -> Any:
    """The native device for a name such as "cpu" or "cuda:1", or a native device itself.

    For an unknown name it raises a ValueError whose message lists the valid names; the caller adds a prefix. `as_dtype`
    does the same.
    """
    known = xp.__array_namespace_info__().devices()
    for candidate in known:
        if candidate == device or str(candidate) == device:
            return candidate
    if device == "cpu" and len(known) == 1:
        return known[0]
    raise ValueError(available_names(device, map(str, known)))


def device(xp: ModuleType, x: Array, /) -> Any:
    """The native device of x; None if x has none yet (a tracer)."""
    return x.device


def device_key(xp: ModuleType, x: Array, /) -> Hashable:
    """The device of x, which has values, in the keys of caches: hashable, and found quickly."""
    device = x.device
    return device if isinstance(device, Hashable) else str(device)


def to_device(xp: ModuleType, x: Array, device: Any, /) -> Array:
    """x on that native device. Law: ``to_device(x, device(x)) is x``."""
    return x if x.device == device else x.to_device(device)
