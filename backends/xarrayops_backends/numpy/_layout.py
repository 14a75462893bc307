"""Layout: NumPy supports all strides; the host kernels make large copies."""

from __future__ import annotations

import numpy as np

from xarrayops.plugin import Array, unsupported
from xarrayops.plugin.host import permute, views


def memory_offset(x: Array, /) -> int:
    """The offset counts from the first byte of the array that x is a view of; other owners report no extent."""
    first, owner = x, x.base
    while owner is not None:  # skip the intermediate objects of stride_tricks and of our own views
        first, owner = owner if isinstance(owner, np.ndarray) else first, getattr(owner, "base", None)
    return 0 if first is x else int(x.ctypes.data - np.lib.array_utils.byte_bounds(first)[0])


def contiguous(x: Array, /) -> Array:
    """With the host kernels: NumPy's transposed copy reaches a fraction of the memory bandwidth (numpy#32453)."""
    return x if x.flags.c_contiguous else permute.contiguous(x)


def as_strided(x: Array, shape: tuple[int, ...], strides: tuple[int, ...], offset: int, /) -> Array:
    """NumPy's view; read-only if elements overlap, as NumPy's broadcast and sliding-window views are."""
    size = x.itemsize
    steps = tuple(stride * size for stride in strides)
    view = views.of(x, shape, steps, typestr=f"|V{size}", offset=offset * size).view(x.dtype)
    if views.may_overlap(shape, steps, size):
        view.flags.writeable = False
    return view


pin_memory = unsupported(
    "NumPy cannot page-lock memory, but can view that of PyTorch",
    instead='xo.convert(xo.pin_memory(xo.convert(x, "torch")), "numpy")',
)
