"""NumPy views of memory with a given shape and strides."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

# The bytes of a cache line. XLA aliases only memory that begins at a cache line.
LINE = 64

Array = np.ndarray[Any, Any]


class _Outline:
    """Describes memory to NumPy, and keeps its owner alive."""

    def __init__(self, owner: Any, interface: dict[str, Any]) -> None:
        # The array keeps this object as its base, and this object keeps the owner of the memory.
        self.base, self.__array_interface__ = owner, interface


def over(
    pointer: int, shape: tuple[int, ...], strides: tuple[int, ...], typestr: str, *, readonly: bool, owner: Any = None
) -> Array:
    """A view of the memory at an address; strides in bytes. No element is read, so it may be on a device."""
    interface = {"version": 3, "data": (pointer, readonly), "shape": shape, "strides": strides, "typestr": typestr}
    return np.asarray(_Outline(owner, interface))


def of(array: Array, shape: tuple[int, ...], strides: tuple[int, ...], *, typestr: str, offset: int = 0) -> Array:
    """A view of an array's memory; ``offset`` counts bytes from its first element. Read-only if the array is."""
    pointer, readonly = array.__array_interface__["data"]
    return over(pointer + offset, shape, strides, typestr, readonly=readonly, owner=array)


def aligned(shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
    """An uninitialised array in C order whose memory begins at a cache line."""
    nbytes = dtype.itemsize * prod(shape)
    # np.frombuffer refuses empty memory, and no address of an empty array is ever read.
    if not nbytes:
        return np.empty(shape, dtype)
    # One more line than needed: somewhere in it a line begins, `start` bytes from the first byte.
    memory = np.empty(nbytes + LINE, np.uint8)
    start = -memory.ctypes.data % LINE
    # Not memory[start:], whose `.base` would be an array that begins before the line: the bytes before it stay hidden.
    return np.frombuffer(memory.data, np.uint8, nbytes, start).view(dtype).reshape(shape)


def may_overlap(shape: tuple[int, ...], strides: tuple[int, ...], itemsize: int) -> bool:
    """Whether two elements of a view may share memory; may be True if none do."""
    # By growing stride, the axes so far occupy `covered` bytes from one element. If the next stride is no smaller, its
    # copies do not touch, so the elements stay disjoint. The converse fails, hence "may": single bytes with strides (2,
    # 3) and extents (3, 2) are disjoint but fail the test.
    covered = itemsize
    # Axes of extent 1 may have any stride, 0 too, and are never stepped along.
    for stride, extent in sorted((abs(s), n) for s, n in zip(strides, shape, strict=True) if n > 1):
        if stride < covered:
            return True
        covered += stride * (extent - 1)
    return False
