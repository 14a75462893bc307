"""Devices of CuPy: names, the device of an array, moves between devices, and the guard that makes a device current."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext, suppress
from typing import Any

import cupy
from cupy.cuda import runtime

from xarrayops.errors import available_names
from xarrayops.plugin import Array, Device

_KIND = "rocm" if runtime.is_hip else "cuda"
_ATTRIBUTES = {
    "multiprocessors": ("cudaDevAttrMultiProcessorCount", 1),
    "clock_hz": ("cudaDevAttrClockRate", 1000),
    "memory_clock_hz": ("cudaDevAttrMemoryClockRate", 1000),
    "memory_bus_bits": ("cudaDevAttrGlobalMemoryBusWidth", 1),
    "cache_bytes": ("cudaDevAttrL2CacheSize", 1),
}
_HERE: AbstractContextManager[Any] = nullcontext()


def versions() -> dict[str, str]:
    """The versions of CuPy, of the runtime in its wheel, and of the newest runtime that the driver supports."""
    found = {"cupy": str(cupy.__version__)}
    for name, query in ((_KIND, runtime.runtimeGetVersion), ("driver", runtime.driverGetVersion)):
        try:
            number = query()
        except runtime.CUDARuntimeError:
            continue
        if number:  # the version is 0 without a driver
            found[name] = str(number) if runtime.is_hip else f"{number // 1000}.{number % 1000 // 10}"
    return found


def devices() -> list[Device]:
    """None, rather than an error, without a driver or a device."""
    return [Device(_KIND, f"{_KIND}:{i}", cupy.cuda.Device(i), _label(i)) for i in range(_count())]


def device_attributes(device: Any, /) -> dict[str, int | str]:
    """The attributes, read one by one: the properties have no clock rates from CUDA 13 on. Clock rates are in kHz."""
    major, minor = device.compute_capability[:-1], device.compute_capability[-1]
    found: dict[str, int | str] = {"capability": f"{major}.{minor}"}
    with suppress(runtime.CUDARuntimeError):  # a full device has no room for a context
        found["memory_bytes"] = int(device.mem_info[1])
    for name, (attribute, unit) in _ATTRIBUTES.items():
        try:
            value = runtime.deviceGetAttribute(getattr(runtime, attribute), device.id)
        except (AttributeError, runtime.CUDARuntimeError):
            continue
        if value:
            found[name] = value * unit
    return found


def as_device(device: Any, /) -> Any:
    """CuPy's Device accepts only numbers, and raises only when the device is used."""
    if isinstance(device, cupy.cuda.Device):
        index = device.id
    else:
        kind, _, number = str(device).partition(":")
        index = -1
        if kind == _KIND and _count():
            index = int(number) if number.isdecimal() else runtime.getDevice() if device == _KIND else -1
    if 0 <= index < _count():
        return device if isinstance(device, cupy.cuda.Device) else cupy.cuda.Device(index)
    if not _count():
        raise ValueError("there is no driver or no accelerator")
    raise ValueError(available_names(device, (f"{_KIND}:{i}" for i in range(_count()))))


def device_key(x: Array, /) -> int:
    """The number of the device: `cupy.cuda.Device` has no hash."""
    return int(x.device.id)


def to_device(x: Array, device: Any, /) -> Array:
    """The copy runs after the work queued for x on its own device, and before later work there.

    CuPy orders the copy only on the stream of the target device.
    """
    if x.device == device:
        return x
    with x.device:
        x = cupy.ascontiguousarray(x)  # here, not within the copy, which nothing would wait for
        ready = cupy.cuda.get_current_stream().record()
    with device:
        stream = cupy.cuda.get_current_stream()
        stream.wait_event(ready)
        moved = x.copy()
        copied = stream.record()
    with x.device:  # the source device may reuse the memory of x as soon as x is released
        cupy.cuda.get_current_stream().wait_event(copied)
    return moved


def is_lazy(x: Array, /) -> bool:
    """CuPy runs eagerly. The generic function would wait for the device."""
    return False


def synchronize(*arrays: Array) -> None:
    """Wait for the current stream of each device that holds one of the arrays, or of the current device."""
    held = {x.device.id for x in arrays} or {runtime.getDevice()}
    for index in held:
        with cupy.cuda.Device(index):
            cupy.cuda.get_current_stream().synchronize()


def _count() -> int:
    try:
        return int(runtime.getDeviceCount())
    except runtime.CUDARuntimeError:
        return 0


def _label(index: int) -> str:
    name = runtime.getDeviceProperties(index)["name"]
    return name.decode() if isinstance(name, bytes) else str(name)


def _on(device: Any) -> AbstractContextManager[Any]:
    """A context that makes a native device current; cheaper than ``with device`` if it is already current."""
    return _HERE if device.id == runtime.getDevice() else device


def free_bytes(device: Any, /) -> int | None:
    """The free memory that the driver reports, plus the unused memory that the pool keeps."""
    with _on(device):
        return int(device.mem_info[0] + cupy.get_default_memory_pool().free_bytes())


def release_memory(device: Any, /) -> None:
    """Free the unused blocks of the pools of device memory and of page-locked memory."""
    with _on(device):
        cupy.get_default_memory_pool().free_all_blocks()
        cupy.get_default_pinned_memory_pool().free_all_blocks()


def peak_bytes(device: Any, call: Callable[[], Any], /) -> int | None:
    """The pool records no peak, so this counts each allocation and each release."""
    with _Count(device.id) as count:
        call()
    return count.peak


class _Count(cupy.cuda.MemoryHook):  # type: ignore[misc]
    """Counts the bytes that this thread allocates from the pool of one device, and their peak."""

    name = "xarrayops-peak"

    def __init__(self, index: int) -> None:
        self.index, self.used, self.peak = index, 0, 0

    def malloc_postprocess(self, **known: int) -> None:
        if known["device_id"] == self.index and known["mem_ptr"]:
            self.used += known["mem_size"]
            self.peak = max(self.peak, self.used)

    def free_postprocess(self, **known: int) -> None:
        if known["device_id"] == self.index:
            self.used -= known["mem_size"]
