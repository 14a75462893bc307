"""Counts of elements: each device counts its shard, and the counts are added."""

from __future__ import annotations

import math
from collections.abc import Callable
from numbers import Integral
from typing import Any

import jax
import jax.numpy as jnp

from xarrayops.plugin import Array
from xarrayops.plugin.backends import backend_by_name
from xarrayops.plugin.generic import common, counting, statistics
from xarrayops.plugin.precision import DOUBLE
from xarrayops.plugin.sharding import Cost
from xarrayops_backends.jax._sharded.shards import Names, Parts, Plan, lax, names, of_shards, shards_of, whole_beside


def _added(names: Names, counted: Callable[[Any], Array], weights: Any) -> Array:
    """The counts, or the sums of weights in double precision, of all shards."""
    if weights is None:
        return lax.psum(counted(None), names)
    weights = common.floating(jnp, weights)
    with jax.enable_x64(True):
        wide = weights.astype(DOUBLE.get(weights.dtype.name, weights.dtype))
        return lax.psum(counted(wide), names).astype(weights.dtype)


def _bincount(names: Names, length: int, x: Array, weights: Any = None) -> Array:
    xp = backend_by_name("jax").namespace
    return _added(names, lambda wide: counting.bincount(xp, x, wide, length=length), weights)


def _histogram(
    names: Names, bins: Any, density: bool, x: Array, given: Array, weights: Any = None
) -> tuple[Array, Array]:
    """The counts between edges, which are given, or those of equal bins: then their number is given as an operand."""
    xp = backend_by_name("jax").namespace
    if bins is not None:
        ends = lax.all_gather(jnp.stack([jnp.min(x), jnp.max(x)]), names).reshape(-1)  # pmax may lose a NaN
        given = statistics.bin_edges(jnp, ends, bins, None, given)
    found = _added(names, lambda wide: statistics.histogram(xp, x, given, weights=wide)[0], weights)
    return (statistics.densities(xp, x, found, given, weights) if density else found), given


def _cost(split: Any, count: int, weights: Any, ends: int = 0) -> Cost:
    """The cost of so many sums. ``ends`` are the bytes of the extrema of all shards."""
    dtype = jnp.result_type(int) if weights is None else common.floating(jnp, jnp.zeros(0, weights.dtype)).dtype
    counts = count * jnp.dtype(DOUBLE.get(dtype.name, dtype)).itemsize
    each = 24 if weights is None else 48  # bytes for each element: its bin and its weight, with temporary arrays
    return Cost(counts + ends, split.shard_bytes + each * math.prod(split.shard_shape) + 4 * counts, "replicated")


def _has_own(x: Array, weights: Any) -> bool:
    """Whether weights have the shape of x, and are split like it or not at all; None has."""
    split, other = shards_of(x), shards_of(weights)
    is_alike = other is None or (other.mesh, other.spec) == (split.mesh, split.spec)
    return is_alike and (weights is None or weights.shape == x.shape)


def bincount(x: Array, /, weights: Any = None, *, minlength: int = 0, length: int | None = None) -> Plan | None:
    split = shards_of(x)
    is_counted = split is not None and x.ndim == 1 and jnp.isdtype(x.dtype, ("bool", "integral"))
    if not is_counted or not _has_own(x, weights):
        return None

    def run() -> Array:
        counting.require_counts(jnp, x, weights, minlength, length)
        count = counting.with_length(jnp, x, minlength)[1] if length is None else length
        return of_shards(_bincount, (along, count), (parts,) * len(operands), Parts(), *operands)

    along, parts = names(split, (0,)), Parts(*split.spec)
    operands = (x,) if weights is None else (x, weights)
    return Plan(run, Cost(None, None, "replicated") if length is None else _cost(split, length, weights))


def histogram(
    x: Array, /, bins: Any = 10, *, range: Any = None, density: bool = False, weights: Any = None
) -> Plan | None:
    split = shards_of(x)
    is_vector, is_number = getattr(bins, "ndim", 0) == 1, isinstance(bins, Integral) and int(bins) > 0
    if split is None or jnp.iscomplexobj(x) or shards_of(bins) or not _has_own(x, weights) or is_vector is is_number:
        return None
    spans = range is None and is_number
    along, parts = names(split), Parts(*split.spec)
    given = (parts, Parts(), parts)[: 2 + (weights is not None)]

    def run() -> Any:
        edges = jnp.asarray(bins)
        if not spans:
            xp = backend_by_name("jax").namespace
            edges = whole_beside(x, statistics.bin_edges(xp, jnp.zeros(0, x.dtype), bins, range))
        operands = (x, edges) if weights is None else (x, edges, weights)
        return of_shards(_histogram, (along, bins if spans else None, density), given, (Parts(), Parts()), *operands)

    count = bins.shape[0] - 1 if is_vector else int(bins)
    return Plan(run, _cost(split, count, weights, 2 * split.pieces * x.dtype.itemsize * spans))
