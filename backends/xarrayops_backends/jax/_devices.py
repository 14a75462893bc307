"""Devices of JAX, where arrays are, and what the namespace says about itself."""

from __future__ import annotations

from functools import cache
from typing import Any

import jax
import jax.extend.backend
import jax.numpy as jnp
from jax.sharding import Sharding
from jaxlib import version as jaxlib_version

from xarrayops.errors import available_names
from xarrayops.plugin import Array, Device
from xarrayops_backends.jax._dtypes import _CONFIG

_INFO: Any = jnp.__array_namespace_info__()


@cache
def _kind(device: Any) -> str:
    """JAX calls both CUDA and ROCm "gpu"; the client distinguishes them."""
    if device.platform != "gpu":
        return str(device.platform)
    return "rocm" if "rocm" in device.client.platform_version.lower() else "cuda"


def _index(device: Any) -> int:
    """The number of a device on this host, as other libraries count GPUs; its id counts those of all processes."""
    index: int = device.id if device.local_hardware_id is None else device.local_hardware_id
    return index


def _natives() -> list[Any]:
    """The devices of every platform that this process can address, CPUs first."""
    clients = jax.extend.backend.backends().values()
    return sorted((d for client in clients for d in client.local_devices()), key=lambda d: d.platform != "cpu")


def versions() -> dict[str, str]:
    """JAX, its compiled part, and the platform behind each kind of accelerator."""
    found = {"jax": jax.__version__, "jaxlib": jaxlib_version.__version__}
    for device in _natives():
        if device.platform != "cpu":
            kind = _kind(device)
            found[kind] = device.client.platform_version.splitlines()[-1].removeprefix(kind).strip()
    return found


def devices() -> list[Device]:
    """Those of every platform, not of the default one alone."""
    return [Device(_kind(d), f"{_kind(d)}:{_index(d)}", d, d.device_kind) for d in _natives()]


def device_attributes(device: Any, /) -> dict[str, int | str]:
    """Of accelerators; the memory is what JAX may take of it."""
    found = {
        "capability": getattr(device, "compute_capability", None),
        "multiprocessors": getattr(device, "core_count", None),
        "memory_bytes": (device.memory_stats() or {}).get("bytes_limit"),
    }
    return {name: value for name, value in found.items() if value}


def as_device(device: Any, /) -> Any:
    """The device of a name; "gpu" is whichever kind there is. Shardings are places too."""
    if isinstance(device, Sharding) and len(device.device_set) == 1:
        (device,) = device.device_set
    if isinstance(device, (jax.Device, Sharding)):
        return device
    known = devices()
    for candidate in known:
        platform = candidate.native.platform
        if device in (candidate.name, candidate.kind, platform, f"{platform}:{candidate.native.id}"):
            return candidate.native
    raise ValueError(available_names(device, (d.name for d in known)))


def device(x: Array, /) -> Any:
    """The device, or the sharding of an array that lies on several; a tracer has none."""
    return None if is_lazy(x) else x.device


def _is_at(x: Array, device: Any) -> bool:
    """Whether x lies there already; the compiler, not the tracer, decides where a traced value lies."""
    return not is_lazy(x) and device in (x.device, x.sharding)


def to_device(x: Array, device: Any, /) -> Array:
    """x itself when it is there already, where JAX would make a new array."""
    return x if _is_at(x, device) else jax.device_put(x, device)


def is_lazy(x: Array, /) -> bool:
    """Only tracers: JAX runs ahead of Python, but what it was asked is under way."""
    return isinstance(x, jax.core.Tracer)


def compute(*arrays: Array) -> tuple[Array, ...]:
    """The arrays themselves: JAX computes unasked, and a tracer never holds values."""
    return arrays


def synchronize(*arrays: Array) -> None:
    """Wait for the values; there is nothing to wait for while tracing."""
    jax.block_until_ready([x for x in arrays if not is_lazy(x)])  # type: ignore[no-untyped-call]


class __array_namespace_info__:  # noqa: N801 - the standard's name
    """JAX's own counts None as a device and says that no shape may depend on data, which holds only while tracing."""

    def capabilities(self) -> dict[str, Any]:
        """Shapes may depend on data until a transformation traces the code."""
        concrete = not is_lazy(jnp.empty(()))
        return {**_INFO.capabilities(), "boolean indexing": concrete, "data-dependent shapes": concrete}

    def default_device(self) -> Any:
        """The device that jax_default_device names, else the first of the default platform."""
        configured = _CONFIG.jax_default_device
        return jax.local_devices()[0] if configured is None else as_device(configured)

    def default_dtypes(self, *, device: Any = None) -> dict[str, Any]:
        """Those of 32 bits unless jax_enable_x64 is set."""
        return dict(_INFO.default_dtypes(device=device))

    def devices(self) -> tuple[Any, ...]:
        """Those of every platform."""
        return tuple(_natives())

    def dtypes(self, *, device: Any = None, kind: str | tuple[str, ...] | None = None) -> dict[str, Any]:
        """None of 64 bits unless jax_enable_x64 is set."""
        return dict(_INFO.dtypes(device=device, kind=kind))
