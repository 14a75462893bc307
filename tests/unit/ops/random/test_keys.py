"""Keys of one library in generators of another."""

import numpy as np
import pytest

import xarrayops as xo

LIBRARIES = ("numpy", "torch", "jax", "dask")


@pytest.mark.parametrize("library", LIBRARIES)
def test_a_key_of_numpy_serves_each_library(library):
    pytest.importorskip("dask.array" if library == "dask" else library)
    key = xo.random.key(7)
    want = xo.random.default_rng(7).normal(size=5, dtype="float32")
    x = xo.zeros(3, dtype="float32", backend=library)
    for rng in (xo.random.default_rng(key, like=x), xo.random.default_rng(key, backend=library)):
        found = rng.normal(size=5, dtype="float32")
        assert type(found) is type(x)
        np.testing.assert_array_equal(np.asarray(found), want)


@pytest.mark.parametrize("library", ["torch", "jax"])
def test_draws_make_no_transfer(library):
    pytest.importorskip(library)
    key = xo.random.key(7, backend=library)
    with xo.strict():
        rng = xo.random.default_rng(key)
        found = [rng.random(2, dtype="float32"), rng.permutation(4)]
    want = xo.random.default_rng(7)
    np.testing.assert_array_equal(found[0], want.random(2, dtype="float32"))
    np.testing.assert_array_equal(found[1], want.permutation(4))
    if library == "jax":  # its keys stay where they are
        with pytest.raises(xo.MixedBackends):
            xo.random.default_rng(key, like=np.zeros(2))
        return
    on_numpy = xo.random.default_rng(key, like=np.zeros(2))
    np.testing.assert_array_equal(on_numpy.random(3), xo.random.default_rng(7).random(3))


def test_a_key_without_values_stays_in_its_library():
    pytest.importorskip("dask.array")
    key = xo.random.key(7, backend="dask")
    with pytest.raises(xo.MixedBackends):
        xo.random.default_rng(key, like=np.zeros(2))
    with pytest.raises(TypeError, match="omit backend= and device="):
        xo.random.default_rng(key, backend="numpy")


@pytest.mark.parametrize("library", ["jax"])
def test_a_key_of_numpy_in_a_compiled_function(library):
    pytest.importorskip(library)
    key, x = xo.random.key(7), xo.zeros(3, dtype="float32", backend=library)
    noisy = xo.jit(lambda x: x + xo.random.default_rng(key, like=x).random(3, dtype="float32"))
    np.testing.assert_array_equal(noisy(x), xo.random.default_rng(7).random(3, dtype="float32"))
