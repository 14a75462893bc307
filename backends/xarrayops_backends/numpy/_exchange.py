"""Exchange: NumPy can wrap all host memory, and accepts only numeric dtypes."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import lru_cache
from operator import attrgetter as _attrgetter
from typing import Any

import numpy as np

from xarrayops.plugin import Array, Gap, Memory
from xarrayops.plugin.dtypes import dtype_refusal
from xarrayops.plugin.host import NUMBERS, as_dtype, dtype_name, gap_of_array, permute, views
from xarrayops_backends.numpy._files import mapping_of as _mapping_of


def refuse(x: Array, /) -> Gap | None:
    """Every verb rejects objects, text, dates and records, and so does exchange."""
    return gap_of_array(x) if x.dtype.hasobject else None


def failure_cause(x: Array, error: Exception, /) -> Gap | None:
    """The dtypes that elementwise ufuncs refuse, and those that NumPy's linear algebra refuses."""
    if x.dtype.kind in "fc" and "unsupported in linalg" in str(error):
        return Gap(f"{error}", 'x.astype("complex128")' if x.dtype.kind == "c" else 'x.astype("float64")')
    return gap_of_array(x)


@lru_cache
def refuse_class(cls: type, /) -> Gap | None:
    """Matrices and masked arrays do not mean what the standard means. np.ma may not be imported, so names decide."""
    names = {base.__qualname__ for base in cls.__mro__ if base.__module__.partition(".")[0] == "numpy"}
    if "matrix" in names:
        return Gap("np.matrix keeps two dimensions and multiplies by *", "np.asarray(x)")
    if "MaskedArray" in names:
        return Gap("a masked array has a mask that no standard function respects", "x.filled(value)")
    return None


def memory(x: Array, /) -> Memory | None:
    """The buffer of x; a dtype or byte order that only NumPy has gets NumPy's name. A scalar has no buffer."""
    if not isinstance(x, np.ndarray):
        return None
    mapping = None if x.base is None else _mapping_of(x)
    return Memory(
        dtype=(x.dtype.isnative and dtype_name(x.dtype)) or x.dtype.str,
        shape=x.shape,
        strides=x.strides,
        itemsize=x.itemsize,
        pointer=x.ctypes.data,
        device="cpu",
        readonly=not x.flags.writeable,
        exported=x.dtype.type.__module__ == "numpy",  # NumPy does not export the dtypes of ml_dtypes
        file="" if mapping is None else str(mapping.filename),
    )


def export_refusal(x: Array, /) -> str | None:
    """Any numeric array can be exported."""
    gap = None if x.dtype.kind in NUMBERS else gap_of_array(x)
    return None if gap is None else str(gap)


def import_refusal(dtype: str, /) -> str | None:
    """bfloat16 and float8 need ml_dtypes; they are never exposed as integers."""
    return dtype_refusal("NumPy", as_dtype, dtype)


def alias_refusal(memory: Memory, /, *, forced: bool) -> str | None:
    """NumPy can wrap any host memory, read-only or not."""
    return None if memory.device == "cpu" else f"NumPy cannot see memory of device {memory.device}"


def alias(x: Any, memory: Memory, host: Callable[[], Any], /) -> Array:
    """The owner's view; read-only if its library assumes the memory immutable."""
    return host()


def try_as_numpy(x: Array, /) -> Array:
    """x itself."""
    return x


def try_from_numpy(a: Array, /) -> Array:
    """The array itself."""
    return a


def returned(x: Array, /) -> Array:
    """A scalar instead of a 0-d array."""
    return x if x.ndim else x[()]


def serving_others() -> AbstractContextManager[Any]:
    """Only NumPy warns of a division by zero, an overflow and a logarithm of a negative number."""
    return np.errstate(all="ignore")


def to_numpy(x: Array, /) -> Array:
    """x itself."""
    return np.asarray(x)


def from_numpy(a: Any, device: Any, /) -> Array:
    """A copy that is aligned to a cache line, as XLA requires."""
    a = np.asarray(a)
    copy = views.aligned(a.shape, a.dtype.newbyteorder("="))
    if copy.dtype == a.dtype:
        permute.copy(a, copy)
    else:
        copy[...] = a
    return copy


size = _attrgetter("size")
form = _attrgetter("shape", "strides", "dtype")
