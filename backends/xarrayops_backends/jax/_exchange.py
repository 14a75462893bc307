"""Exchange: how JAX's memory looks to others, and what JAX can take in."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from ctypes import addressof, c_char
from functools import cache, partial
from typing import Any

import jax
import numpy as np

from xarrayops.plugin import Array, Memory, Queue, compact_strides
from xarrayops.plugin.dtypes import dtype_refusal
from xarrayops.plugin.layout import permute, views
from xarrayops_backends.jax._devices import _index, _kind, _natives
from xarrayops_backends.jax._dtypes import _CONFIG, _HALVES, _NATIVE, _available, as_dtype, dtype_name

_ALIGNMENT = 64
"""XLA aliases host memory only where it starts on such a boundary; elsewhere it copies without a word."""
_DEVICE_ALIGNMENT = 16
"""What compiled programs want of their arguments on GPUs: kEntryParameterAlignBytes in XLA's backend_configs."""
_SHARED = {name: native for name, native in _NATIVE.items() if native.type.__module__ == "numpy"}
"""What NumPy hands out by DLPack and JAX takes as it is, some of it only where the 64-bit types are on."""
_NARROW, _WIDE = (frozenset(n for name, n in _SHARED.items() if (name in _HALVES) is wide) for wide in (False, True))


def memory(x: Array, /) -> Memory | None:
    """The buffer of an array on one device; a tracer has none, a sharded array has several.

    The address of values that are not there yet would have to be waited for, with the interpreter lock held.
    """
    if isinstance(x, jax.core.Tracer) or not x.is_fully_addressable or len(x.devices()) != 1:
        return None
    (device,) = x.devices()
    if x.sharding.memory_kind not in (None, device.default_memory().kind):
        return None  # host memory, which a GPU's array may be in
    layout = x.format.layout
    if layout is None or layout.tiling:
        return None
    order = [axis for axis in layout.major_to_minor if x.shape[axis] > 1]  # others may stand wherever DLPack had them
    if order != sorted(order) and 0 not in x.shape:
        return None  # NumPy and DLPack see such an array through a copy alone
    try:
        pointer = x.unsafe_buffer_pointer() if x.is_ready() else None
    except Exception:  # a platform without addresses raises what its plug-in likes
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
    """Under a transformation there are no values."""
    if isinstance(x, jax.core.Tracer):
        return "x is a tracer: it has no values inside jax.jit, grad or vmap. Instead: convert outside"
    return None


def import_refusal(dtype: str, /) -> str | None:
    """64-bit values need the x64 switch: JAX would narrow them without a word."""
    return dtype_refusal("JAX", lambda name: _available(as_dtype(name)), dtype)


def alias_refusal(memory: Memory, /, *, forced: bool) -> str | None:
    """XLA takes compact, aligned, writable memory; on GPUs it fails at the first use of what is not aligned."""
    if import_refusal(memory.dtype) is not None:
        return f"memory of {memory.dtype}, a byte order that JAX lacks"
    if not memory.exported:
        return f"{memory.dtype}, which its library does not hand out by DLPack"
    if memory.readonly:
        return "read-only memory, which JAX refuses (jax#40789)"
    if not memory.is_compact:
        return "strides that are not compact, which JAX refuses"
    boundary = _ALIGNMENT if memory.device == "cpu" else _DEVICE_ALIGNMENT
    if not memory.is_aligned(boundary):
        return f"not {boundary}-byte aligned"
    if memory.device not in {_kind(device) for device in _natives()}:
        return f"JAX cannot see memory of device {memory.device}"
    return None


def alias(x: Any, memory: Memory, host: Callable[[], Any], /) -> Array:
    """Host memory as JAX itself takes it from NumPy, that of devices by DLPack, which must not copy.

    By DLPack JAX would hold pinned host memory for memory of a GPU.
    """
    return _shared(host()) if memory.device == "cpu" else jax.dlpack.from_dlpack(x, copy=False)


def exporting(x: Array, /) -> AbstractContextManager[Any]:
    """Who reads host memory waits for the values; on devices streams do."""
    if all(device.platform == "cpu" for device in x.devices()):
        x.block_until_ready()
    return nullcontext()


def packed(x: Array, /) -> Array:
    """In the memory of the device itself, also from host memory that belongs to it."""
    (device,) = x.devices()
    own = device.default_memory().kind
    in_own = x.sharding.memory_kind in (None, own)
    return jax.numpy.array(x, copy=True) if in_own else jax.device_put(x, x.sharding.with_memory_kind(own))


def queue(x: Array, /) -> Queue | None:
    """Work on a device runs in the order it was submitted. On the CPU, XLA itself keeps what it borrows."""
    (device,) = x.devices()
    return None if device.platform == "cpu" else _queue(device)


@cache
def _queue(device: Any) -> Queue:
    return Queue(None, lambda: False, partial(_mark, device))


def _mark(device: Any) -> Callable[[], bool]:
    """Submit a tiny computation, which ends after everything that was submitted before it."""
    compiled, zero = _marker(device)
    reached: Callable[[], bool] = compiled(zero).is_ready
    return reached


@cache
def _marker(device: Any) -> tuple[Any, Array]:
    """Compiled once, so that a mark neither traces nor transfers anything: a mesh or a guard would forbid that."""
    zero = jax.device_put(np.int32(0), device)
    return jax.jit(lambda v: v + 1).lower(zero).compile(), zero


def tie(x: Array, owner: object, /) -> Array:
    """To this array; another one over its buffer, as `jax.device_put` to the same device gives, is not followed."""
    weakref.finalize(x, _nothing, owner).atexit = False
    return x


def _nothing(owner: object) -> None:
    """Whoever calls this lets go of its argument."""


def _shared(a: Any) -> Array:
    """An array of JAX on the memory of an aligned one of NumPy, tied to the first CPU.

    NumPy's DLPack does as much, some microseconds sooner, but its memory may be let go of by a thread of XLA, which
    then asks for the interpreter lock: at the end of a program that aborts the process. What `jax.device_put` takes is
    let go of by threads of Python. Under a transformation it would give a tracer, and DLPack remains.
    """
    x = jax.device_put(a, _host(), may_alias=True)
    return jax.dlpack.from_dlpack(a, copy=False) if isinstance(x, jax.core.Tracer) else x


@cache
def _host() -> Any:
    return _natives()[0]


def try_from_numpy(a: Any, /) -> Array | None:
    """Compact, aligned memory. The buffer gives its address in a sixth of the time of NumPy's attributes."""
    if not a.flags.carray or not (a.dtype in _NARROW or (a.dtype in _WIDE and _CONFIG.jax_enable_x64)):
        return None
    try:
        aligned = addressof(c_char.from_buffer(a)) % _ALIGNMENT == 0
        return _shared(a) if aligned else None
    except (BufferError, ValueError, TypeError, RuntimeError):
        return None


def to_numpy(x: Array, /) -> Any:
    """A read-only view on the CPU, else a copy."""
    return np.asarray(x)


def from_numpy(a: Any, device: Any, /) -> Array:
    """A copy, which owns its memory and is committed to its device, by default the first CPU, as all that is aliased.

    On the first CPU we make it and JAX takes it over, in half of its own time.
    """
    a = a.astype(a.dtype.newbyteorder("="), copy=False)
    device = _host() if device is None else device
    if isinstance(device, jax.Device) and (device.platform, device.id) == ("cpu", 0):
        copied = views.aligned(a.shape, a.dtype)
        permute.copy(a, copied)
        taken = try_from_numpy(copied)
        if taken is not None:
            return taken
    return jax.numpy.array(a, copy=True, device=device)
