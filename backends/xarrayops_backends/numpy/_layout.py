"""Layout: NumPy has every stride; large copies go by the host kernels."""

from __future__ import annotations

import numpy as np

from xarrayops.plugin import Array, unsupported
from xarrayops.plugin.layout import permute, views


def memory_offset(x: Array, /) -> int:
    """From the first byte of the array that x is a view of; NumPy keeps no other owner's extent."""
    first, owner = x, x.base
    while owner is not None:  # past what stands between in stride_tricks and in our own views
        first, owner = owner if isinstance(owner, np.ndarray) else first, getattr(owner, "base", None)
    return 0 if first is x else int(x.ctypes.data - np.lib.array_utils.byte_bounds(first)[0])


def contiguous(x: Array, /) -> Array:
    """By the host kernels: NumPy's own transposed copy is several times slower than memory (numpy#32453)."""
    return x if x.flags.c_contiguous else permute.contiguous(x)


def as_strided(x: Array, shape: tuple[int, ...], strides: tuple[int, ...], offset: int, /) -> Array:
    """NumPy's, and read-only where elements share a place, as NumPy's own broadcast and sliding-window views are."""
    size = x.itemsize
    steps = tuple(stride * size for stride in strides)
    view = views.of(x, shape, steps, typestr=f"|V{size}", offset=offset * size).view(x.dtype)
    if views.may_overlap(shape, steps, size):
        view.flags.writeable = False
    return view


pin_memory = unsupported(
    "NumPy page-locks no memory, but takes a view of PyTorch's",
    instead='xo.convert(xo.pin_memory(xo.convert(x, "torch")), "numpy")',
)
