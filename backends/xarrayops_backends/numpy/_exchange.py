"""Exchange: NumPy sees all host memory, and takes arrays of numbers only."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from xarrayops.plugin import Array, Gap, Memory
from xarrayops.plugin.dtypes import OBJECTS, as_dtype, dtype_name, dtype_refusal
from xarrayops.plugin.layout import permute, views


def refuse(x: Array, /) -> Gap | None:
    """Python objects have no numeric dtype; text, dates and records each verb refuses, and so does exchange."""
    return OBJECTS if x.dtype.hasobject else None


def memory(x: Array, /) -> Memory | None:
    """The buffer of x; a dtype or byte order that only NumPy knows is named as NumPy spells it. A scalar has none."""
    if not isinstance(x, np.ndarray):
        return None
    return Memory(
        dtype=(x.dtype.isnative and dtype_name(x.dtype)) or x.dtype.str,
        shape=x.shape,
        strides=x.strides,
        itemsize=x.itemsize,
        pointer=x.ctypes.data,
        device="cpu",
        readonly=not x.flags.writeable,
        exported=x.dtype.type.__module__ == "numpy",  # the dtypes of ml_dtypes are refused
    )


def export_refusal(x: Array, /) -> str | None:
    """Any array of numbers may leave."""
    return str(OBJECTS) if x.dtype.hasobject else None


def import_refusal(dtype: str, /) -> str | None:
    """Bfloat16 and float8 need ml_dtypes; never a bare integer view."""
    return dtype_refusal("NumPy", as_dtype, dtype)


def alias_refusal(memory: Memory, /, *, forced: bool) -> str | None:
    """Any host memory, read-only or not."""
    return None if memory.device == "cpu" else f"NumPy cannot see memory of device {memory.device}"


def alias(x: Any, memory: Memory, host: Callable[[], Any], /) -> Array:
    """The owner's own view; of memory that its library never writes, a read-only one."""
    return host()


def try_as_numpy(x: Array, /) -> Array:
    """x itself."""
    return x


def try_from_numpy(a: Array, /) -> Array:
    """The array itself."""
    return a


def to_numpy(x: Array, /) -> Array:
    """x itself."""
    return np.asarray(x)


def from_numpy(a: Any, device: Any, /) -> Array:
    """A copy that begins at a cache line, where XLA wants it."""
    a = np.asarray(a)
    copy = views.aligned(a.shape, a.dtype.newbyteorder("="))
    if copy.dtype == a.dtype:
        permute.copy(a, copy)
    else:
        copy[...] = a
    return copy
