"""Exchange: the memory of JAX arrays for other libraries, and the memory that JAX can import."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from ctypes import addressof, c_char
from functools import cache, partial
from operator import attrgetter as _attrgetter
from typing import Any

import jax
import numpy as np

from xarrayops.errors import ExchangeError
from xarrayops.plugin import Array, Memory, Queue, compact_strides
from xarrayops.plugin.dtypes import dtype_refusal
from xarrayops.plugin.host import permute, views
from xarrayops_backends.jax import _shards
from xarrayops_backends.jax._devices import _index, _kind, _natives
from xarrayops_backends.jax._dtypes import _CONFIG, _HALVES, _NATIVE, _available, as_dtype, dtype_name

_ALIGNMENT = 64
"""The byte alignment that XLA needs to alias host memory; it silently copies other host memory."""
_DEVICE_ALIGNMENT = 16
"""The byte alignment of GPU arguments of compiled programs: kEntryParameterAlignBytes in XLA's backend_configs."""
_SHARED = {name: native for name, native in _NATIVE.items() if native.type.__module__ == "numpy"}
"""Dtypes that NumPy exports by DLPack and JAX imports unchanged; some need the 64-bit types enabled."""
_NARROW, _WIDE = (frozenset(n for name, n in _SHARED.items() if (name in _HALVES) is wide) for wide in (False, True))


def memory(x: Array, /) -> Memory | None:
    """The buffer of an array on one device; None for a tracer and for a sharded array, which has several buffers.

    The address is None until the values are computed: JAX would wait for them and hold the interpreter lock.
    """
    if isinstance(x, jax.core.Tracer):
        return None
    if x.is_deleted():
        raise ExchangeError("x was deleted, or donated to a function. Instead: make it again, or keep a copy of it")
    if not x.is_fully_addressable or len(x.devices()) != 1:
        return None
    (device,) = x.devices()
    if x.sharding.memory_kind not in (None, device.default_memory().kind):
        return None  # a GPU's array may be in host memory
    if not isinstance(x.dtype, np.dtype):
        return None  # random keys
    layout = x.format.layout
    if layout is None or layout.tiling:
        return None
    # The position of axes of length 1 is arbitrary.
    order = [axis for axis in layout.major_to_minor if x.shape[axis] > 1]
    if order != sorted(order) and 0 not in x.shape:
        return None  # NumPy and DLPack get only a copy of such an array
    try:
        pointer = x.unsafe_buffer_pointer() if x.is_ready() else None
    except Exception:  # without addresses, each platform plug-in raises its own exception
        return None
    itemsize = x.dtype.itemsize
    return Memory(
        dtype=dtype_name(x.dtype) or str(x.dtype),
        shape=x.shape,
        strides=compact_strides(x.shape, itemsize),
        itemsize=itemsize,
        pointer=pointer,
        device=_kind(device),
        index=0 if device.platform == "cpu" else _index(device),
        immutable=True,
    )


def export_refusal(x: Array, /) -> str | None:
    """Refuse tracers, which have no values under a transformation, and random keys, which are not numbers."""
    if isinstance(x, jax.core.Tracer):
        return "x is a tracer: it has no values inside jax.jit, grad or vmap. Instead: convert outside of them"
    if not isinstance(x.dtype, np.dtype):
        return "x has random keys, which are not numbers. Instead: convert jax.random.key_data(x)"
    return None


def import_refusal(dtype: str, /) -> str | None:
    """Refuse 64-bit dtypes unless jax_enable_x64 is set, because JAX would silently narrow them."""
    return dtype_refusal("JAX", lambda name: _available(as_dtype(name)), dtype)


def alias_refusal(memory: Memory, /, *, forced: bool) -> str | None:
    """XLA aliases compact, aligned, writable memory; on GPUs, unaligned memory fails at its first use."""
    if import_refusal(memory.dtype) is not None:
        return f"memory of {memory.dtype}, a byte order that JAX lacks"
    if not memory.exported:
        return f"{memory.dtype}, which its library does not export by DLPack"
    if memory.readonly:
        return "read-only memory, which JAX refuses (jax#40789)"
    if not memory.is_compact:
        return "strides that are not compact, which JAX refuses"
    boundary = _ALIGNMENT if memory.device == "cpu" else _DEVICE_ALIGNMENT
    if not memory.is_aligned(boundary):
        return f"not {boundary}-byte aligned"
    if memory.device not in _kinds():
        return f"JAX cannot see memory of device {memory.device}"
    return None


@cache
def _kinds() -> frozenset[str]:
    return frozenset(map(_kind, _natives()))


def alias(x: Any, memory: Memory, host: Callable[[], Any], /) -> Array:
    """Alias host memory through NumPy, and device memory by DLPack without a copy.

    DLPack is not used for host memory, because JAX would treat pinned host memory as GPU memory.
    """
    return _shared(host()) if memory.device == "cpu" else jax.dlpack.from_dlpack(x, copy=False)


def exporting(x: Array, /) -> AbstractContextManager[Any]:
    """Wait for the values of arrays in host memory; on other devices, streams order the work."""
    if all(device.platform == "cpu" for device in x.devices()):
        x.block_until_ready()
    return nullcontext()


def packed(x: Array, /) -> Array:
    """A copy in the device's default memory, also if x is in host memory of that device."""
    (device,) = x.devices()
    own = device.default_memory().kind
    in_own = x.sharding.memory_kind in (None, own)
    return jax.numpy.array(x, copy=True) if in_own else jax.device_put(x, x.sharding.with_memory_kind(own))


def queue(x: Array, /) -> Queue | None:
    """The queue of a device, which runs work in submission order. On the CPU, XLA keeps aliased memory alive."""
    (device,) = x.devices()
    return None if device.platform == "cpu" else _queue(device)


@cache
def _queue(device: Any) -> Queue:
    return Queue(None, lambda: False, partial(_mark, device))


def _mark(device: Any) -> Callable[[], bool]:
    """Submit a tiny computation, which finishes after all work that was submitted before it."""
    compiled, zero = _marker(device)
    return compiled(zero).is_ready


@cache
def _marker(device: Any) -> tuple[Any, Array]:
    """Compiled once: a mark must not trace or transfer anything, which a mesh or a transfer guard could forbid."""
    zero = jax.device_put(np.int32(0), device)
    return jax.jit(lambda v: v + 1).lower(zero).compile(), zero


def tie(x: Array, owner: object, /) -> Array:
    """Keep the owner alive as long as x. Other arrays that share the buffer (from `jax.device_put`) do not keep it."""
    weakref.finalize(x, _nothing, owner).atexit = False
    return x


def _nothing(owner: object) -> None:
    """Do nothing. The finalizer's reference to the owner ends with this call."""


def _shared(a: Any) -> Array:
    """A JAX array that shares the memory of an aligned NumPy array, committed to the first CPU.

    `jax.make_array_from_callback` takes half the time of `jax.device_put`, and has an array under a transformation too.
    A transfer guard refuses it, but not `jax.device_put`, which returns a tracer under a transformation.
    benchmarks/peers/adopting.py compares these and other ways. NumPy's DLPack is not used: a thread of XLA may release
    its memory, then needs the interpreter lock, and at the end of a program this aborts the process.
    """
    try:
        return jax.make_array_from_callback(a.shape, _on_host(), lambda _: a)
    except jax.errors.JaxRuntimeError:
        x = jax.device_put(a, _host(), may_alias=True)
        return jax.dlpack.from_dlpack(a, copy=False) if isinstance(x, jax.core.Tracer) else x


@cache
def _on_host() -> Any:
    return jax.sharding.SingleDeviceSharding(_host())


@cache
def _host() -> Any:
    return _natives()[0]


def try_from_numpy(a: Any, /) -> Array | None:
    """Alias compact, aligned memory, or return None. The buffer protocol gives the address six times as fast."""
    if not a.flags.carray or not (a.dtype in _NARROW or (a.dtype in _WIDE and _CONFIG.jax_enable_x64)):
        return None
    try:
        aligned = addressof(c_char.from_buffer(a)) % _ALIGNMENT == 0
        return _shared(a) if aligned else None
    except (BufferError, ValueError, TypeError, RuntimeError):
        return None


def try_as_numpy(x: Array, /) -> Any:
    """JAX's own read-only view of an array in the memory of one CPU device, or None."""
    try:
        device = x.device
        if device.platform != "cpu" or x.sharding.memory_kind not in _default_memories(device):
            return None
        seen = np.asarray(x)  # it waits for the values
        is_view = seen.flags.c_contiguous and seen.__array_interface__["data"][0] == x.unsafe_buffer_pointer()
    except Exception:  # a tracer, an array on several devices, random keys, a deleted array: the plan gives the reason
        return None
    return seen if is_view else None


@cache
def _default_memories(device: Any) -> tuple[str | None, ...]:
    return None, device.default_memory().kind


def to_numpy(x: Array, /) -> Any:
    """A read-only view on the CPU, otherwise a copy."""
    return np.asarray(x)


def from_numpy(a: Any, device: Any, /) -> Array:
    """A copy that owns its memory and is committed to the device, by default the first CPU.

    On the first CPU, xarrayops copies and JAX aliases the copy, which takes half the time of JAX's own copy.
    """
    a = a.astype(a.dtype.newbyteorder("="), copy=False)
    device = _host() if device is None else device
    if isinstance(device, jax.Device) and (device.platform, device.id) == ("cpu", 0):
        copied = views.aligned(a.shape, a.dtype)
        permute.copy(a, copied)
        taken = try_from_numpy(copied)
        if taken is not None:
            return taken
    return jax.device_put(a, _shards.fitting(device, a.shape), may_alias=False)


size = _attrgetter("size")
form = _attrgetter("shape", "dtype", "sharding")
