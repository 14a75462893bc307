"""How arrays are split over devices or tasks, and what a call on them costs.

`xarrayops.plugin.costs` has the rules from which the costs follow.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from math import isnan, prod
from typing import Any

from xarrayops.plugin.arrays import Record

Axis = str | tuple[str, ...] | None
"""The axes of the mesh over which an axis of an array is split."""
Spec = tuple[Axis, ...]


class Sharding(Record):
    """How an array is split.

    Attributes
    ----------
    engine : str or None
        "dask", "jax" or "cubed"; None for an array that is not split: an array of another library, or of one device.
    mesh : dict or None
        The axes of the mesh, each with its size. For Dask and cubed, which have no mesh, its axes are "axis0", "axis1"
        ..., and the sizes are the numbers of chunks.
    spec : tuple or None
        For each axis of the array, the axes of the mesh over which it is split, or None. ``xo.shard(x, spec,
        mesh=mesh)`` splits another array in the same way.
    shape, shard_shape : tuple of int
        The shape of the array and of its largest shard. Sizes that Dask does not know yet are NaN.
    shard_bytes : int or None
        The bytes of the largest shard.
    pieces : int
        The number of different shards.
    partial : bool
        Whether the shards must still be added.
    addressable : bool
        Whether this process can read all shards.
    is_complex : bool
        Whether the elements are complex numbers.
    """

    engine: str | None
    mesh: dict[str, int] | None
    spec: Spec | None
    shape: tuple[int, ...]
    shard_shape: tuple[int, ...]
    shard_bytes: int | None
    pieces: int
    partial: bool = False
    addressable: bool = True
    is_complex: bool = False

    @property
    def counts(self) -> tuple[int, ...]:
        """The number of shards along each axis."""
        return pieces(self.spec, self.mesh, len(self.shape))

    @property
    def itemsize(self) -> int:
        """The bytes of an element; 0 for a shard without elements."""
        size = prod(self.shard_shape)
        return (self.shard_bytes or 0) // size if size else 0

    @property
    def is_scheduled(self) -> bool:
        """Whether a scheduler chooses where each chunk is computed, so that chunks of several arrays may be apart."""
        return self.engine == "dask"

    def gathered(self, axes: Iterable[int]) -> int:
        """The bytes of a shard that has these axes whole."""
        assert self.shard_bytes is not None, "the sizes are known"
        whole = prod(self.shape[axis] for axis in axes)
        part = prod(self.shard_shape[axis] for axis in axes)
        return self.shard_bytes * whole // part if part else 0


class Cost(Record):
    """What a call moves and holds, in bytes for each device or task, and how its result is split; None if unknown.

    ``moves`` are the bytes that a device or a task receives from others; for Dask an upper bound for each task, if it
    runs in the process that has the largest of its arguments. ``holds`` are the arguments, the results and the
    temporary arrays of the largest task.
    """

    moves: int | None = None
    holds: int | None = None
    sharding: str | None = None


def names(axis: Axis) -> tuple[str, ...]:
    """The axes of the mesh over which an axis is split."""
    return () if axis is None else (axis,) if isinstance(axis, str) else axis


def pieces(spec: Spec | None, mesh: Mapping[str, int] | None, ndim: int) -> tuple[int, ...]:
    """The number of shards along each axis of an array; without a spec it is whole."""
    return tuple(prod((mesh or {})[name] for name in names(axis)) for axis in spec or (None,) * ndim)


def of_chunks(engine: str, x: Any) -> Sharding:
    """How an array in chunks is split; the axes of the mesh are the axes of x that have several."""
    counts, part = tuple(map(len, x.chunks)), tuple(max(axis, default=0) for axis in x.chunks)
    axes = {i: f"axis{i}" for i, count in enumerate(counts) if count > 1}
    mesh, spec = {name: counts[i] for i, name in axes.items()}, tuple(axes.get(i) for i in range(x.ndim))
    size, is_complex = prod(part) * x.dtype.itemsize, x.dtype.kind == "c"
    nbytes = None if isnan(size) else size
    return Sharding(engine, mesh, spec, tuple(x.shape), part, nbytes, prod(counts), is_complex=is_complex)


def described(engine: str | None, spec: Iterable[Axis]) -> str:
    """How an array is split, for people: ``(rows, None)``; an array that is not split is one chunk, or replicated."""
    each = [" and ".join(names(axis)) or "None" for axis in spec]
    if any(text != "None" for text in each):
        return f"({', '.join(each)})" if len(each) > 1 else f"({each[0]},)"
    return "replicated" if engine == "jax" else "one chunk"


def shardings(given: Mapping[str, Any]) -> list[tuple[str, Sharding]]:
    """The arrays of a call, each with the name of its argument."""
    found = []
    for name, value in given.items():
        members = [value] if isinstance(value, Sharding) else value if isinstance(value, (tuple, list)) else ()
        found += [(name, x) for x in members if isinstance(x, Sharding)]
    return found


def is_known(x: Sharding) -> bool:
    """Whether the sizes and the places of the shards are known."""
    return x.shard_bytes is not None and (x.spec is not None or x.engine is None) and not any(map(isnan, x.shape))


@cache
def host_memory() -> int:
    """The memory that the processes of this machine may use, in bytes; 0 if it is unknown."""
    from xarrayops._system.machine import memory_bytes, memory_limit_bytes  # needed for the default limit only

    return memory_limit_bytes() or memory_bytes() or 0
