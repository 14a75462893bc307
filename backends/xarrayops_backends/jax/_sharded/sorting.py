"""Sorts along a split axis: the devices keep their number of elements, and exchange shards in pairs.

To find the greatest elements of all, each device gathers the greatest of each shard.
"""

from __future__ import annotations

import math
from typing import Any

import jax.numpy as jnp

from xarrayops.plugin import Array
from xarrayops.plugin.generic import blocks_sorting as blocks, order
from xarrayops.plugin.sharding import Cost, described
from xarrayops_backends.jax._devices import is_lazy
from xarrayops_backends.jax._extra import _greatest
from xarrayops_backends.jax._sharded.shards import Names, Parts, Plan, lax, names, of_shards, shards_of


def _ordered(arrays: list[Array], axis: int, descending: bool) -> list[Array]:
    """Arrays in the order of the first one, and where it is equal of the next."""
    found = lax.sort(arrays, dimension=axis, num_keys=len(arrays))
    return [jnp.flip(x, axis) for x in found] if descending else list(found)


def _merged(names: Names, count: int, axis: int, descending: bool, arrays: list[Array]) -> list[Array]:
    """The arrays of all shards in order: in each step a device keeps one half of its elements and its partner's."""
    place = lax.axis_index(names)
    arrays = _ordered(arrays, axis, descending)
    n = arrays[0].shape[axis]
    for partners in blocks.network(count):
        pairs = [pair for pair in enumerate(partners) if pair[0] != pair[1]]
        both = [jnp.concatenate([x, lax.ppermute(x, names, pairs)], axis) for x in arrays]
        partner = jnp.asarray(partners)[place]
        start = jnp.where(place < partner, 0, n)
        kept = [lax.dynamic_slice_in_dim(x, start, n, axis) for x in _ordered(both, axis, descending)]
        arrays = [jnp.where(place == partner, x, part) for x, part in zip(arrays, kept, strict=True)]
    return arrays


def _sort(names: Names, count: int, axis: int, descending: bool, x: Array) -> Array:
    return _merged(names, count, axis, descending, [x])[0]


def _argsort(names: Names, count: int, axis: int, descending: bool, x: Array) -> Array:
    """Equal elements keep their order: their places are compared, in reverse if the order is."""
    n = x.shape[axis]
    places = lax.broadcasted_iota(jnp.result_type(int), x.shape, axis) + n * lax.axis_index(names)
    last = n * count - 1
    found = _merged(names, count, axis, descending, [x, last - places if descending else places])[1]
    return last - found if descending else found


def _plan(function: Any, carried: int, x: Array, axis: int | None, descending: bool) -> Plan | None:
    """The plan of a function that carries so many bytes with each element."""
    split, axis = shards_of(x), 0 if axis is None and x.ndim == 1 else axis
    if split is None or axis is None or not -x.ndim <= axis < x.ndim or jnp.iscomplexobj(x):
        return None
    axis %= x.ndim
    count, nbytes = split.counts[axis], split.shard_bytes + carried * math.prod(split.shard_shape)
    if count == 1:
        return None
    static, parts = (names(split, (axis,)), count, axis, descending), Parts(*split.spec)
    cost = Cost(len([*blocks.network(count)]) * nbytes, 6 * nbytes, described("jax", split.spec))
    return Plan(lambda: of_shards(function, static, (parts,), parts, x), cost)


def sort(x: Array, /, *, axis: int | None = -1, descending: bool = False, stable: bool = True) -> Plan | None:
    return _plan(_sort, 0, x, axis, descending)


def argsort(x: Array, /, *, axis: int | None = -1, descending: bool = False, stable: bool = True) -> Plan | None:
    return _plan(_argsort, jnp.result_type(int).itemsize, x, axis, descending)


def _topk(names: Names, axis: int, k: int, largest: bool, x: Array) -> tuple[Array, Array]:
    """Of equal elements those of earlier shards come first."""
    n = x.shape[axis]
    values, places = _greatest(x, min(k, n), axis, largest)
    if not names:
        return values, places
    of_all = [
        lax.all_gather(each, names, axis=axis, tiled=True) for each in (values, places + n * lax.axis_index(names))
    ]
    values, chosen = _greatest(of_all[0], k, axis, largest)
    return values, jnp.take_along_axis(of_all[1], chosen, axis)


def topk(x: Array, /, k: int, *, axis: int = -1, largest: bool = True) -> Plan | None:
    split, axis, place = shards_of(x), order.require_count(x, k, axis), jnp.result_type(int).itemsize
    if split is None or k == 0 or x.dtype == bool or jnp.iscomplexobj(x):
        return None
    along, size = names(split, (axis,)), math.prod(split.shard_shape)
    found = split.counts[axis] * min(k, split.shard_shape[axis]) * size // split.shard_shape[axis]
    moves = found * (split.itemsize + place) if along else 0
    if (
        along and moves >= split.gathered((axis,)) and not is_lazy(x)
    ):  # without a plan JAX refuses to derive the sharding
        return None
    parts = Parts(*(None if each == axis else part for each, part in enumerate(split.spec)))
    cost = Cost(moves, 4 * (split.shard_bytes + place * size + moves), described("jax", parts))
    static = (along, axis, int(k), largest)
    return Plan(lambda: of_shards(_topk, static, (Parts(*split.spec),), (parts, parts), x), cost)
