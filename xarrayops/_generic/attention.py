"""Attention with the functions of the standard: blocks of queries times blocks of keys, with an online softmax.

The scores of a block are freed before those of the next block are computed, so memory grows with the sequence and not
with its square. The maximum and the sum of each row are updated with every block: Milakov and Gimelshein 2018,
https://arxiv.org/abs/1805.02867; Rabe and Staats 2021, https://arxiv.org/abs/2112.05682.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import partial
from types import ModuleType
from typing import Any

from xarrayops.plugin.arrays import Array
from xarrayops.plugin.attention import Attention, has_band, has_one_offset

# The number of keys in a block.
KEYS = 1024
# The largest number of scores in a block, over all heads and rows of the batch, unless `QUERIES` makes more.
SCORES = 1 << 20
# The same for accelerators, where each block costs several kernel launches.
MANY_SCORES = 1 << 26
# The smallest number of queries in a block.
QUERIES = 16

Span = tuple[int, int]
# For each query: the largest score so far, and relative to it the sum of weights and the weighted sum of values.
State = tuple[Array, Array, Array]


def attention(
    xp: ModuleType, a: Attention, /, *, recomputed: Callable[..., Any] = lambda block: block
) -> tuple[Array, Array | None]:
    """Attention for any library that follows the standard.

    ``recomputed`` wraps a function so that its intermediate values are computed again for the gradient. Without it, a
    library with automatic differentiation would keep all scores.
    """
    a = without_padding(xp, a)
    batch, heads, queries, _ = a.q.shape
    spans = list(cut(a.k.shape[2], KEYS))
    # Sliced once, so that a gradient concatenates the parts once instead of once per block of queries.
    keys = [a.k[:, :, begin:end, :] for begin, end in spans]
    values = [a.v[:, :, begin:end, :] for begin, end in spans]
    scores = batch * heads * min(KEYS, a.k.shape[2])
    outs, sums = [], []
    # xp.concat needs at least one array, so there is one block even without queries.
    for span in cut(queries, max(QUERIES, _block(a) // max(scores, 1))) if queries else [(0, 0)]:
        # Blocks that the band hides are not even read: a causal call computes half of the scores.
        near = [n for n, other in enumerate(spans) if sees(a, span, other)]
        # Arrays are arguments, not captured: a recomputing wrapper must know what to differentiate with respect to.
        block = recomputed(partial(_attended, xp, a, span, [spans[n] for n in near]))
        out, lse = block(a.q[:, :, span[0] : span[1], :], [keys[n] for n in near], [values[n] for n in near])
        outs.append(out)
        sums.append(lse)
    return xp.concat(outs, axis=2), xp.concat(sums, axis=2)


def _block(a: Attention) -> int:
    """The largest number of scores in a block, by the device of the arrays; task graphs and tracers have none."""
    device = str(getattr(a.q, "device", None) or "cpu").lower()
    return SCORES if "cpu" in device else MANY_SCORES


def cut(extent: int, step: int) -> Iterator[Span]:
    """The blocks of an axis."""
    return ((begin, min(begin + step, extent)) for begin in range(0, extent, step))


def sees(a: Attention, queries: Span, keys: Span) -> bool:
    """Whether the band lets any query of a block see any key of another; True if that depends on values."""
    if not has_one_offset(a):
        return True
    # j - i - offset is smallest for the first key and the last query, and i + offset - j for the last key and the first
    # query. If even these are beyond the limits, all pairs are.
    behind = keys[0] - (queries[1] - 1) - a.offset
    before = queries[0] + a.offset - (keys[1] - 1)
    return (a.right is None or behind <= a.right) and (a.left is None or before <= a.left)


def is_full(a: Attention, queries: Span, keys: Span) -> bool:
    """Whether the band lets every query of a block see every key of another."""
    if not has_one_offset(a):
        return not has_band(a)
    # The opposite corners: if the largest distances are within the limits, all are, and no mask is needed.
    behind = keys[1] - 1 - queries[0] - a.offset
    before = queries[1] - 1 + a.offset - keys[0]
    return (a.right is None or behind <= a.right) and (a.left is None or before <= a.left)


def without_padding(xp: ModuleType, a: Attention) -> Attention:
    """Write zeros beyond the lengths: a weight of 0 times NaN is NaN, in the result and in gradients."""
    if a.q_lengths is not None:
        a = a._replace(q=_zeroed(xp, a.q, a.q_lengths))
    if a.kv_lengths is not None:
        a = a._replace(k=_zeroed(xp, a.k, a.kv_lengths), v=_zeroed(xp, a.v, a.kv_lengths))
    return a


def _zeroed(xp: ModuleType, x: Array, lengths: Array) -> Array:
    places = xp.reshape(_places(xp, x, (0, x.shape[2])), (1, 1, -1, 1))
    return xp.where(places < _by_row(xp, lengths), x, xp.zeros_like(x))


def _places(xp: ModuleType, x: Array, span: Span) -> Array:
    # Tracers have no device; the compiler places the result then.
    return xp.arange(*span, device=getattr(x, "device", None))


def _by_row(xp: ModuleType, numbers: Array) -> Array:
    """One number for each row of the batch, shaped to broadcast with scores."""
    return xp.reshape(numbers, (-1, 1, 1, 1))


def _attended(
    xp: ModuleType, a: Attention, span: Span, spans: list[Span], q: Array, keys: list[Array], values: list[Array]
) -> tuple[Array, Array]:
    """Attention of one block of queries over all blocks of keys that it sees."""
    wide = xp.float64 if a.q.dtype == xp.float64 else xp.float32
    # queries x size multiplications, where scores would take queries x keys.
    scaled = xp.astype(q, wide, copy=False) * a.scale
    state = None
    for other, k, v in zip(spans, keys, values, strict=True):
        scores = _scores(xp, a, span, other, scaled, xp.astype(k, wide, copy=False))
        state = _updated(xp, state, scores, xp.astype(v, wide, copy=False))
    if state is None:
        # No block of keys is in the band. Built from q, so that the result stays traced and differentiable.
        nothing = xp.zeros_like(q[..., 0], dtype=wide)
        out = xp.broadcast_to(nothing[..., None], (*nothing.shape, a.v.shape[3]))
        return xp.astype(out, a.q.dtype), nothing - math.inf
    largest, weights, total = state
    # With any key the sum is at least 1, the weight of the largest score. The inner where keeps the logarithm and the
    # division of 0 out of gradients, which would be NaN although the outer where drops the value.
    empty = weights == 0
    lse = xp.where(empty, -math.inf, largest + xp.log(xp.where(empty, xp.ones_like(weights), weights)))
    out = total / xp.where(empty, xp.ones_like(weights), weights)
    if a.q_lengths is not None:
        # The padding of q is 0, so these rows have finite scores: a mean of the values, which is replaced here.
        lost = xp.reshape(_places(xp, q, span), (1, 1, -1, 1)) >= _by_row(xp, a.q_lengths)
        out, lse = xp.where(lost, xp.zeros_like(out), out), xp.where(lost, -math.inf, lse)
    return xp.astype(out, a.q.dtype, copy=False), lse[..., 0]


def _updated(xp: ModuleType, state: State | None, scores: Array, v: Array) -> State:
    """The state after another block of keys."""
    # Invariant after each block: largest is the maximum of the scores so far, weights the sum of exp(s - largest) and
    # total the sum of exp(s - largest) * v. total / weights does not depend on largest.
    largest = xp.max(scores, axis=-1, keepdims=True)
    if state is not None:
        largest = xp.maximum(largest, state[0])
    # -inf - -inf is NaN. Rows without keys so far get a finite base, and all of their weights are exp(-inf) = 0.
    base = xp.where(largest == -math.inf, xp.zeros_like(largest), largest)
    p = xp.exp(scores - base)
    weights, total = xp.sum(p, axis=-1, keepdims=True), _product(xp, p, v)
    if state is not None:
        # exp(s - old) * exp(old - new) = exp(s - new). The maximum only grows, so the factor is at most 1; it is 0 for
        # a row that had no keys, whose sums are 0 too.
        fade = xp.exp(state[0] - base)
        weights, total = weights + state[1] * fade, total + state[2] * fade
    return largest, weights, total


def _product(xp: ModuleType, left: Array, right: Array) -> Array:
    """Matrix products of all heads. Heads that share keys are rows of one product, so no key is repeated."""
    batch, heads, rows, inner = left.shape
    # Heads that share keys are neighbours, so this is a view of C-ordered arrays.
    shared = xp.reshape(left, (batch, right.shape[1], heads // max(right.shape[1], 1) * rows, inner))
    return xp.reshape(xp.matmul(shared, right), (batch, heads, rows, right.shape[3]))


def _scores(xp: ModuleType, a: Attention, queries: Span, keys: Span, q: Array, k: Array) -> Array:
    """The scores of a block of queries and a block of keys, -inf where a query does not see a key."""
    scores = _product(xp, q, xp.matrix_transpose(k))
    if a.softcap is not None:
        scores = xp.tanh(scores / a.softcap) * a.softcap
    if a.bias is not None:
        scores = scores + xp.astype(part(a.bias, queries, keys), scores.dtype, copy=False)
    for seen in limits(xp, a, queries, keys, q):
        scores = xp.where(seen, scores, -math.inf)
    return scores


def part(x: Array, queries: Span, keys: Span) -> Array:
    """The part of a mask or a bias for a block of queries and a block of keys; axes of extent 1 are kept."""
    rows = slice(*queries) if x.shape[2] > 1 else slice(None)
    columns = slice(*keys) if x.shape[3] > 1 else slice(None)
    return x[:, :, rows, columns]


def limits(xp: ModuleType, a: Attention, queries: Span, keys: Span, like: Array) -> Iterator[Array]:
    """The conditions under which a query sees a key."""
    j = xp.reshape(_places(xp, like, keys), (1, 1, 1, -1))
    if a.mask is not None:
        yield part(a.mask, queries, keys)
    if a.kv_lengths is not None:
        yield j < _by_row(xp, a.kv_lengths)
    # Only blocks on the edge of the band need a comparison of positions.
    if not is_full(a, queries, keys):
        i = xp.reshape(_places(xp, like, queries), (1, 1, -1, 1))
        place = i + (a.offset if has_one_offset(a) else _by_row(xp, a.offset))
        if a.right is not None:
            yield j - place <= a.right
        if a.left is not None:
            yield place - j <= a.left
