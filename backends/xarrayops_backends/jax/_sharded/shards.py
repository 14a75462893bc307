"""The shards of an array, and programs that each device runs with its own."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache, partial
from typing import Any

import jax
from jax.sharding import PartitionSpec

from xarrayops.plugin import Array
from xarrayops.plugin.arrays import Record
from xarrayops.plugin.sharding import Cost, names as names_of
from xarrayops_backends.jax import _shards
from xarrayops_backends.jax._compiler import _jit
from xarrayops_backends.jax._devices import is_lazy
from xarrayops_backends.jax._sharding import sharding_of

Names = tuple[str, ...]
"""Axes of the mesh."""
# Untyped: JAX does not annotate these.
Parts: Any = PartitionSpec
_jax: Any = jax
lax: Any = jax.lax


class Plan(Record):
    """How shards serve a call."""

    run: Callable[[], Any]
    cost: Cost


def shards_of(x: Any) -> Any:
    """The `Sharding` of an array over a mesh; None if it is whole on each device, or its shards are unknown."""
    found = sharding_of(x) if isinstance(x, jax.Array) else None
    return found if found is not None and found.spec is not None and found.pieces > 1 and x.size else None


def names(split: Any, axes: Iterable[int] | None = None) -> Names:
    """The axes of the mesh over which these axes of an array are split, or all axes."""
    of = split.spec if axes is None else (split.spec[axis] for axis in axes)
    return tuple(name for axis in of for name in names_of(axis))


def of_shards(function: Callable[..., Any], static: Any, given: tuple[Any, ...], made: Any, *arrays: Array) -> Any:
    """The results of a function of static arguments and shards, which each device calls with its own.

    ``given`` and ``made`` are the `Parts` of arguments and results. The first array is on the mesh.
    """
    x = arrays[0]
    mesh = (_jax.typeof(x) if is_lazy(x) else x).sharding.mesh
    return _program(function, static, mesh, given, made)(*arrays)


@cache
def _program(function: Callable[..., Any], static: Any, mesh: Any, given: Any, made: Any) -> Any:
    local = partial(function, *static)
    return _jit(_jax.shard_map(local, mesh=mesh, in_specs=given, out_specs=made, check_vma=False))


def whole_beside(x: Array, other: Array) -> Array:
    """The other array, whole on each device of x."""
    return other if is_lazy(x) else _shards.placed(other, _shards.whole(x.sharding))
