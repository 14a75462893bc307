"""The classes by which backends describe devices, the memory of arrays, and queues of work. See `xarrayops.plugin`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from xarrayops.plugin.records import Record


class Device(Record):
    """A device that a backend can use.

    ``kind`` is one of cpu, cuda, rocm, tpu, xla, or the library's own name for it; ``name`` is the string that selects
    the device (``"cuda:0"``); ``native`` is the library's device object; ``label`` is the product name.
    """

    kind: str
    name: str
    native: Any
    label: str = ""

    @property
    def index(self) -> int:  # type: ignore[override]  # hides tuple.index: a device is no sequence
        """The number in the name; 0 if there is none."""
        number = self.name.rpartition(":")[2]
        return int(number) if number.isdecimal() else 0


DEVICE_ATTRIBUTES = frozenset(
    ("capability", "multiprocessors", "clock_hz", "memory_bytes", "memory_clock_hz", "memory_bus_bits", "cache_bytes")
)
"""The attributes that a device may have: compute capability, multiprocessors and clock, memory, largest cache."""


def compact_strides(shape: tuple[int, ...], itemsize: int) -> tuple[int, ...]:
    """The strides, in bytes, of a C-contiguous array."""
    strides = [itemsize] * len(shape)
    for axis in range(len(shape) - 2, -1, -1):
        strides[axis] = strides[axis + 1] * shape[axis + 1]
    return tuple(strides)


class Memory(Record):
    """The memory of one array, as other libraries can use it.

    ``dtype`` is the standard's name; ``strides`` are in bytes; ``device`` is the kind of a `Device`, and ``index`` its
    index. ``pointer`` is None if the address is known only after waiting for the values; such memory is aligned for
    every library. ``immutable``: the library never writes this memory (JAX). ``readonly``: the array is flagged
    read-only (NumPy). ``exported``: whether the library exports this dtype by DLPack.
    """

    dtype: str
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    itemsize: int
    pointer: int | None
    device: str
    index: int = 0  # type: ignore[assignment]  # hides tuple.index: memory is no sequence
    readonly: bool = False
    immutable: bool = False
    exported: bool = True

    @property
    def nbytes(self) -> int:
        """The size of a compact copy, in bytes."""
        size = self.itemsize
        for extent in self.shape:
            size *= extent
        return size

    @property
    def is_compact(self) -> bool:
        """Whether the memory is C-contiguous."""
        expected = self.itemsize
        for extent, stride in zip(reversed(self.shape), reversed(self.strides), strict=True):
            if extent > 1 and stride != expected:
                return 0 in self.shape
            expected *= extent
        return True

    def is_aligned(self, boundary: int) -> bool:
        """Whether the address of the first element is a multiple of ``boundary`` bytes."""
        return not self.nbytes or self.pointer is None or self.pointer % boundary == 0

    def packed(self) -> Memory:
        """The memory of a copy on the same device: compact, aligned and writable."""
        strides = compact_strides(self.shape, self.itemsize)
        return self._replace(strides=strides, pointer=None, readonly=False, immutable=False)

    def permuted(self, axes: tuple[int, ...]) -> Memory:
        """The memory with permuted axes."""
        return self._replace(
            shape=tuple(self.shape[axis] for axis in axes), strides=tuple(self.strides[axis] for axis in axes)
        )


class Queue(Record):
    """A queue of asynchronous work on a device: calls return before their work is complete.

    ``stream`` is the address of the CUDA or HIP stream; None if the library does not expose it.
    ``capturing()`` returns whether a graph is being captured from it. During a capture no event may be recorded or
    queried. ``mark()`` records an event at the current end of the queue, and returns a function that returns whether
    the queue has reached it.
    """

    stream: int | None
    capturing: Callable[[], bool]
    mark: Callable[[], Callable[[], bool]]
