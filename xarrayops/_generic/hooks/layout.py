"""The order of the elements in memory."""

from __future__ import annotations

from types import ModuleType

from xarrayops._generic import declared
from xarrayops._generic.hooks.exchange import from_numpy, memory, to_numpy
from xarrayops.plugin.arrays import Array


def memory_offset(xp: ModuleType, x: Array, /) -> int:
    """The offset in bytes of the first element of x in the memory that x is a view of."""
    return 0  # the standard has no offset


def contiguous(xp: ModuleType, x: Array, /) -> Array:
    """x, C-contiguous. Law: x itself if it already is, or if the layout is not observable."""
    seen = memory(xp, x)
    if seen is None or seen.is_compact:
        return x
    from xarrayops._host import permute  # imports NumPy, which `memory` has imported before

    return from_numpy(xp, permute.contiguous(to_numpy(xp, x)), x.device)


@declared("the standard has no strides", instead="xo.take(xo.reshape(x, (-1,)), indices), which copies")
def as_strided(xp: ModuleType, x: Array, shape: tuple[int, ...], strides: tuple[int, ...], offset: int, /) -> Array:
    """A view of x; the caller has checked the bounds. Strides, and offset from the first element, are in items."""
    raise NotImplementedError


@declared("the standard has no pinned memory", instead='xo.pin_memory(xo.convert(x, "torch"))')
def pin_memory(xp: ModuleType, x: Array, /) -> Array:
    """x in page-locked host memory; x itself if it already is."""
    raise NotImplementedError
