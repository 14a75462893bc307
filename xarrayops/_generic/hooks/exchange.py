"""The memory of arrays, and their exchange."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from types import ModuleType
from typing import Any

from xarrayops._generic import library
from xarrayops._generic.hooks.dtypes import as_dtype
from xarrayops.plugin.arrays import Array, Memory, Queue
from xarrayops.plugin.dtypes import dtype_refusal


def memory(xp: ModuleType, x: Array, /) -> Memory | None:
    """The memory of x; None if x has no single memory (a task graph, a tracer, several devices).

    Law: it does not wait for the values.
    """
    # The memory that NumPy imports through DLPack.
    import numpy as np

    if not hasattr(x, "__dlpack_device__") or x.__dlpack_device__()[0] != 1:
        return None
    try:
        view = np.from_dlpack(x)
    except (BufferError, ValueError, TypeError, RuntimeError):
        return None
    return Memory(
        dtype=view.dtype.name,
        shape=view.shape,
        strides=view.strides,
        itemsize=view.itemsize,
        pointer=view.ctypes.data,
        device="cpu",
        readonly=not view.flags.writeable,
    )


def export_refusal(xp: ModuleType, x: Array, /) -> str | None:
    """Why x cannot be exported without changes, and what to do instead; None if it can."""
    return None


def import_refusal(xp: ModuleType, dtype: str, /) -> str | None:
    """Why this library cannot hold values of a dtype (by name), and what to do instead; None if it can."""
    return dtype_refusal(library(xp), partial(as_dtype, xp), dtype)


def alias_refusal(xp: ModuleType, memory: Memory, /, *, forced: bool) -> str | None:
    """Why this library cannot (or, unless ``forced`` by ``copy=False``, should not) alias that memory; else None."""
    # Writable host memory of a known dtype can be aliased.
    if memory.device != "cpu":
        return f"{library(xp)} cannot import memory of device {memory.device}"
    if import_refusal(xp, memory.dtype) is not None or any(s % memory.itemsize for s in memory.strides):
        return f"memory of {memory.dtype} in an order or layout that DLPack lacks"
    return "read-only memory" if memory.readonly or memory.immutable else None


def alias(xp: ModuleType, x: Any, memory: Memory, host: Callable[[], Any], /) -> Array:
    """An array of this library over the memory of x, an array of another library, without a copy.

    For host memory, ``host()`` gives the owner's NumPy view: the owner waits for the values, keeps the memory alive and
    sets the read-only flag if needed. A bare address would not guarantee that.
    """
    return xp.from_dlpack(x)


def exporting(xp: ModuleType, x: Array, /) -> AbstractContextManager[Any]:
    """A context in which x can be exported by DLPack: its device is current, and its host memory has the values."""
    return nullcontext()


def packed(xp: ModuleType, x: Array, /) -> Array:
    """A copy of x in its own memory, compact and aligned, on the device of x."""
    return xp.asarray(x, copy=True)


def queue(xp: ModuleType, x: Array, /) -> Queue | None:
    """The queue of work that uses x; None if calls are synchronous."""
    return None


def outlive(xp: ModuleType, x: Array, stream: int, /) -> bool:
    """Prevent reuse of the memory of x, once it is freed, until the pending work of another library's stream is done.

    False if the library cannot do so; then the caller keeps a reference to x.
    """
    return False  # the standard has no streams


def tie(xp: ModuleType, x: Array, owner: object, /) -> Array:
    """An array over the memory of x that keeps ``owner`` alive as long as that memory is in use.

    The result may be x itself if the library allows that. Required if `queue` returns a queue.
    """
    raise NotImplementedError("a backend that defines the hook queue must also define the hook tie")


def try_as_numpy(xp: ModuleType, x: Array, /) -> Any:
    """A NumPy array over the memory of x if that needs no conversion plan, else None.

    Law: an array only if the plan of ``convert(x, "numpy")`` is zero-copy, and with the same result.
    """
    return None  # a plan is always needed


def try_from_numpy(xp: ModuleType, a: Any, /) -> Array | None:
    """An array over the memory of a NumPy array if that needs no conversion plan, else None.

    Law: an array only if the plan for ``a`` is zero-copy, and with the same result.
    """
    return None  # a plan is always needed


def to_numpy(xp: ModuleType, x: Array, /) -> Any:
    """x as a NumPy array in host memory: a view if possible, else a copy."""
    import numpy as np

    try:
        return np.from_dlpack(x)
    except (AttributeError, BufferError, ValueError, TypeError, RuntimeError):
        return np.asarray(x)


def from_numpy(xp: ModuleType, a: Any, device: Any, /) -> Array:
    """A copy of a NumPy array as an array of this library, on the native device, by default the default device."""
    return xp.asarray(a.astype(a.dtype.newbyteorder("="), copy=False), device=device, copy=True)
