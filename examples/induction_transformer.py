"""A transformer that continues a text which repeats itself, written once and run on every library that is here.

    python examples/induction_transformer.py [TEXT]

Its two layers are those of Olsson et al. 2022 (https://arxiv.org/abs/2209.11895), with weights made by hand: in the
first, each of some heads looks one place further back and notes the character there; the second, the induction head,
looks for an earlier place with the same notes and guesses the character that stood there. The text goes through at once
(prefill), the guesses one by one against a cache of keys and values (decoding).
"""

from __future__ import annotations

import sys
from typing import Any, NamedTuple

import numpy as np

import xarrayops as xo

TEXT = "row, row, row your boat, gently down the stream. merrily, merrily, life is but a dream. row, row, row your "
GUESSES = 40
NOTES = 6
"""How many characters back a place knows: the heads of the first layer."""
SHARPNESS = 50.0
"""Of the softmax: with so large a score the best match takes all."""
Array = Any


class Weights(NamedTuple):
    """The embeddings, and what they hold of each token: V characters and P places."""

    characters: Array
    places: Array
    shifts: Array
    """(NOTES, P, P): for each head of the first layer the place that it looks for."""


class Cache(NamedTuple):
    """Keys and values of both layers (B, H, P, ...), and how many places are filled."""

    arrays: tuple[Array, ...]
    filled: int


def weights(characters: int, places: int, backend: str) -> Weights:
    """The weights, as arrays of a library."""
    shifts = np.stack([np.eye(places, k=-1 - head) for head in range(NOTES)])
    made = (np.eye(characters), np.eye(places), shifts)
    return Weights(*(xo.asarray(w.astype("float32"), backend=backend) for w in made))


def empty_cache(w: Weights) -> Cache:
    """Room for as many places as the model has."""
    places, characters = w.places.shape[0], w.characters.shape[0]
    sizes = (places, characters, NOTES * characters, characters)
    return Cache(tuple(xo.zeros((1, 1, places, size), dtype="float32", like=w.places) for size in sizes), 0)


def forward(w: Weights, tokens: Array, cache: Cache) -> tuple[Array, Cache]:
    """Scores (L, V) of the character behind each of L more tokens, and the cache with those tokens in it."""
    begin, end = cache.filled, cache.filled + tokens.shape[0]
    place, character = w.places[begin:end, :], xo.take(w.characters, tokens, axis=0)
    keys, values, noted_keys, noted_values = cache.arrays

    def attend(q: Array, k: Array, v: Array) -> Array:
        """Each token sees itself and what came before; what the cache has not filled is cut off."""
        return xo.attention(q, k, v, scale=SHARPNESS, causal=begin, kv_lengths=[end])

    keys, values = stored(keys, begin, place), stored(values, begin, character)
    notes = attend(xo.matmul(place, w.shifts)[None, ...], keys, values)  # all heads share keys and values
    notes = xo.reshape(xo.permute_dims(notes[0, ...], (1, 0, 2)), (end - begin, -1))
    noted_keys, noted_values = stored(noted_keys, begin, notes), stored(noted_values, begin, character)
    recent = xo.concat([character, notes[:, : notes.shape[1] - character.shape[1]]], axis=1)
    scores = attend(recent[None, None, ...], noted_keys, noted_values)[0, 0, ...]
    return scores, Cache((keys, values, noted_keys, noted_values), end)


def stored(cache: Array, begin: int, rows: Array) -> Array:
    """The cache with rows from a place on."""
    return xo.at(cache)[:, :, begin : begin + rows.shape[0], :].set(rows[None, None, ...])


def continued(text: str, guesses: int, backend: str) -> tuple[str, np.ndarray[Any, Any]]:
    """The text with so many characters guessed, and the scores of all guesses (L, V)."""
    alphabet = sorted(set(text))
    w = weights(len(alphabet), len(text) + guesses, backend)
    tokens = xo.asarray([alphabet.index(character) for character in text], dtype="int32", like=w.places)
    scores, cache = forward(w, tokens, empty_cache(w))
    seen = [scores]
    for _ in range(guesses):
        best = xo.argmax(seen[-1][-1:, :], axis=1)
        text += alphabet[int(best[0])]
        scores, cache = forward(w, best, cache)
        seen.append(scores)
    return text, np.asarray(xo.convert(xo.concat(seen, axis=0), "numpy"))


def main() -> int:
    """Continue the text on every library, and hold their scores against NumPy's."""
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
