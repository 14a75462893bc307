"""The types of the contract: arrays, records, gaps, devices, memory, queues of work, results with several arrays."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable
from math import prod
from re import sub
from typing import TYPE_CHECKING, Any, Generic, NoReturn, TypeVar

from xarrayops.errors import Unsupported

__all__ = [
    "DEVICE_ATTRIBUTES",
    "SMALLEST_MEASURED",
    "Array",
    "ArrayT",
    "Device",
    "FloatLimits",
    "Gap",
    "Memory",
    "Queue",
    "Record",
]
__all__ += ["QR", "SVD", "Eigen", "Scalar", "Slogdet", "UniqueAll", "UniqueCounts", "UniqueInverse"]
__all__ += ["compact_strides", "gap_of", "unsupported"]

Array = Any
"""An array of any library. Arrays stay native and have no common class."""
SMALLEST_MEASURED = 8192
"""The least number of elements of arrays for which measured choices serve: smaller calls take less than a choice."""
ArrayT = TypeVar("ArrayT")
"""The class of the arrays of one call: a function returns arrays of the class of its arguments."""
Scalar = bool | int | float | complex
"""Python scalars, which combine with arrays of every library. All are listed, so that none is inferred as an array."""

# `Record` is `typing.NamedTuple` for type checkers. At run time it creates classes three times as fast: NamedTuple
# compiles every annotation, which took an eighth of the time of ``import xarrayops``.
if TYPE_CHECKING:
    from typing import NamedTuple as Record
else:
    _OF_NAMEDTUPLE = frozenset(("__qualname__", "__module__", "__doc__", "__annotations__"))

    class _RecordType(type):
        """The metaclass of `Record`: a subclass of it becomes a named tuple of the annotated fields."""

        def __new__(cls, name, bases, members):
            fields = members.get("__annotations__", {})
            defaults = [members[field] for field in fields if field in members]
            made = namedtuple(name, fields, defaults=defaults, module=members["__module__"])
            made.__qualname__ = members["__qualname__"]
            made.__annotations__ = fields
            made.__doc__ = members.get("__doc__", made.__doc__)
            for member, value in members.items():
                if member not in fields and member not in _OF_NAMEDTUPLE:
                    setattr(made, member, value)
            return made

    Record = type.__new__(_RecordType, "Record", (), {})


class Gap(Record):
    """Something that a library cannot do: the reason, and what to do instead."""

    why: str
    instead: str

    def __str__(self) -> str:
        return f"{self.why}. Instead: {self.instead}"

    def of(self, name: str) -> str:
        """The text for an argument of that name, if what to do instead is an expression of ``x``."""
        instead = sub(r"\bx\b", name, self.instead)
        return f"{self.why}. Instead: {instead}"


class FloatLimits(Record):
    """The result of ``finfo``. The standard requires Python floats and a native dtype; few libraries return those."""

    bits: int
    eps: float
    max: float
    min: float
    smallest_normal: float
    dtype: Any


def unsupported(why: str, *, instead: str) -> Callable[..., NoReturn]:
    """Declare in a backend module that the library cannot do something.

    >>> eigh = unsupported("Dask has no eigh", instead="xo.compute(x) and use NumPy")
    >>> eigh.gap.why
    'Dask has no eigh'
    """
    gap = Gap(why, instead)

    def refuse(*args: Any, **kwargs: Any) -> NoReturn:
        raise Unsupported(str(gap))

    refuse.gap = gap  # type: ignore[attr-defined]
    return refuse


def gap_of(function: Any) -> Gap | None:
    """The gap that a function declares, or None."""
    return getattr(function, "gap", None)


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
    def index(self) -> int:  # type: ignore[override]  # hides tuple.index: a device is not a sequence
        """The number in the name, by default 0."""
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


def shifts_and_axes(shift: Any, axis: Any) -> tuple[tuple[Any, ...], tuple[int, ...]]:
    """The shifts and the axes of ``roll``, as many of both: one shift serves several axes, and one axis several shifts.

    Without an axis there is one shift: the elements move in C order by the sum.
    """
    shifts = tuple(shift) if isinstance(shift, (tuple, list)) else (shift,)
    if axis is None:
        return (sum(shifts),), ()
    axes = tuple(axis) if isinstance(axis, (tuple, list)) else (axis,)
    if len(shifts) == 1:
        shifts *= len(axes)
    elif len(axes) == 1:
        axes *= len(shifts)
    if len(shifts) != len(axes):
        raise ValueError(
            f"{len(shifts)} shifts do not broadcast with {len(axes)} axes. "
            "Instead: give one shift, one axis, or the same number of both"
        )
    return shifts, axes


class Memory(Record):
    """The memory of one array, as other libraries can use it.

    ``dtype`` is the standard's name; ``strides`` are in bytes; ``device`` is the kind of a `Device`, and ``index`` its
    index. ``pointer`` is None if the address is known only after waiting for the values; such memory is aligned for
    every library. ``immutable``: the library never writes this memory (JAX). ``readonly``: the array is flagged
    read-only (NumPy). ``exported``: whether the library exports this dtype by DLPack. ``file``: the file that is mapped
    there, from which the values can be read again; empty for other memory.
    """

    dtype: str
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    itemsize: int
    pointer: int | None
    device: str
    index: int = 0  # type: ignore[assignment]  # hides tuple.index: memory is not a sequence
    readonly: bool = False
    immutable: bool = False
    exported: bool = True
    file: str = ""

    @property
    def nbytes(self) -> int:
        """The size of a compact copy, in bytes."""
        return self.itemsize * prod(self.shape)

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
        return self._replace(strides=strides, pointer=None, readonly=False, immutable=False, file="")

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


# The classes below annotate functions that return several arrays, and are never instantiated: each call returns its
# library's own tuple, with these fields in this order. Seven NamedTuples would slow down ``import xarrayops``.


class UniqueAll(tuple[ArrayT, ArrayT, ArrayT, ArrayT], Generic[ArrayT]):
    """The result of `unique_all`: values, first indices, the index of each element's value, counts."""

    values: ArrayT
    indices: ArrayT
    inverse_indices: ArrayT
    counts: ArrayT


class UniqueCounts(tuple[ArrayT, ArrayT], Generic[ArrayT]):
    """The result of `unique_counts`: values and counts."""

    values: ArrayT
    counts: ArrayT


class UniqueInverse(tuple[ArrayT, ArrayT], Generic[ArrayT]):
    """The result of `unique_inverse`: values, and the index of each element's value."""

    values: ArrayT
    inverse_indices: ArrayT


class Eigen(tuple[ArrayT, ArrayT], Generic[ArrayT]):
    """The result of `eig` and `eigh`: eigenvalues, and eigenvectors in columns."""

    eigenvalues: ArrayT
    eigenvectors: ArrayT


class QR(tuple[ArrayT, ArrayT], Generic[ArrayT]):
    """The result of `qr`: the orthonormal factor and the upper triangular factor."""

    Q: ArrayT
    R: ArrayT


class Slogdet(tuple[ArrayT, ArrayT], Generic[ArrayT]):
    """The result of `slogdet`: the sign, and the logarithm of the absolute value."""

    sign: ArrayT
    logabsdet: ArrayT


class SVD(tuple[ArrayT, ArrayT, ArrayT], Generic[ArrayT]):
    """The result of `svd`: left singular vectors, singular values, right singular vectors in rows."""

    U: ArrayT
    S: ArrayT
    Vh: ArrayT
