"""Maxima and minima of JAX arrays keep NaN."""

import numpy as np
import pytest

import xarrayops as xo

jax = pytest.importorskip("jax", exc_type=ImportError)
INF = float("inf")
FUNCTIONS = {
    "max": xo.max,
    "min": xo.min,
    "vector_norm": lambda x, **options: xo.linalg.vector_norm(x, ord=INF, **options),
    "least norm": lambda x, **options: xo.linalg.vector_norm(x, ord=-INF, **options),
}


@pytest.fixture(scope="module")
def values():
    """An array in which JAX ignores NaN."""
    values = np.random.default_rng(0).random((96, 96), dtype=np.float32)
    values[3, 77] = values[50, 2] = np.nan
    return values


@pytest.mark.parametrize("axis", [None, 0, 1, (0, 1)], ids=str)
@pytest.mark.parametrize("function", FUNCTIONS)
def test_nan_is_kept(function, axis, values):
    call = FUNCTIONS[function]
    for keepdims in (False, True):
        want = call(values, axis=axis, keepdims=keepdims)
        for run in (lambda f: f, jax.jit):
            got = run(lambda x, keepdims=keepdims: call(x, axis=axis, keepdims=keepdims))(jax.numpy.asarray(values))
            assert (got.shape, got.dtype) == (np.shape(want), want.dtype)
            np.testing.assert_allclose(got, want, rtol=1e-6)


@pytest.mark.parametrize("ord", [1, -1, INF, -INF], ids=str)
def test_norms_of_wide_matrices(ord):
    values = np.ones((2, 5000), dtype=np.float32)
    values[1, 4000] = np.nan
    for x in (values, values.T):
        assert np.isnan(xo.linalg.matrix_norm(jax.numpy.asarray(x), ord=ord))


def test_gradients_are_those_of_jax():
    x = jax.numpy.asarray([[1.0, 3.0], [4.0, 2.0]])
    gradient = jax.grad(lambda x: jax.numpy.sum(xo.max(x, axis=1)))(x)
    assert gradient.tolist() == [[0, 1], [1, 0]]
    assert xo.max(jax.numpy.asarray([1, 5, 2])) == 5
