"""Exchange: the memory of CuPy arrays, and the memory that CuPy can wrap."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import cache
from operator import attrgetter as _attrgetter
from typing import Any

import cupy

from xarrayops.plugin import Array, Memory, Queue
from xarrayops.plugin.dtypes import dtype_refusal
from xarrayops_backends.cupy._devices import _KIND
from xarrayops_backends.cupy._dtypes import as_dtype, dtype_name

_MANAGED = 13
"""kDLCUDAManaged: neither PyTorch nor JAX takes such memory by DLPack."""
_PER_THREAD = 2
"""The handle of the per-thread default stream, which PyTorch rejects."""


def memory(x: Array, /) -> Memory | None:
    """The device memory of x."""
    return Memory(
        dtype=dtype_name(x.dtype) or str(x.dtype),
        shape=x.shape,
        strides=x.strides,
        itemsize=x.dtype.itemsize,
        pointer=x.data.ptr,
        device=_KIND,
        index=x.device.id,
        exported=x.__dlpack_device__()[0] != _MANAGED,
    )


def import_refusal(dtype: str, /) -> str | None:
    """CuPy has no dtypes for objects, strings or dates."""
    return dtype_refusal("CuPy", as_dtype, dtype)


def alias_refusal(memory: Memory, /, *, forced: bool) -> str | None:
    """CuPy wraps only device memory, and drops the read-only flag."""
    if memory.device != _KIND:
        return f"CuPy cannot see memory of device {memory.device}"
    if memory.readonly:
        return "read-only memory, which CuPy would make writable"
    if memory.immutable and not forced:
        return "memory that its library assumes immutable, which CuPy would make writable"
    return None


def alias(x: Any, memory: Memory, host: Callable[[], Any], /) -> Array:
    """By DLPack, on the device that holds the memory, in a stream that every library accepts."""
    with cupy.cuda.Device(memory.index):
        stream = cupy.cuda.get_current_stream()
        if stream.ptr != _PER_THREAD:
            return cupy.from_dlpack(x)
        with cupy.cuda.Stream(non_blocking=True) as plain:
            y = cupy.from_dlpack(x)
            stream.wait_event(plain.record())
        return y


def exporting(x: Array, /) -> AbstractContextManager[Any]:
    """CuPy exports an array in the order of the current stream."""
    return x.device


def packed(x: Array, /) -> Array:
    """Runs on the device that holds x; CuPy would use the current one."""
    with x.device:
        return cupy.array(x, order="C", copy=True)


def queue(x: Array, /) -> Queue:
    """The current stream of the device that holds x."""
    with x.device:
        return _queue(x.device.id, cupy.cuda.get_current_stream().ptr)


@cache
def _queue(device: int, pointer: int) -> Queue:
    def capturing() -> bool:
        with cupy.cuda.Device(device):
            try:
                return bool(cupy.cuda.runtime.streamIsCapturing(pointer))
            except cupy.cuda.runtime.CUDARuntimeError:  # an error during a capture of another stream
                return True

    def mark() -> Callable[[], bool]:
        with cupy.cuda.Device(device):
            event = cupy.cuda.Event(disable_timing=True)
            cupy.cuda.runtime.eventRecord(event.ptr, pointer)
        return lambda: bool(event.done)

    return Queue(pointer, capturing, mark)


def tie(x: Array, owner: object, /) -> Array:
    """An array over the same memory, whose owner keeps both alive."""
    memory = cupy.cuda.UnownedMemory(x.data.ptr, x.nbytes, (x, owner), x.device.id)
    return cupy.ndarray(x.shape, x.dtype, cupy.cuda.MemoryPointer(memory, 0), x.strides)


def to_numpy(x: Array, /) -> Any:
    """A host copy."""
    return x.get()


def from_numpy(a: Any, device: Any, /) -> Array:
    """A device copy in native byte order."""
    with device or cupy.cuda.Device():
        return cupy.array(a.astype(a.dtype.newbyteorder("="), copy=False))


size = _attrgetter("size")
form = _attrgetter("shape", "strides", "dtype", "device.id")
