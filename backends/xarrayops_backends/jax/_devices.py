"""The devices of JAX, the device of an array, synchronisation, and the inspection API."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from threading import local
from typing import Any

import jax
import jax.numpy as jnp
from jax.sharding import Sharding
from jaxlib import version as jaxlib_version

from xarrayops.errors import available_names
from xarrayops.plugin import Array, Device
from xarrayops_backends.jax import _shards
from xarrayops_backends.jax._dtypes import _CONFIG

_Info: Any = type(jnp.__array_namespace_info__())


@cache
def _kind(device: Any) -> str:
    """The kind of a device. JAX calls both CUDA and ROCm "gpu"; the client's version text distinguishes them."""
    if device.platform != "gpu":
        return str(device.platform)
    return "rocm" if "rocm" in device.client.platform_version.lower() else "cuda"


def _index(device: Any) -> int:
    """The number of a device on this host, as in other libraries; its id counts the devices of all processes."""
    return device.id if device.local_hardware_id is None else device.local_hardware_id


def _clients() -> dict[str, Any]:
    """The client of XLA for each platform."""
    from jax.extend import backend  # it imports Pallas, which takes 20 ms

    return backend.backends()


def _natives() -> list[Any]:
    """The devices of every platform that this process can address, CPUs first."""
    return sorted(
        (d for client in _clients().values() for d in client.local_devices()), key=lambda d: d.platform != "cpu"
    )


def versions() -> dict[str, str]:
    """The versions of JAX, of jaxlib, and of the platform of each kind of accelerator."""
    found = {"jax": jax.__version__, "jaxlib": jaxlib_version.__version__}
    for device in _natives():
        if device.platform != "cpu":
            kind = _kind(device)
            found[kind] = device.client.platform_version.splitlines()[-1].removeprefix(kind).strip()
    return found


def devices() -> list[Device]:
    """The devices of every platform, not only of the default platform."""
    return [Device(_kind(d), f"{_kind(d)}:{_index(d)}", d, d.device_kind) for d in _natives()]


def device_attributes(device: Any, /) -> dict[str, int | str]:
    """The attributes of an accelerator; the memory is the part that JAX may use."""
    found = {
        "capability": getattr(device, "compute_capability", None),
        "multiprocessors": getattr(device, "core_count", None),
        "memory_bytes": (device.memory_stats() or {}).get("bytes_limit"),
    }
    return {name: value for name, value in found.items() if value}


def as_device(device: Any, /) -> Any:
    """The device with this name; "gpu" is CUDA or ROCm. A sharding is accepted too."""
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


class _Lowered(local):
    """The platform for which this thread traces programs, and its device; None if unknown until they are lowered."""

    platform: str | None = None
    device: Any = None


_lowered = _Lowered()


@contextmanager
def _lowered_for(platform: str | None, device: Any) -> Iterator[None]:
    """Trace for a platform in this thread."""
    before = _lowered.platform, _lowered.device
    _lowered.platform, _lowered.device = platform, device
    try:
        yield
    finally:
        _lowered.platform, _lowered.device = before


def device(x: Array, /) -> Any:
    """The device of x, or its sharding if it is on several devices; for a tracer None if it is unknown."""
    return _lowered.device if is_lazy(x) else x.device


@cache
def _has_one_device() -> bool:
    return len(_natives()) == 1


def device_key(x: Array, /) -> Any:
    """The device or the sharding. `jax.Array.device` takes longer than a look-up of compiled code."""
    sharding = None if _has_one_device() else x.sharding
    return getattr(sharding, "_device", sharding)


def _is_at(x: Array, device: Any) -> bool:
    """Whether x is already on the device. The device of a tracer is unknown: the compiler decides it."""
    return not is_lazy(x) and device in (x.device, x.sharding)


def to_device(x: Array, device: Any, /) -> Array:
    """x itself if it is already on the device; JAX would create a new array."""
    return x if _is_at(x, device) else _shards.placed(x, device)


def is_lazy(x: Array, /) -> bool:
    """Whether x is a tracer. JAX executes asynchronously, but every other array is already being computed."""
    return isinstance(x, jax.core.Tracer)


def _platform_of(*arrays: Array) -> str | None:
    """The kind of the devices on which XLA will compute, or None if it is unknown until the program is lowered."""
    if any(is_lazy(x) for x in arrays):
        return _lowered.platform
    return _kind(next(iter(arrays[0].devices())))


def _on_platform(
    platform: str | None, *arrays: Any, default: Callable[..., Any], **branches: Callable[..., Any]
) -> Any:
    """What the branch of a platform makes of arrays; if it is unknown, that of the platform of the program.

    A program may be lowered for a platform that this machine does not have.
    """
    if platform is None:
        return jax.lax.platform_dependent(*arrays, default=default, **branches)
    return branches.get(platform, default)(*arrays)


def synchronize(*arrays: Array) -> None:
    """Wait for the values of arrays; tracers are skipped."""
    jax.block_until_ready([x for x in arrays if not is_lazy(x)])  # type: ignore[no-untyped-call]


class __array_namespace_info__(_Info):  # type: ignore[misc]  # noqa: N801 - the standard's name
    """The inspection API, corrected.

    JAX's own lists None as a device, and reports that shapes cannot depend on data, which is true only while tracing.
    """

    def capabilities(self) -> dict[str, Any]:
        """Shapes may depend on data, except while a transformation traces the code."""
        concrete = not is_lazy(jnp.empty(()))
        return {**super().capabilities(), "boolean indexing": concrete, "data-dependent shapes": concrete}

    def default_device(self) -> Any:
        """The device in the option jax_default_device, otherwise the first device of the default platform."""
        configured = _CONFIG.jax_default_device
        return jax.local_devices()[0] if configured is None else as_device(configured)

    def devices(self) -> tuple[Any, ...]:
        """The devices of every platform."""
        return tuple(_natives())


def free_bytes(device: Any, /) -> int | None:
    """The free part of the memory that XLA may use; memory used by other processes is not considered."""
    known = device.memory_stats() or {}
    if not {"bytes_limit", "bytes_in_use"} <= known.keys():
        return None
    return int(known["bytes_limit"] - known["bytes_in_use"])


def peak_bytes(device: Any, call: Callable[[], Any], /) -> int | None:
    """The peak memory of a call.

    XLA counts one peak for the whole process, which cannot be reset. So memory is first allocated up to that peak, and
    the peak of the call is unknown if other libraries have taken that memory.
    """
    known = device.memory_stats() or {}
    if not {"peak_bytes_in_use", "bytes_in_use"} <= known.keys():
        return None
    hidden = known["peak_bytes_in_use"] - known["bytes_in_use"]
    try:
        ballast = jax.block_until_ready(jnp.zeros(-(-hidden // 4), dtype=jnp.float32, device=device))  # type: ignore[no-untyped-call]
    except jax.errors.JaxRuntimeError:  # RESOURCE_EXHAUSTED
        return None
    before = device.memory_stats()["bytes_in_use"]
    call()
    peak = device.memory_stats()["peak_bytes_in_use"]
    del ballast
    return int(peak - before)


def precision_switches() -> dict[str, str]:
    """The default precision of products, and whether 64-bit types are enabled."""
    names = ("jax_default_matmul_precision", "jax_enable_x64")
    return {name: str(getattr(jax.config, name)) for name in names}
