"""Updates of all elements, which are compiled as a whole."""

from __future__ import annotations

import numpy as np
import pytest

import xarrayops as xo

jax = pytest.importorskip("jax")
jnp = jax.numpy

OWN = {"add": np.add, "subtract": np.subtract, "multiply": np.multiply, "divide": np.divide}
OWN |= {"max": np.maximum, "min": np.minimum}


@pytest.mark.parametrize("op", OWN)
@pytest.mark.parametrize("index", [..., slice(None), (slice(None), ...), (slice(None), slice(None))])
def test_all_elements(op, index):
    x = np.random.default_rng(0).uniform(1, 2, (3, 4)).astype(np.float32)
    for value in (1.5, x[0], x[:, :1], x[None]):
        given = value if isinstance(value, float) else jnp.asarray(value)
        got = getattr(xo.at(jnp.asarray(x))[index], op)(given, copy=None)
        want = OWN[op](x, value).reshape(3, 4).astype(np.float32)
        assert (got.shape, got.dtype) == (x.shape, x.dtype)
        np.testing.assert_allclose(got, want, rtol=1e-6)


def test_other_dtypes_shapes_and_transformations():
    assert xo.at(jnp.arange(3, dtype="int8"))[:].add(1).tolist() == [1, 2, 3]
    assert xo.at(jnp.asarray(2.0))[...].multiply(3.0).item() == 6.0
    x = jnp.asarray([-1.0, 2.0])
    np.testing.assert_array_equal(jax.grad(lambda x: xo.at(x)[...].max(0.0).sum())(x), [0, 1])
    np.testing.assert_array_equal(jax.vmap(lambda x: xo.at(x)[...].add(1.0))(x), [0, 3])
    with pytest.raises(ValueError, match=r"xo.at\(x\)\[index\].add"):
        xo.at(x)[...].add(jnp.ones(3))
    with pytest.raises(ValueError, match=r"xo.at\(x\)\[index\].add"):
        xo.at(x)[...].add(jnp.ones((2, 2)))
