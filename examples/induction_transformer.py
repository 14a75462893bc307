"""A transformer that continues a text which repeats itself, on every installed library.

    python examples/induction_transformer.py [TEXT]

The model has the two attention layers of Olsson et al. 2022 (https://arxiv.org/abs/2209.11895), with weights set by
hand. In the first layer, head n reads the character n + 1 positions back. The second layer, the induction head, looks
for an earlier position with the same history and predicts the character that stood there.

The text goes through the model at once (prefill). The new characters follow one by one, against a cache of keys and
values (decoding).
"""

from __future__ import annotations

import sys
from typing import Any, NamedTuple

import numpy as np

import xarrayops as xo

TEXT = "row, row, row your boat, gently down the stream. merrily, merrily, life is but a dream. row, row, row your "
GUESSES = 40
HISTORY = 6
"""How many characters back a position knows: the heads of the first layer."""
SHARPNESS = 50.0
"""The scale of the scores: so large that the softmax picks the best match."""
Array = Any


class Weights(NamedTuple):
    """One-hot embeddings of V characters and P positions, and the queries of the first layer."""

    characters: Array
    positions: Array
    shifts: Array
    """(HISTORY, P, P): for each head of the first layer, the position that it looks for."""


class Cache(NamedTuple):
    """Keys and values of both layers (B, H, P, ...), and how many positions are filled."""

    arrays: tuple[Array, ...]
    filled: int


def weights(characters: int, positions: int, backend: str) -> Weights:
    """The weights, as arrays of a library."""
    shifts = np.stack([np.eye(positions, k=-1 - head) for head in range(HISTORY)])
    arrays = (np.eye(characters), np.eye(positions), shifts)
    return Weights(*(xo.asarray(w.astype("float32"), backend=backend) for w in arrays))


def empty_cache(w: Weights) -> Cache:
    """A cache for all positions of the model."""
    positions, characters = w.positions.shape[0], w.characters.shape[0]
    sizes = (positions, characters, HISTORY * characters, characters)
    return Cache(tuple(xo.zeros((1, 1, positions, size), dtype="float32", like=w.positions) for size in sizes), 0)


def forward(w: Weights, tokens: Array, cache: Cache) -> tuple[Array, Cache]:
    """Scores (L, V) of the character that follows each of L more tokens, and the cache with those tokens in it."""
    begin, end = cache.filled, cache.filled + tokens.shape[0]
    position, character = w.positions[begin:end, :], xo.take(w.characters, tokens, axis=0)
    keys, values, history_keys, history_values = cache.arrays

    def attend(q: Array, k: Array, v: Array) -> Array:
        """Each token sees itself and the tokens before it; the empty end of the cache is cut off."""
        return xo.attention(q, k, v, scale=SHARPNESS, causal=begin, kv_lengths=[end])

    keys, values = stored(keys, begin, position), stored(values, begin, character)
    history = attend(xo.matmul(position, w.shifts)[None, ...], keys, values)  # all heads share keys and values
    history = xo.reshape(xo.permute_dims(history[0, ...], (1, 0, 2)), (end - begin, -1))
    history_keys, history_values = stored(history_keys, begin, history), stored(history_values, begin, character)
    recent = xo.concat([character, history[:, : history.shape[1] - character.shape[1]]], axis=1)
    scores = attend(recent[None, None, ...], history_keys, history_values)[0, 0, ...]
    return scores, Cache((keys, values, history_keys, history_values), end)


def stored(cache: Array, begin: int, rows: Array) -> Array:
    """The cache with new rows, which start at a position. It may reuse the memory of the old one."""
    return xo.at(cache)[:, :, begin : begin + rows.shape[0], :].set(rows[None, None, ...], copy=None)


def continued(text: str, guesses: int, backend: str) -> tuple[str, np.ndarray[Any, Any]]:
    """The text with that many new characters, and the scores of all positions (L, V)."""
    alphabet = sorted(set(text))
    w = weights(len(alphabet), len(text) + guesses, backend)
    tokens = xo.asarray([alphabet.index(character) for character in text], dtype="int32", like=w.positions)
    scores, cache = forward(w, tokens, empty_cache(w))
    seen = [scores]
    for _ in range(guesses):
        best = xo.argmax(seen[-1][-1:, :], axis=1)
        text += alphabet[int(best[0])]
        scores, cache = forward(w, best, cache)
        seen.append(scores)
    return text, np.asarray(xo.convert(xo.concat(seen, axis=0), "numpy"))


def main() -> int:
    """Continue the text on every library, and compare the scores with NumPy's."""
    text = " ".join(sys.argv[1:]) or TEXT
    _, want = continued(text, GUESSES, "numpy")
    for status in xo.backends():
        if status.available and status.name in ("numpy", "torch", "jax", "cupy"):
            whole, scores = continued(text, GUESSES, status.name)
            difference = float(np.abs(scores - want).max())
            print(f"{status.name:6} {whole[len(text) :]!r}, scores within {difference:.1e} of NumPy's")
    return 0


if __name__ == "__main__":
    sys.exit(main())
