"""Exchange: how CuPy's memory looks to others, and what CuPy can take in."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import cupy

from xarrayops._generic import dtype_refusal
from xarrayops.plugin import Array, Memory, Queue
from xarrayops_backends.cupy._devices import _KIND
from xarrayops_backends.cupy._dtypes import as_dtype, dtype_name


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
    )


def import_refusal(dtype: str, /) -> str | None:
    """CuPy has no objects, strings or dates."""
    return dtype_refusal("CuPy", as_dtype, dtype)


def alias_refusal(memory: Memory, /, *, forced: bool) -> str | None:
    """CuPy sees device memory alone, and drops the read-only flag."""
    if memory.device != _KIND:
        return f"CuPy cannot see memory of device {memory.device}"
    if memory.readonly:
        return "read-only memory, which CuPy would make writable"
    if memory.immutable and not forced:
        return "memory that its library takes for immutable, while CuPy would make it writable"
    return None


def alias(x: Any, memory: Memory, host: Callable[[], Any], /) -> Array:
    """DLPack, on the device that holds the memory."""
    with cupy.cuda.Device(memory.index):
        return cupy.from_dlpack(x)


def exporting(x: Array, /) -> AbstractContextManager[Any]:
    """CuPy hands out an array in the order of the current device's stream."""
    device: AbstractContextManager[Any] = x.device
    return device


def packed(x: Array, /) -> Array:
    """Made on the device that holds x; CuPy would take the current one."""
    with x.device:
        return cupy.array(x, order="C", copy=True)


def queue(x: Array, /) -> Queue:
    """The current stream of the device that holds x; no event is recorded or queried while a graph is captured."""
    device = x.device
    with device:
        stream = cupy.cuda.get_current_stream()
        capturing = stream.is_capturing()

    def mark() -> Callable[[], bool] | None:
        with device:
            if stream.is_capturing():
                return None
            event = stream.record()
        return lambda: not stream.is_capturing() and event.done

    return Queue(stream.ptr, mark, capturing)


def tie(x: Array, owner: object, /) -> Array:
    """An array over the same memory, whose owner of record keeps both alive."""
    memory = cupy.cuda.UnownedMemory(x.data.ptr, x.nbytes, (x, owner), x.device.id)
    return cupy.ndarray(x.shape, x.dtype, cupy.cuda.MemoryPointer(memory, 0), x.strides)


def to_numpy(x: Array, /) -> Any:
    """A host copy."""
    return x.get()


def from_numpy(a: Any, device: Any, /) -> Array:
    """A device copy in native byte order."""
    with device or cupy.cuda.Device():
        return cupy.array(a.astype(a.dtype.newbyteorder("="), copy=False))
