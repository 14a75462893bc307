"""Medians and quantiles along a split axis, from counts: `xarrayops.plugin.generic.blocks_selection`."""

from __future__ import annotations

import math
from functools import partial
from itertools import accumulate
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from xarrayops.plugin import Array
from xarrayops.plugin.generic import blocks_selection as blocks, common, quantiles
from xarrayops.plugin.sharding import Cost, described
from xarrayops_backends.jax._dtypes import _CONFIG
from xarrayops_backends.jax._sharded.shards import Names, Parts, Plan, lax, names, of_shards, shards_of

_COUNTED = 2**31
"""Counts of fewer elements are int32."""


@partial(jax.custom_jvp, nondiff_argnums=(0,))
def _elements(names: Names, rows: Array, ranks: Array) -> Array:
    """The elements at ranks of each row of a matrix."""
    dtype = rows.dtype
    ordered, places = jnp.sort(rows, axis=-1), blocks.start(jnp, ranks, dtype)
    for shift in range(8 * dtype.itemsize - blocks.DIGIT, -1, -blocks.DIGIT):
        below = partial(blocks.below, jnp, shift=shift, dtype=dtype, view=lax.bitcast_convert_type)
        counts = jax.vmap(below)(ordered, places).astype(ranks.dtype)
        places = blocks.narrowed(jnp, places, ranks, lax.psum(counts, names), shift)
    return blocks.numbers(jnp, places, dtype, lax.bitcast_convert_type)


@_elements.defjvp
def _tangents(names: Names, primals: Any, tangents: Any) -> tuple[Array, Array]:
    """The tangent of an element is the mean of those that equal it: bit patterns have no derivative."""
    found = _elements(names, *primals)

    def mean(element: Array) -> Array:
        is_equal = primals[0] == element[:, None]
        total = lax.psum(jnp.sum(jnp.where(is_equal, tangents[0], 0), axis=-1), names)
        return total / lax.psum(jnp.count_nonzero(is_equal, axis=-1), names).astype(total.dtype)

    return found, lax.map(mean, found.T).T


def _of_shard(
    names: Names, name: str, count: str, axes: tuple[int, ...], kept: tuple[int, ...], options: Any, x: Array, *q: Array
) -> Array:
    """The generic function, whose elements are selected from all shards; ``kept`` axes have the extent 1.

    ``count`` is the dtype of counts.
    """

    def select(xp: Any, rows: Array, *indices: Any) -> list[Array]:
        """As `quantiles.by_sort`."""
        with jax.enable_x64(_CONFIG.jax_enable_x64 or count == "int64"):
            each = [jnp.atleast_1d(jnp.asarray(index, count)) for index in indices]
            ranks = jnp.concatenate([jnp.broadcast_to(i, (*rows.shape[:-1], i.shape[-1])) for i in each], axis=-1)
            found = _elements(names, *(array.reshape(-1, array.shape[-1]) for array in (rows, ranks)))
        found = found.reshape(ranks.shape)
        parts = jnp.split(found, [*accumulate(i.shape[-1] for i in each)][:-1], axis=-1)
        return [part[..., 0] if isinstance(i, int) else part for part, i in zip(parts, indices, strict=True)]

    order = quantiles.Order(select, partial(lax.psum, axis_name=names))
    found = getattr(quantiles, name)(jnp, x, *q, axis=axes, order=order, **dict(options))
    return jnp.expand_dims(found, [found.ndim - x.ndim + len(axes) + axis for axis in kept])


def _plan(
    name: str, x: Array, /, q: Any = None, *, axis: common.Axes = None, keepdims: bool = False, **options: Any
) -> Plan | None:
    split, method = shards_of(x), options.get("method", "linear")
    if split is None or jnp.iscomplexobj(x) or shards_of(q) or method not in quantiles.METHODS:
        return None
    axes = common.normal_axes(axis, x.ndim)
    along = names(split, axes)
    keeps_dtype = method in quantiles.ROUNDED and x.dtype != bool
    dtype = x.dtype if keeps_dtype else common.floating(jnp, jnp.zeros(0, x.dtype)).dtype
    skips_nan = name.startswith("nan") and jnp.issubdtype(dtype, jnp.floating)
    rows = math.prod(extent for each, extent in enumerate(split.shard_shape) if each not in axes)
    count = "int32" if math.prod(x.shape) < _COUNTED else "int64"
    ranks = 2 * math.prod(np.shape(q)) + (not skips_nan)
    counts = rows * ranks * jnp.dtype(count).itemsize << blocks.DIGIT
    moves = counts * dtype.itemsize + rows * jnp.result_type(int).itemsize * skips_nan
    if not along or moves >= split.gathered(axes):
        return None
    spec: list[Any] = [None] * np.ndim(q)
    spec += [None if each in axes else part for each, part in enumerate(split.spec) if keepdims or each not in axes]
    holds = split.shard_bytes + 3 * split.shard_bytes * dtype.itemsize // x.dtype.itemsize + 16 * counts
    operands = (q,) if isinstance(q, jax.Array) else ()
    if q is not None and not operands:
        options["q"] = float(q)
    static = (along, name, count, axes, axes if keepdims else (), tuple(options.items()))
    given = (Parts(*split.spec), *(Parts() for _ in operands))
    cost = Cost(moves, holds, described("jax", spec))
    return Plan(lambda: of_shards(_of_shard, static, given, Parts(*spec), x, *operands), cost)


median, quantile, percentile, nanmedian, nanquantile, nanpercentile = (
    partial(_plan, name) for name in ("median", "quantile", "percentile", "nanmedian", "nanquantile", "nanpercentile")
)
