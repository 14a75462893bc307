"""Devices, the memory of arrays, and queues of work: how backends describe them to the core. See `xarrayops.plugin`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple


class Device(NamedTuple):
    """A device that a backend can use.

    ``kind`` is one of cpu, cuda, rocm, tpu, xla or the library's own word; ``name`` is the string that selects the
    device (``"cuda:0"``); ``native`` is the library's device object; ``label`` is what a person calls it.
    """

    kind: str
    name: str
    native: Any
    label: str = ""

    @property
    def index(self) -> int:  # type: ignore[override]  # hides tuple.index: a device is no sequence
        """The number in the name, 0 without one."""
        number = self.name.rpartition(":")[2]
        return int(number) if number.isdecimal() else 0


DEVICE_ATTRIBUTES = frozenset(
    ("capability", "multiprocessors", "clock_hz", "memory_bytes", "memory_clock_hz", "memory_bus_bits", "cache_bytes")
)
"""What may be known of a device: its kind of instructions, its units and their clock, its memory, its largest cache."""


def compact_strides(shape: tuple[int, ...], itemsize: int) -> tuple[int, ...]:
    """The strides, in bytes, of elements that lie in C order without gaps."""
    strides = [itemsize] * len(shape)
    for axis in range(len(shape) - 2, -1, -1):
        strides[axis] = strides[axis + 1] * shape[axis + 1]
    return tuple(strides)


class Memory(NamedTuple):
    """The memory of one array, as another library may see it.

    ``dtype`` is the standard's name; ``strides`` are in bytes; ``device`` is a `Device` kind with ``index``.
    ``pointer`` is None while only waiting for the values would show it; such memory is aligned for every library.
    ``immutable`` is memory that its library never writes (JAX); ``readonly`` is memory that is flagged so (NumPy).
    ``exported`` is False where its library does not hand out values of the dtype by DLPack.
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
        """The bytes that a compact copy takes."""
        size = self.itemsize
        for extent in self.shape:
            size *= extent
        return size

    @property
    def is_compact(self) -> bool:
        """Whether the elements lie in C order without gaps."""
        expected = self.itemsize
        for extent, stride in zip(reversed(self.shape), reversed(self.strides), strict=True):
            if extent > 1 and stride != expected:
                return 0 in self.shape
            expected *= extent
        return True

    def is_aligned(self, boundary: int) -> bool:
        """Whether the first element begins at a multiple of so many bytes."""
        return not self.nbytes or self.pointer is None or self.pointer % boundary == 0

    def packed(self) -> Memory:
        """A private copy of the same values on the same device: compact, aligned and writable."""
        strides = compact_strides(self.shape, self.itemsize)
        return self._replace(strides=strides, pointer=None, readonly=False, immutable=False)

    def permuted(self, axes: tuple[int, ...]) -> Memory:
        """The same memory with its axes in another order."""
        return self._replace(
            shape=tuple(self.shape[axis] for axis in axes), strides=tuple(self.strides[axis] for axis in axes)
        )


class Queue(NamedTuple):
    """A queue of work on a device, where calls return before their work has ended.

    ``stream`` is the address of the CUDA or HIP stream; None where the library does not show it.
    ``capturing()`` says whether a graph is captured in it: no event may be recorded or queried then.
    ``mark()`` records the present end of the queue, and returns a function that says whether the queue has reached it.
    """

    stream: int | None
    capturing: Callable[[], bool]
    mark: Callable[[], Callable[[], bool]]
