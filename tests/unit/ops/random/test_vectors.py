"""The numbers do not change: published vectors, committed hashes, and the values of jax.random."""

import hashlib

import numpy as np
import pytest

import xarrayops as xo
from xarrayops.plugin.random import threefry

PUBLISHED = [
    ((0x00000000, 0x00000000), (0x00000000, 0x00000000), (0x6B200159, 0x99BA4EFE)),
    ((0xFFFFFFFF, 0xFFFFFFFF), (0xFFFFFFFF, 0xFFFFFFFF), (0x1CB996FC, 0xBB002BE7)),
    ((0x13198A2E, 0x03707344), (0x243F6A88, 0x85A308D3), (0xC4923A9C, 0x483DF7A0)),
]
"""Key, counter and words of Threefry-2x32-20, from kat_vectors of Random123."""


@pytest.mark.parametrize(("key", "counter", "words"), PUBLISHED)
def test_published_vectors(key, counter, words):
    assert threefry(key, *counter) == words


DRAWS = {
    "uniform": lambda rng: rng.random(10_000),
    "uniform float32": lambda rng: rng.random(10_000, dtype="float32"),
    "normal": lambda rng: rng.normal(size=10_000),
    "normal float32": lambda rng: rng.normal(size=10_000, dtype="float32"),
    "scaled normal": lambda rng: rng.normal(3.0, 0.1, size=10_000),
    "exponential": lambda rng: rng.exponential(size=10_000),
    "exponential float32": lambda rng: rng.exponential(size=10_000, dtype="float32"),
    "beta": lambda rng: rng.beta(0.5, 2.0, 10_000),
    "beta float32": lambda rng: rng.beta(3.0, 0.2, 10_000, dtype="float32"),
    "integers": lambda rng: rng.integers(-5, 1000, 10_000),
    "wide integers": lambda rng: rng.integers(-(2**62), 2**62 + 12345, 10_000),
    "small integers": lambda rng: rng.integers(0, 100, 10_000, dtype="uint8"),
    "bits": lambda rng: rng.bits(10_000),
    "bits of 16": lambda rng: rng.bits(10_000, dtype="uint16"),
    "permutation": lambda rng: rng.permutation(10_000),
    "choice": lambda rng: rng.choice(100, 10_000),
    "choice without replacement": lambda rng: rng.choice(10_000, 100, replace=False),
    "weighted choice": lambda rng: rng.choice(4, 10_000, p=[0.1, 0.2, 0.3, 0.4]),
    "weighted choice without replacement": lambda rng: rng.choice(4, 3, replace=False, p=[0.1, 0.2, 0.3, 0.4]),
    "spawned": lambda rng: rng.spawn(3)[2].bits(10_000),
    "key": lambda rng: rng.key(),
}
HASHES = {
    "uniform": "b2cf99c0f39f20d1",
    "uniform float32": "549b72d0bddf9d76",
    "beta": "fd68440de6d97262",
    "beta float32": "0f609460ec3489ed",
    "normal": "5f85e35cce66ef69",
    "normal float32": "911d3904d6cae83c",
    "scaled normal": "75b5252c188a1235",
    "exponential": "78101b97abb6375b",
    "exponential float32": "78783af1b2b3925d",
    "integers": "afeb05aac5edace3",
    "wide integers": "320cf783a83c6c38",
    "small integers": "ccbc89b607c36045",
    "bits": "7b4061294419c83d",
    "bits of 16": "209c6ee72bf73fb7",
    "permutation": "9a16802ef0e96fd9",
    "choice": "0c13e821d89dadc9",
    "choice without replacement": "6180deefe2d7f5cd",
    "weighted choice": "7807eff03d2dcc53",
    "weighted choice without replacement": "c9b777acc7303d45",
    "spawned": "5df2d2468325237a",
    "key": "54ec879d172b55fc",
}
"""The beginning of SHA-256 of the numbers of ``default_rng(2026)``, in little-endian bytes."""


def digest(x):
    x = np.ascontiguousarray(x)
    return hashlib.sha256(x.astype(x.dtype.newbyteorder("<")).tobytes()).hexdigest()[:16]


@pytest.mark.parametrize("name", DRAWS)
def test_the_numbers_are_those_of_earlier_versions(name):
    """A change of these hashes breaks programs that rely on a seed."""
    assert digest(DRAWS[name](xo.random.default_rng(2026))) == HASHES[name]


def test_a_call_uses_the_key_of_its_number():
    rng, key = xo.random.default_rng(5), xo.random.key(5)
    for number in range(3):
        np.testing.assert_array_equal(rng.bits(4), xo.random.bits(xo.random.fold_in(key, number), 4))
    np.testing.assert_array_equal(rng.key(), xo.random.fold_in(key, 3))


@pytest.mark.parametrize("seed", [0, 1, 2**31, 2**32 - 1, 2**32, 2**63 - 1])
def test_the_values_of_jax(seed):
    jax = pytest.importorskip("jax")
    with jax.enable_x64(True):
        theirs, ours = jax.random.key(seed), xo.random.key(seed)
        data = jax.random.key_data
        np.testing.assert_array_equal(ours, data(theirs))
        np.testing.assert_array_equal(xo.random.split(ours, 5), data(jax.random.split(theirs, 5)))
        for number in (0, 77, 2**32 - 1):
            folded = data(jax.random.fold_in(theirs, np.uint32(number)))
            np.testing.assert_array_equal(xo.random.fold_in(ours, number), folded)
        for dtype in ("uint8", "uint16", "uint32", "uint64"):
            for shape in ((), (5,), (2, 3, 4)):
                bits = jax.random.bits(theirs, shape, dtype)
                np.testing.assert_array_equal(xo.random.bits(ours, shape, dtype=dtype), bits)
