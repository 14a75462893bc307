"""Attention over chunks: one partial result per chunk of queries and chunk of keys, then a tree of pairs merges them.

The final result is the mean of the partial results, weighted by ``exp(logsumexp)``. Each partial result carries its
logsumexp as an additional last column.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from xarrayops.plugin import Array, Attention, Call, has_one_offset
from xarrayops.plugin.backends import backend_of
from xarrayops.plugin.generic import sees
from xarrayops_backends.dask._blocks import (
    da,
    meta,
    require_numbers,
    require_sizes,
    without_chunk_warnings,
    without_empty_chunks,
)

# The axes of scores, a mask and a bias.
SCORES = ("b", "h", "i", "j")


def chunks_refusal(call: Call, /) -> str | None:
    """Refuse empty arrays, because Dask functions lose data or fail on chunks of length 0."""
    (a,) = call.args
    require_sizes("attention", a.q, a.k, a.v)
    return "an axis has no elements" if 0 in (*a.q.shape, *a.k.shape, *a.v.shape) else None


def attention(a: Attention, /) -> tuple[Array, Array | None]:
    """Attention as a task graph that keeps the chunks along batch, heads and sequence; the head size is one chunk."""
    require_numbers("attention", (a.q, a.k, a.v))
    # The head size is contracted, so a chunk must hold all of it; all else may stay in chunks.
    k = without_empty_chunks(a.k).rechunk({3: -1})
    batch, shared, _, _ = k.chunks
    group = a.q.shape[1] // max(a.k.shape[1], 1)
    # A chunk of key heads with exactly the query heads that share them: no head needs a key of another chunk.
    heads = tuple(extent * group for extent in shared)
    q = without_empty_chunks(a.q).rechunk({0: batch, 1: heads, 3: -1})
    v = a.v.rechunk({**dict(enumerate(k.chunks[:3])), 3: -1})
    queries, keys = q.chunks[2], k.chunks[2]
    operands = [
        *(q, ("b", "h", "i", "d"), k, ("b", "h", "j", "d"), v, ("b", "h", "j", "e")),
        # A block does not know its position. These two arrays give it the positions of its queries and keys.
        *(da.arange(sum(queries), chunks=(queries,)), ("i",), da.arange(sum(keys), chunks=(keys,)), ("j",)),
    ]
    optional: dict[str, tuple[Any, tuple[str, ...]]] = {"mask": (a.mask, SCORES), "bias": (a.bias, SCORES)}
    optional |= {name: (getattr(a, name), ("b",)) for name in ("q_lengths", "kv_lengths", "offset")}
    present = {name: pair for name, pair in optional.items() if hasattr(pair[0], "shape")}
    extents = {"b": batch, "h": heads, "i": queries, "j": keys}
    for x, axes in present.values():
        # Axes of extent 1 broadcast, and stay as they are.
        chunks = {n: extents[axis] for n, axis in enumerate(axes) if x.shape[n] > 1}
        operands += [x.rechunk(chunks), axes]
    wide = np.result_type(a.q.dtype, np.float32)
    whole = a.offset if has_one_offset(a) else 0
    plain = Attention(None, None, None, a.scale, None, None, a.left, a.right, whole, a.softcap, return_lse=True)
    with without_chunk_warnings():
        parts = da.blockwise(
            partial(_part, plain, tuple(present), wide),
            (*SCORES, "e"),
            *operands,
            adjust_chunks={"j": 1, "e": v.shape[3] + 1},
            align_arrays=False,
            concatenate=True,
            meta=meta(a.q, wide, 5),
        )
        merged = da.reduction(parts, _kept, _merged, axis=3, split_every=2, dtype=wide, meta=meta(a.q, wide, 4))
    return merged[..., :-1].astype(a.q.dtype), merged[..., -1]


def _part(
    plain: Attention, names: tuple[str, ...], wide: Any, q: Any, k: Any, v: Any, i: Any, j: Any, *given: Any
) -> Any:
    """The partial result of one chunk of queries and one chunk of keys, with its logsumexp as the last column."""
    fields = dict(zip(names, given, strict=True))
    i, j = (int(i[0]), int(i[-1]) + 1), (int(j[0]), int(j[-1]) + 1)
    # Positions within the chunk: query i[0] is row 0, and key j[0] column 0.
    offset = fields.pop("offset", plain.offset) + i[0] - j[0]
    for name, (begin, end) in (("q_lengths", i), ("kv_lengths", j)):
        if name in fields:
            # The part of the length within this chunk, possibly 0 or the whole chunk.
            fields[name] = np.clip(fields[name] - begin, 0, end - begin)
    a = plain._replace(q=q, k=k, v=v, offset=offset, **fields)
    # A hidden chunk needs no scores, and has a weight of 0 in the merge.
    if sees(a, (0, i[1] - i[0]), (0, j[1] - j[0])):
        out, lse = backend_of(q).functions["attention"](a)
    else:
        out = np.zeros_like(q, dtype=wide, shape=(*q.shape[:3], v.shape[3]))
        lse = np.full_like(q, -np.inf, dtype=wide, shape=q.shape[:3])
    return np.concatenate([out.astype(wide), lse[..., None]], axis=3)[:, :, :, None, :]


def _kept(part: Any, axis: Any, keepdims: bool) -> Any:
    return part


def _merged(parts: Any, axis: Any, keepdims: bool) -> Any:
    """Merge partial results of two chunks of keys; the logsumexp stays the last column."""
    lse = parts[..., -1:]
    largest = lse.max(axis=3, keepdims=True)
    # -inf - -inf is NaN: queries that see nothing in any chunk get a finite base, and weights of 0.
    base = np.where(largest == -np.inf, 0, largest)
    weights = np.exp(lse - base)
    total = weights.sum(axis=3, keepdims=True)
    seen = total > 0
    safe = np.where(seen, total, 1)
    # Each part is normalised: sum(exp(s) v) of a chunk is exp(lse) * out. So the whole is the mean of the parts with
    # the weights exp(lse).
    out = (weights * parts[..., :-1]).sum(axis=3, keepdims=True) / safe
    whole = np.concatenate([out, np.where(seen, base + np.log(safe), -np.inf)], axis=4).astype(parts.dtype)
    return whole if keepdims else whole[:, :, :, 0]
