"""Attention as language models use it: a whole prompt (prefill), and one token against a cache (decode).

The operations count the two products, for visible scores only: the lower triangle if causal, and the filled part of
the cache.
"""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np

import xarrayops as xo
from xarrayops.bench.workload import Arrays, Workload
from xarrayops.plugin import Array

_HEADS, _HEAD_SIZE = 8, 64
_GROUPED_HEADS = 2
"""Heads of keys and values; each is shared by four query heads."""
_BATCH, _DECODE_HEADS, _CACHE_HEADS = 2, 32, 8
_FILLED = (1.0, 0.75)
"""The filled fraction of the cache of each sequence."""
_PREFILL = {"toy": (16,), "default": (1024,), "large": (2048, 4096)}


def prefill(q: Array, k: Array, v: Array, /) -> Array:
    """Every query attends to every key."""
    return xo.attention(q, k, v)


def causal_prefill(q: Array, k: Array, v: Array, /) -> Array:
    """Every query attends to the keys up to its own position."""
    return xo.attention(q, k, v, causal=True)


def decode(q: Array, k: Array, v: Array, lengths: Array, /) -> Array:
    """One query of each sequence attends to the keys in its cache."""
    return xo.attention(q, k, v, kv_lengths=lengths)


def _prompt(random: Any, n: int, kv_heads: int = _HEADS) -> Arrays:
    return tuple(random.standard_normal((1, heads, n, _HEAD_SIZE)) for heads in (_HEADS, kv_heads, kv_heads))


def _lengths(n: int) -> list[int]:
    return [int(part * n) for part in _FILLED]


def _step(random: Any, n: int) -> Arrays:
    q = random.standard_normal((_BATCH, _DECODE_HEADS, 1, _HEAD_SIZE))
    k, v = (random.standard_normal((_BATCH, _CACHE_HEADS, n, _HEAD_SIZE)) for _ in range(2))
    return q, k, v, np.asarray(_lengths(n), dtype=np.int32)


def by_definition(q: Any, k: Any, v: Any, lengths: Any = None, *, causal: bool = False) -> Any:
    """``softmax(q @ k.T / sqrt(d)) @ v``, for each head and sequence."""
    out = np.empty(q.shape)
    group = q.shape[1] // k.shape[1]
    for row, head in np.ndindex(q.shape[:2]):
        seen = slice(None) if lengths is None else slice(lengths[row])
        scores = q[row, head] @ k[row, head // group, seen].T / math.sqrt(q.shape[-1])
        if causal:
            scores[np.triu_indices_from(scores, 1)] = -np.inf
        weights = np.exp(scores - scores.max(axis=1, keepdims=True))
        out[row, head] = weights @ v[row, head // group, seen] / weights.sum(axis=1, keepdims=True)
    return out


def _operations(heads: int, scores: float) -> float:
    return 4.0 * heads * _HEAD_SIZE * scores


def _decode_bytes(n: int, itemsize: int) -> float:
    """The bytes of the queries, the results, the visible keys and values, and the lengths."""
    rows = 2 * _BATCH * _DECODE_HEADS + 2 * _CACHE_HEADS * sum(_lengths(n))
    return float(rows * _HEAD_SIZE * itemsize + 4 * _BATCH)


def _tolerance(n: int) -> float:
    """Allows scores in float32; inputs rounded to TF32 would give ten times the error."""
    return 64.0


_attention = partial(Workload, tolerance=_tolerance)
_causal = partial(
    _attention,
    function=causal_prefill,
    expected=partial(by_definition, causal=True),
    sizes=_PREFILL,
    operations=lambda n: _operations(_HEADS, n * (n + 1) / 2),
)

WORKLOADS = (
    _attention(
        "attention prefill",
        prefill,
        inputs=_prompt,
        expected=by_definition,
        sizes={**_PREFILL, "default": (512, 1024)},
        timed="xo.attention(q, k, v): 8 heads of 64",
        operations=lambda n: _operations(_HEADS, n * n),
    ),
    _causal("attention causal", inputs=_prompt, timed="xo.attention(q, k, v, causal=True): 8 heads of 64"),
    _causal(
        "attention grouped",
        inputs=partial(_prompt, kv_heads=_GROUPED_HEADS),
        timed="xo.attention(q, k, v, causal=True): 8 heads of 64 for queries, 2 for keys and values",
    ),
    _attention(
        "attention decode",
        decode,
        inputs=_step,
        expected=by_definition,
        sizes={"toy": (16,), "default": (4096,), "large": (32768,)},
        timed="xo.attention(q, k, v, kv_lengths=lengths): one query for each of 2 sequences, with caches 100 % and "
        "75 % full; 32 heads of 64 for queries, 8 for keys and values",
        operations=lambda n: _operations(_DECODE_HEADS, sum(_lengths(n))),
        nbytes=_decode_bytes,
    ),
)
