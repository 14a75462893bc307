"""vmap: compared with a loop over the items in NumPy."""

from __future__ import annotations

import numpy as np
import pytest

import xarrayops as xo

X = np.random.default_rng(0).standard_normal((5, 3, 4))
V = np.random.default_rng(1).standard_normal(4)
pytestmark = pytest.mark.parametrize("library", ["torch", "jax"], indirect=True)


@pytest.mark.parametrize("axis", [0, 1, 2, -1])
def test_axis_of_items(library, axis):
    found = xo.vmap(xo.sum, in_axes=axis)(library.array(X))
    wanted = np.moveaxis(X, axis, 0).sum(axis=(1, 2))
    np.testing.assert_allclose(library.host(found), wanted, rtol=1e-12)


@pytest.mark.parametrize("out", [0, 1, -1])
def test_axis_of_results(library, out):
    found = xo.vmap(lambda x: 2 * x, out_axes=out)(library.array(X))
    np.testing.assert_array_equal(library.host(found), np.moveaxis(2 * X, 0, out))


def test_whole_arguments_and_keywords(library):
    def product(a, b, *, scale, name):
        assert name == "product"
        return scale * xo.matmul(a, b)

    found = xo.vmap(product, in_axes=(0, None))(library.array(X), library.array(V), scale=2.0, name="product")
    np.testing.assert_allclose(library.host(found), 2 * X @ V, rtol=1e-12)


def test_nested_arguments_and_results(library):
    def of(pair, option):
        a, b = pair["pair"]
        assert option == "sum"
        return {"sum": a + b, "both": (a, xo.sum(b))}

    found = xo.vmap(of)({"pair": (library.array(X), library.array(2 * X))}, "sum")
    np.testing.assert_array_equal(library.host(found["sum"]), 3 * X)
    np.testing.assert_allclose(library.host(found["both"][1]), 2 * X.sum((1, 2)), rtol=1e-12)


def test_nested(library):
    found = xo.vmap(xo.vmap(lambda row: xo.sum(xo.square(row))))(library.array(X))
    np.testing.assert_allclose(library.host(found), (X**2).sum(-1), rtol=1e-12)


def test_negative_strides(library):
    found = xo.vmap(lambda x: x[0])(library.array(X[::-1, ::2]))
    np.testing.assert_array_equal(library.host(found), X[::-1, 0])


def test_errors(library):
    x = library.array(X)
    with pytest.raises(ValueError, match="in_axes has 2 entries for 1 positional"):
        xo.vmap(xo.sum, in_axes=(0, 0))(x)
    with pytest.raises(ValueError, match=r"the numbers of items differ: \[5, 3\]"):
        xo.vmap(xo.add, in_axes=(0, 1))(x, x)
    with pytest.raises(ValueError, match="out of bounds for an array with 3 axes"):
        xo.vmap(xo.sum, in_axes=3)(x)
    with pytest.raises(TypeError, match="no argument has an array with an axis of items"):
        xo.vmap(lambda a: a, in_axes=None)(x)
    with pytest.raises(TypeError, match="the function must return arrays, not float"):
        xo.vmap(lambda a: 1.0)(x)
    with pytest.raises(TypeError, match="the function must return arrays, not tuple"):
        xo.vmap(lambda a: (a, None))(x)
