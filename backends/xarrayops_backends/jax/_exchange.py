"""Exchange: how JAX's memory looks to others, and what JAX can take in."""

from __future__ import annotations

from collections.abc import Callable
from ctypes import addressof, c_char
from functools import cache
from typing import Any

import jax
import numpy as np

from xarrayops._generic import dtype_refusal
from xarrayops.kernels import permute, views
from xarrayops.plugin import Array, Memory, compact_strides
from xarrayops_backends.jax._devices import _kind, _natives
from xarrayops_backends.jax._dtypes import _CONFIG, _HALVES, _NATIVE, _available, as_dtype, dtype_name

_ALIGNMENT = 64
"""XLA aliases host memory only where it starts on such a boundary; elsewhere it copies without a word."""
_SHARED = {name: native for name, native in _NATIVE.items() if native.type.__module__ == "numpy"}
"""What NumPy hands out by DLPack and JAX takes as it is, some of it only where the 64-bit types are on."""
_NARROW, _WIDE = (frozenset(n for name, n in _SHARED.items() if (name in _HALVES) is wide) for wide in (False, True))


def memory(x: Array, /) -> Memory | None:
    """The buffer of an array on one device; a tracer has none, a sharded array has several."""
    if isinstance(x, jax.core.Tracer) or not x.is_fully_addressable or len(x.devices()) != 1:
        return None
    (device,) = x.devices()
    x.block_until_ready()  # the pointer waits too, but holds the interpreter lock, which XLA may need to come to an end
    try:
        pointer = x.unsafe_buffer_pointer()
    except Exception:  # a platform without addresses raises what its plug-in likes
        return None
    layout = x.format.layout
    if layout is None or layout.tiling:
        return None
    order = [axis for axis in layout.major_to_minor if x.shape[axis] > 1]  # others may stand wherever DLPack had them
    if order != sorted(order) and 0 not in x.shape:
        return None  # NumPy and DLPack see such an array through a copy alone
    itemsize = x.dtype.itemsize
    return Memory(
        dtype=dtype_name(x.dtype) or str(x.dtype),
        shape=x.shape,
        strides=compact_strides(x.shape, itemsize),
        itemsize=itemsize,
        pointer=pointer,
        device=_kind(device),
        index=device.local_hardware_id or 0,
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
    """XLA takes compact, aligned, writable memory."""
    if import_refusal(memory.dtype) is not None:
        return f"memory of {memory.dtype}, a byte order that JAX lacks"
    if not memory.exported:
        return f"{memory.dtype}, which its library does not hand out by DLPack"
    if memory.readonly:
        return "read-only memory, which JAX refuses (jax#40789)"
    if not memory.is_compact:
        return "strides that are not compact, which JAX refuses"
    if memory.device == "cpu" and memory.pointer % _ALIGNMENT:
        return "not 64-byte aligned"
    if memory.device not in {_kind(device) for device in _natives()}:
        return f"JAX cannot see memory of device {memory.device}"
    return None


def alias(x: Any, memory: Memory, host: Callable[[], Any], /) -> Array:
    """NumPy's memory as JAX itself takes it, that of others by DLPack, which must not copy."""
    return _shared(x) if isinstance(x, np.ndarray) else jax.dlpack.from_dlpack(x, copy=False)


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


def borrow(a: Any, /) -> Array | None:
    """Compact, aligned memory. The buffer tells its address in a sixth of the time of NumPy's attributes."""
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
    """A copy, which owns its memory. On the first CPU we make it and JAX takes it over, in half of its own time.

    What is taken over is tied to its device, as any array is that was asked for on a device.
    """
    a = a.astype(a.dtype.newbyteorder("="), copy=False)
    if isinstance(device, jax.Device) and (device.platform, device.id) == ("cpu", 0):
        copied = views.aligned(a.shape, a.dtype)
        permute.copy(a, copied)
        taken = borrow(copied)
        if taken is not None:
            return taken
    return jax.numpy.array(a, copy=True, device=device)
