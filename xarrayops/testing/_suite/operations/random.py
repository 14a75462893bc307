"""Random numbers: the same bits as NumPy's, traced or not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import xarrayops as xo
from xarrayops.errors import MixedBackends, Unsupported
from xarrayops.plugin import Array
from xarrayops.testing._suite.compare import check_array
from xarrayops.testing._suite.table import check_raises, exercises
from xarrayops.testing._suite.variant import Variant, depends_on

Draws = Callable[[Any], Any]
DRAWS: dict[str, tuple[str, Draws]] = {
    "uniform": ("float64", lambda rng: rng.random((2, 3))),
    "uniform float32": ("float32", lambda rng: rng.random(3, dtype="float32")),
    "normal": ("float64", lambda rng: rng.normal(1.5, 0.3, size=300)),
    "normal float32": ("float32", lambda rng: rng.normal(size=300, dtype="float32")),
    "exponential": ("float64", lambda rng: rng.exponential(0.7, size=20)),
    "exponential float32": ("float32", lambda rng: rng.exponential(size=20, dtype="float32")),
    "beta": ("float64", lambda rng: rng.beta(2.5, 0.7, size=300)),
    "beta float32": ("float32", lambda rng: rng.beta(0.2, 40.0, size=(60, 5), dtype="float32")),
    "bits": ("uint64", lambda rng: rng.bits((3, 2))),
    "bits of 8": ("uint8", lambda rng: rng.bits(9, dtype="uint8")),
    "integers": ("int64", lambda rng: rng.integers(-5, 1000, size=(3,))),
    "wide integers": ("int64", lambda rng: rng.integers(-(2**63), 2**63 - 3, size=3)),
    "all integers": ("uint64", lambda rng: rng.integers(0, 2**64, size=3, dtype="uint64")),
    "small integers": ("int8", lambda rng: rng.integers(-128, 127, size=9, dtype="int8", endpoint=True)),
    "permutation": ("indexing", lambda rng: rng.permutation(7)),
    "choice": ("indexing", lambda rng: rng.choice(9, (2, 2))),
    "choice without replacement": ("indexing", lambda rng: rng.choice(9, 4, replace=False)),
    "weighted choice": ("indexing", lambda rng: rng.choice(4, 6, p=[0.1, 0.2, 0.0, 0.7])),
    "weighted choice without replacement": ("indexing", lambda rng: rng.choice(4, 3, replace=False, p=[1, 2, 0, 7])),
    "a later call": ("float64", lambda rng: [rng.random(2), rng.random(2)][1]),
    "a spawned generator": ("float64", lambda rng: rng.spawn(2)[1].random(2)),
    "a new key": ("uint32", lambda rng: rng.key()),
    "no axes": ("float64", lambda rng: rng.normal()),
    "empty": ("float64", lambda rng: rng.random((2, 0))),
}
"""The dtype of the result, and the calls."""


@exercises("random.default_rng")
class RandomSuite:
    """Random numbers."""

    @depends_on("run")
    @exercises("random.default_rng", "random.key")
    def test_random_numbers_are_those_of_numpy(self, variant: Variant) -> None:
        """Every kind of draw has NumPy's bits: with an integer seed, and with a key in a traced function."""
        seed, key = 2**40 + 7, xo.random.key(2**40 + 7, **variant.creation)
        served = {name: draw for name, (dtype, draw) in DRAWS.items() if _needs(dtype) <= variant.dtypes}
        by_key = variant.run(lambda key: [draw(xo.random.default_rng(key)) for draw in served.values()], key)
        for (name, draw), traced in zip(served.items(), by_key, strict=True):
            want = draw(xo.random.default_rng(seed))
            dtype = _dtype(variant, DRAWS[name][0])
            _check(variant, name, draw(xo.random.default_rng(seed, **variant.creation)), want, dtype)
            _check(variant, f"{name} by a key", traced, want, dtype)

    @depends_on("run")
    @exercises("random.bits", "random.split", "random.fold_in", "random.key")
    def test_keys(self, variant: Variant) -> None:
        """Keys and bits are equal to NumPy's."""
        host = xo.random.key(2**63 + 5)
        key = xo.random.key(2**63 + 5, **variant.creation)
        _check(variant, "key", key, host, "uint32")
        _check(
            variant, "split", variant.run(lambda key: xo.random.split(key, 3), key), xo.random.split(host, 3), "uint32"
        )
        for data in (0, 2**32 - 1):
            folded = variant.run(lambda key, data=data: xo.random.fold_in(key, data), key)
            _check(variant, "fold_in", folded, xo.random.fold_in(host, data), "uint32")
        for dtype in {"uint8", "uint16", "uint32", "uint64"} & variant.dtypes:
            bits = variant.run(lambda key, dtype=dtype: xo.random.bits(key, (2, 3), dtype=dtype), key)
            _check(variant, "bits", bits, xo.random.bits(host, (2, 3), dtype=dtype), dtype)

    @depends_on("memory")
    def test_a_sample_of_an_array(self, variant: Variant) -> None:
        """``choice``, ``shuffled`` and arrays of locations and scales."""
        host = np.arange(12.0, dtype=np.float32).reshape(3, 4)
        x = variant.array(host)
        draws: tuple[Draws, ...] = (
            lambda rng: lambda x: rng.shuffled(x, axis=1),
            lambda rng: lambda x: rng.permutation(x),
            lambda rng: lambda x: rng.choice(x, (2, 2), axis=1),
            lambda rng: lambda x: rng.choice(x, 3, replace=False),
            lambda rng: lambda x: rng.normal(x, dtype="float32"),
            lambda rng: lambda x: rng.beta(x + 0.5, 2.0, dtype="float32"),
        )
        for i, draw in enumerate(draws):
            found = draw(xo.random.default_rng(i, **variant.creation))(x)
            want = draw(xo.random.default_rng(i))(host)
            np.testing.assert_allclose(variant.values(found), want, rtol=1e-6)

    @depends_on()
    def test_errors_of_random_functions(self, variant: Variant) -> None:
        """Seeds, keys, limits and sizes that do not fit, and arrays of another library."""
        rng = xo.random.default_rng(0, dtype="float32", **variant.creation)
        for seed, error in ((-1, ValueError), (2**64, ValueError), (0.5, TypeError), ("0", TypeError)):
            with pytest.raises(error, match="seed"):
                xo.random.default_rng(seed, **variant.creation)
        with pytest.raises(ValueError, match="a key is an array"):
            xo.random.default_rng(variant.make(np.zeros(2, np.float32)))
        calls: tuple[Callable[[], Any], ...] = (
            lambda: rng.integers(3, 3),
            lambda: rng.integers(0, 300, dtype="int8"),
            lambda: rng.random(-1),
            lambda: rng.beta(2.0, 0.0),
            lambda: rng.random(3, dtype="int32"),
            lambda: rng.bits(3, dtype="float32"),
            lambda: rng.choice(3, 4, replace=False),
            lambda: rng.choice(0, 4),
            lambda: rng.choice(3, 2, p=[0.5, 0.5]),
            lambda: rng.choice(3, 2, p=[0.5, 0.5, -1.0]),
            lambda: rng.choice(3, 2, p=[1.0, 0.0, 0.0], replace=False),
        )
        check_raises(ValueError, "random", *calls)
        with pytest.raises(MixedBackends) if variant.backend.name != "numpy" else pytest.raises(Unsupported):
            rng.shuffled(np.zeros(3) if variant.backend.name != "numpy" else np.zeros(3, object))

    @depends_on()
    def test_the_own_generator_of_the_library(self, variant: Variant) -> None:
        """``native=True``: the same methods, unless the backend declares a gap."""
        try:
            rng = xo.random.default_rng(0, native=True, **variant.creation)
        except Unsupported:
            with pytest.raises(Unsupported, match="native=True"):
                xo.random.default_rng(0, native=True, **variant.creation)
            return
        for kind, draw in DRAWS.values():
            dtype = _dtype(variant, kind)
            if _needs(kind) <= variant.dtypes:
                found, want = draw(rng), draw(xo.random.default_rng(0))
                assert variant.backend.functions["dtype_name"](found.dtype) == dtype
                assert tuple(found.shape) == want.shape
        for low, high, dtype in (
            (0, 3, "int32"),
            (-128, 128, "int8"),
            (253, 256, "uint8"),
            (2**31 - 3, 2**31, "int32"),
        ):
            if dtype in variant.dtypes:  # the lowest and the highest, and all others
                integers = variant.values(rng.integers(low, high, size=6000, dtype=dtype))
                assert sorted(set(integers.tolist())) == [*range(low, high)]
        x = variant.values(rng.normal(2.0, 0.5, size=4000, dtype="float32"))
        assert abs(x.mean() - 2) < 0.05
        assert abs(x.std() - 0.5) < 0.05


def _dtype(variant: Variant, dtype: str) -> str:
    """The dtype of a result, by its name or "indexing"."""
    return variant.defaults["indexing"] if dtype == "indexing" else dtype


def _needs(dtype: str) -> set[str]:
    """The dtypes that a library must support for a draw. Weighted samples need uniform float64 numbers."""
    return {"float64", "int64"} if dtype == "indexing" else {dtype}


def _check(variant: Variant, name: str, found: Array, want: Any, dtype: str) -> None:
    """Compare class, dtype, device, shape and every bit."""
    values = variant.values(found)
    try:
        check_array(variant, found, want, dtype=dtype, values=False, host=values)
    except AssertionError as error:
        raise AssertionError(f"{name}: {error}") from error
    assert values.astype(want.dtype).tobytes() == np.asarray(want).tobytes(), f"{name}: {values} is not {want}"
