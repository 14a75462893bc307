"""Operations of users on NumPy arrays: how a call is tested, and native kernels."""

from collections.abc import Callable
from ctypes import c_size_t
from typing import Any

import numpy as np

from xarrayops.plugin import Array, CallTests, NotServed
from xarrayops.plugin.host import views
from xarrayops.plugin.native import NativeKernel, Results, eager_kernel

_DATA = object.__basicsize__
"""The offset of the address of the first element in an array object: the first field after the object header.

Compiled extensions read it there (``PyArray_DATA``), so it is part of NumPy's binary interface. ``x.ctypes.data`` and
``x.__array_interface__`` take twenty times as long.
"""
CALL_TESTS = CallTests(
    order={"C": "{x}.flags.c_contiguous", "F": "{x}.flags.f_contiguous"},
    device={"cpu": "True"},
    aligned="{x}.flags.aligned",
    address=f"_word(id({{x}}) + {_DATA}).value",
    names={"_word": c_size_t.from_address},
)


def native_kernel(native: NativeKernel, /) -> Callable[..., Any]:
    """A native kernel. The reference runs once for each form of a call, because NumPy lacks arrays without values."""

    def results(*arrays: Array, **options: Any) -> Results:
        for x in arrays:
            if x.dtype.kind == "V":
                raise NotServed(f"NumPy does not export arrays of {x.dtype} by DLPack")
        with np.errstate(all="ignore"):
            return Results.of(native.reference(*arrays, **options))

    def empty(shape: tuple[int, ...], dtype: Any, x: Array) -> Array:
        return np.empty(shape, dtype)

    return eager_kernel(native, results=results, empty=empty, lent=_lent, returned=lambda y: y if y.ndim else y[()])


def _lent(x: Array) -> Array:
    """x for DLPack: writable, because not all consumers support read-only memory. The kernel only reads it."""
    if x.flags.writeable:
        return x
    return views.over(x.ctypes.data, x.shape, x.strides, x.dtype.str, readonly=False, owner=x)
