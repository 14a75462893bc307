"""Layout: CuPy arrays have strides, as NumPy arrays do."""

from __future__ import annotations

import cupy

from xarrayops.plugin import Array, unsupported

pin_memory = unsupported(
    "CuPy arrays are in device memory", instead='xo.pin_memory(xo.convert(x, "torch", device="cpu")), host memory'
)


def memory_offset(x: Array, /) -> int:
    """The offset counts from the beginning of the allocation."""
    return int(x.data.ptr - x.data.mem.ptr)


def contiguous(x: Array, /) -> Array:
    """A copy by CuPy's own kernel."""
    return x if x.flags.c_contiguous else cupy.ascontiguousarray(x)


def as_strided(x: Array, shape: tuple[int, ...], strides: tuple[int, ...], offset: int, /) -> Array:
    """CuPy creates arrays at any offset of an allocation."""
    size = x.dtype.itemsize
    steps = tuple(stride * size for stride in strides)
    return cupy.ndarray(shape, x.dtype, x.data + offset * size, steps)
