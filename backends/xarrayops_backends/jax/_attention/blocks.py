"""Attention in XLA, by blocks.

Each block has the scores of some queries and keys, combined by an online softmax. A step processes one batch row and
one key head, or as many of them as have `SCORES` scores together. The query heads that share a key head are stacked,
so that keys are not repeated. `jax.checkpoint` recomputes the scores of a block for the gradient, so that memory grows
linearly with the sequence length, and forward-mode derivatives work too. See Rabe and Staats 2021,
https://arxiv.org/abs/2112.05682.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp

from xarrayops.plugin import Array, Attention
from xarrayops_backends.jax import _shards
from xarrayops_backends.jax._compiler import _jit
from xarrayops_backends.jax._devices import _on_platform, _platform_of
from xarrayops_backends.jax._standard.linalg import _precision

# The maximum number of queries in a block, over all query heads that share a key head.
ROWS = 512
# The number of scores in a block, by platform. They fit in the caches of the CPU cores.
SCORES = {"cpu": 1 << 20}
# The number of scores in a block on an accelerator, which needs more work per step.
MANY_SCORES = 1 << 25
# A block of keys is split into this many parts; only the visible parts are read.
PARTS = 4
# With fewer queries than this, all parts of a key block are read.
FEW_ROWS = 64
# Larger than any distance between two positions, and far below the limit of int32.
FAR = 1 << 29

# For each query: the largest score so far, and, relative to it, the sum of weights and the weighted sum of values.
State = tuple[Array, Array, Array]


def blocked(a: Attention, /) -> tuple[Array, Array | None]:
    """Attention by blocks. All numbers are traced, so that calls with equal shapes are compiled only once."""
    # The user may have forbidden it.
    with jax.numpy_rank_promotion("allow"):
        is_split = _shards.may_be_split(_shards.primal(a.q))
        return attended(plain(a), platform=_platform_of(a.q), is_split=is_split)


def plain(a: Attention) -> Attention:
    """The call without an offset, which moves into the limits: query i sees j iff -left <= j - i <= right.

    They are traced numbers, so a growing cache compiles nothing anew.
    """
    left = None if a.left is None else _reach(a.left - a.offset)
    right = None if a.right is None else _reach(a.right + a.offset)
    lengths = {name: x.astype(jnp.int32) for name in ("q_lengths", "kv_lengths") if (x := getattr(a, name)) is not None}
    return a._replace(left=left, right=right, offset=0, return_lse=False, bottom_right=False, **lengths)


def _reach(distance: Any) -> Any:
    """A distance between positions as int32, clipped to `FAR`, which has the same effect as any larger distance."""
    if isinstance(distance, int):
        return max(-FAR, min(FAR, distance))
    return jnp.clip(distance, -FAR, FAR).astype(jnp.int32)


@partial(_jit, static_argnames=("platform", "is_split"))
def attended(a: Attention, platform: str | None, is_split: bool) -> tuple[Array, Array]:
    """Attention over the whole batch and all heads, with the block size of the platform."""
    batch, heads, queries, _ = a.q.shape
    wide = jnp.promote_types(a.q.dtype, jnp.float32)
    if 0 in (batch, heads, queries, a.k.shape[2]):
        return jnp.zeros((*a.q.shape[:3], a.v.shape[3]), a.q.dtype), jnp.full(a.q.shape[:3], -jnp.inf, wide)
    at = {name: partial(_by_blocks, scores, wide, is_split) for name, scores in SCORES.items()}
    elsewhere = partial(_by_blocks, MANY_SCORES, None, is_split)
    found: tuple[Array, Array] = _on_platform(platform, a, default=elsewhere, **at)
    return found


def _by_blocks(scores: int, wide: Any, is_split: bool, a: Attention) -> tuple[Array, Array]:
    """Attention in blocks of the given number of scores.

    The operands of products are cast to ``wide``, or keep their dtype if it is None; sums are in float32 or wider.
    Half-precision operands use tensor cores, at the cost of rounded weights; fused kernels round them too. If batch
    rows and heads may be on several devices, all of them are processed at once: XLA moves the operands of a loop.
    """
    batch, heads, queries, _ = a.q.shape
    shared, keys = a.k.shape[1:3]
    group = heads // shared
    if is_split and wide is None:
        scores = max(scores // (batch * shared), 1)  # accelerators would hold as many for each row and head
    # Rows first, because a block with many rows reads each key for many products; then as many keys as the scores
    # allow; then several heads at once, if both extents are short.
    rows = min(max(ROWS // group, 1), queries)
    columns = min(max(scores // (group * rows), 1), keys)
    at_once = max(scores // (group * rows * columns), 1)
    limited = any(x is not None for x in (a.left, a.right, a.q_lengths, a.kv_lengths))
    chosen = limited and scores < MANY_SCORES and group * rows >= FEW_ROWS
    if chosen:
        # Small blocks skip more keys, because the visible parts are chosen for each block, and for each head alone.
        rows, at_once = max(rows // 2, 1), 1

    def grouped(x: Array | None) -> Array | None:
        if x is None or group == 1:  # XLA copies arrays for an axis of extent 1
            return x
        return x[:, :, None] if x.shape[1] == 1 else x.reshape(x.shape[0], shared, group, *x.shape[2:])

    a = a._replace(q=grouped(a.q), mask=grouped(a.mask), bias=grouped(a.bias))
    numbers = ("left", "right", "q_lengths", "kv_lengths")
    given: dict[str, Any] = {n: jnp.reshape(x, (-1,)) for n in numbers if (x := getattr(a, n)) is not None}
    a = a._replace(**given)
    if wide is not None:
        # Once, and not for each block of queries.
        a = a._replace(k=a.k.astype(wide), v=a.v.astype(wide))
    head = partial(_head, rows=rows, columns=columns, chosen=chosen)
    # Two nested maps, over batch rows and over key heads, which batch as many of them as a step may hold.
    of_row = partial(_over, head, ("q", "k", "v", "mask", "bias"), shared if is_split else at_once)
    rows_at_once = batch if is_split else max(at_once // shared, 1)
    out, lse = _over(of_row, ("q", "k", "v", "mask", "bias", *numbers), rows_at_once, a)
    return out.reshape(batch, heads, queries, a.v.shape[3]), lse.reshape(batch, heads, queries)


def _over(function: Callable[[Attention], Any], names: tuple[str, ...], at_once: int, a: Attention) -> Any:
    """Map the function over the first axis of these fields; an axis of length 1 broadcasts."""
    given = {name: x for name in names if (x := getattr(a, name)) is not None}
    # Fields of extent 1 broadcast: they are closed over, not repeated.
    a = a._replace(**{name: x[0] for name, x in given.items() if x.shape[0] == 1})
    mapped = {name: x for name, x in given.items() if x.shape[0] != 1}
    if not mapped:
        return jax.tree.map(lambda y: y[None], function(a))
    count = next(iter(mapped.values())).shape[0]

    def of(part: dict[str, Array]) -> Any:
        return function(a._replace(**part))

    if at_once >= count:
        return jax.vmap(of)(mapped)
    return jax.lax.map(of, mapped, batch_size=at_once if at_once > 1 else None)


def _head(a: Attention, *, rows: int, columns: int, chosen: bool) -> tuple[Array, Array]:
    """Attention of one key head, k (Lk, D) and v (Lk, Dv), with the queries that share it.

    The queries are (G, Lq, D), or (Lq, D) of one head.
    """
    a = a._replace(q=_within(a.q, a.q_lengths), v=_within(a.v, a.kv_lengths))
    queries = a.q.shape[-2]
    whole = queries // rows
    first, last = a.q[..., : whole * rows, :], a.q[..., whole * rows :, :]
    cut = jnp.moveaxis(first.reshape(*first.shape[:-2], whole, rows, first.shape[-1]), -3, 0)
    # The gradient of lax.map would keep the scores of all blocks. prevent_cse is not needed inside of a loop, whose
    # body XLA does not merge with the forward pass.
    block = jax.checkpoint(partial(_block, a, columns, chosen), prevent_cse=False)
    out, lse = jax.lax.map(lambda t: block(*t), (jnp.arange(whole, dtype=jnp.int32) * rows, cut))
    out = jnp.moveaxis(out, 0, -3).reshape(*first.shape[:-1], out.shape[-1])
    lse = jnp.moveaxis(lse, 0, -2).reshape(first.shape[:-1])
    if whole * rows == queries:
        return out, lse
    # The last queries, fewer than a block, in a program of that shape: padding them would compute hidden rows.
    out_left, lse_left = block(jnp.int32(whole * rows), last)
    return jnp.concatenate([out, out_left], axis=-2), jnp.concatenate([lse, lse_left], axis=-1)


def _within(x: Array, length: Array | None) -> Array:
    """Set rows beyond the length to zero: a weight of 0 times NaN would be NaN, in the result and in gradients."""
    if length is None:
        return x
    return jnp.where(jnp.arange(x.shape[-2])[:, None] < length, x, 0)


def _block(a: Attention, columns: int, chosen: bool, i: Array, q: Array) -> tuple[Array, Array]:
    """Attention of one block of queries, which starts at position i, with all keys that it sees."""
    wide = jnp.promote_types(a.k.dtype, jnp.float32)
    # Half-precision queries are not scaled, which would round them; their scores are.
    queries = q.astype(wide) * a.scale if a.k.dtype == wide else q
    numbers = (*q.shape[:-1], 1)
    # Neutral elements: no maximum yet, and empty sums.
    state = (
        jnp.full(numbers, -jnp.inf, wide),
        jnp.zeros(numbers, wide),
        jnp.zeros((*q.shape[:-1], a.v.shape[1]), wide),
    )
    keys = a.k.shape[0]
    step: Callable[..., State] = partial(_chosen if chosen else _updated, a, queries, i)
    if columns == keys:
        state = step(state, jnp.int32(0), a.k, a.v)
    else:
        # Also for each block of keys: the gradient of scan would keep their scores within one block of queries.
        step = jax.checkpoint(step, prevent_cse=False)
        whole = keys // columns
        cut = [x[: whole * columns].reshape(whole, columns, x.shape[1]) for x in (a.k, a.v)]
        positions = jnp.arange(whole, dtype=jnp.int32) * columns
        state, _ = jax.lax.scan(lambda state, t: (step(state, *t), None), state, (positions, *cut))
        if whole * columns < keys:
            state = step(state, jnp.int32(whole * columns), a.k[whole * columns :], a.v[whole * columns :])
    largest, weights, total = state
    empty = weights == 0
    if a.q_lengths is not None:
        empty |= (i + jnp.arange(q.shape[-2])[:, None]) >= a.q_lengths
    # Before the division and the logarithm, whose derivatives at 0 would be NaN even where the value is dropped.
    weights = jnp.where(empty, 1, weights)
    lse = jnp.where(empty, -jnp.inf, largest + jnp.log(weights))
    return jnp.where(empty, 0, total / _times_ones(weights, a.v.shape[1])).astype(q.dtype), lse[..., 0]


def _chosen(a: Attention, q: Array, i: Array, state: State, j: Array, k: Array, v: Array) -> State:
    """Update the state with the visible parts of a block of keys, which starts at position j."""
    keys = k.shape[0]
    # The visible keys of this block of queries, relative to j. The bounds are traced, so they cannot be shapes.
    begin, end = jnp.int32(0), jnp.int32(keys)
    if a.left is not None:
        begin = jnp.maximum(begin, i - a.left - j)
    if a.right is not None:
        end = jnp.minimum(end, i + q.shape[-2] + a.right - j)
    if a.kv_lengths is not None:
        end = jnp.minimum(end, a.kv_lengths - j)
    if a.q_lengths is not None:
        end = jnp.where(i < a.q_lengths, end, 0)
    # A few static widths, each a branch that is compiled. The narrowest that holds the visible keys is run.
    widths = sorted({-(-keys * n // PARTS) for n in range(PARTS + 1)})

    def read(width: int, state: State) -> State:
        # Moved back so that the slice stays within the block: it may hold hidden keys, which are masked as ever.
        first = jnp.clip(begin, 0, keys - width)
        return _updated(a, q, i, state, j + first, *(jax.lax.dynamic_slice_in_dim(x, first, width) for x in (k, v)))

    # Width 0 is the first branch: nothing is visible, and the state stays as it is.
    least = jnp.searchsorted(jnp.array(widths, jnp.int32), end - begin)
    return jax.lax.switch(least, [lambda state: state, *(partial(read, width) for width in widths[1:])], state)


def _updated(a: Attention, q: Array, i: Array, state: State, j: Array, k: Array, v: Array) -> State:
    """Update the state with a block of keys, which starts at position j."""
    scores = _scores(a, q, i, j, k)
    # The subtracted maximum does not change the result, so no gradient flows through it.
    largest = jax.lax.stop_gradient(jnp.maximum(state[0], scores.max(axis=-1, keepdims=True, initial=-jnp.inf)))
    # -inf - -inf is NaN. With any finite base the weights of a row without keys are exp(-inf) = 0.
    base = jnp.where(largest == -jnp.inf, 0, largest)
    # Invariant: weights = sum(exp(s - largest)), total = sum(exp(s - largest) * v) over the keys so far. The factor
    # exp(old - new), at most 1, moves both to the new maximum.
    fade = jnp.exp(state[0] - base)
    p = jnp.exp(scores - base)
    return largest, state[1] * fade + _times_ones(p, 1), state[2] * fade + _product(p, v, 0)


def _product(x: Array, y: Array, axis: int) -> Array:
    """A product of operands in the dtype of y, with sums in float32 or wider."""
    wide = jnp.promote_types(y.dtype, jnp.float32)
    axes = (((x.ndim - 1,), (axis,)), ((), ()))
    return jax.lax.dot_general(x.astype(y.dtype), y, axes, precision=_precision(), preferred_element_type=wide)


def _times_ones(x: Array, columns: int) -> Array:
    """The product with a matrix of ones: sums of rows, or copies of a column, which is the derivative of sums.

    XLA chooses the order of the terms of `jnp.sum` by the size of the array, but not that of products. So the parts of
    a batch give the same bits as the whole.
    """
    return _product(x, jnp.ones((x.shape[-1], columns), x.dtype), 0)


def _products(q: Array, k: Array) -> Array:
    """The products of queries and keys."""
    # Few rows: on CPUs up to 20 times as fast in this order, for which XLA has a kernel.
    if math.prod(q.shape[:-1]) < FEW_ROWS:
        return jnp.moveaxis(_product(k, q, q.ndim - 1), 0, -1)
    return _product(q, k, 1)


@jax.custom_jvp
def _products_within(q: Array, k: Array, length: Array) -> Array:
    """The products of queries and keys, 0 beyond the length even for NaN.

    XLA takes several times as long for products of keys that it sets to zero first. Only the derivative needs them.
    """
    return jnp.where(jnp.arange(k.shape[0]) < length, _products(q, k), 0)


@_products_within.defjvp
def _derivative(primals: tuple[Array, ...], tangents: tuple[Array, ...]) -> tuple[Array, Array]:
    q, k, length = primals
    # A tangent of 0 times NaN beyond the length would be NaN, and its transpose sums over keys: here the zeros are
    # needed.
    change = _products(tangents[0], _within(k, length)) + _products(q, tangents[1])
    return _products_within(q, k, length), jnp.where(jnp.arange(k.shape[0]) < length, change, 0)


def _scores(a: Attention, q: Array, i: Array, j: Array, k: Array) -> Array:
    """The scores of a block of queries and a block of keys; -inf if a query does not see a key."""
    scores = _products(q, k) if a.kv_lengths is None else _products_within(q, k, a.kv_lengths - j)
    # Half-precision queries were not scaled before the product.
    if k.dtype != scores.dtype:
        scores = scores * a.scale
    if a.softcap is not None:
        scores = jnp.tanh(scores / a.softcap) * a.softcap
    if a.bias is not None:
        scores += _part(a.bias, i, j, scores.shape).astype(scores.dtype)
    seen = [] if a.mask is None else [_part(a.mask, i, j, scores.shape)]
    columns = j + jnp.arange(k.shape[0], dtype=jnp.int32)
    behind = columns - (i + jnp.arange(q.shape[-2], dtype=jnp.int32)[:, None])
    if a.left is not None:
        seen.append(behind >= -a.left)
    if a.right is not None:
        seen.append(behind <= a.right)
    if a.kv_lengths is not None:
        seen.append(columns < a.kv_lengths)
    for limit in seen:
        scores = jnp.where(limit, scores, -jnp.inf)
    return scores


def _part(x: Array, i: Array, j: Array, shape: tuple[int, ...]) -> Array:
    """The part of a mask or bias for a block of queries and a block of keys; axes of length 1 are kept."""
    for axis, start in ((-2, i), (-1, j)):
        if x.shape[axis] > 1:
            x = jax.lax.dynamic_slice_in_dim(x, start, shape[axis], axis)
    return x
