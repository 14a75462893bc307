"""Maxima of small windows of arrays on a CPU, which are computed from slices."""

from __future__ import annotations

import numpy as np
import pytest

import xarrayops as xo
from tests.unit.backends.pooling import largest

jax = pytest.importorskip("jax")
convolution = pytest.importorskip("xarrayops_backends.jax._convolution")


CASES = [
    (xo.max_pool1d, (2, 3, 17), (3,), (2,), (1,)),
    (xo.max_pool2d, (2, 3, 9, 12), (2, 2), (2, 2), (0, 0)),
    (xo.max_pool2d, (1, 2, 9, 12), (3, 2), (1, 3), (1, 0)),
    (xo.max_pool2d, (1, 2, 4, 4), (4, 4), (2, 2), (2, 2)),
    (xo.max_pool2d, (1, 2, 30, 30), (5, 5), (2, 2), (2, 2)),
    (xo.max_pool3d, (1, 2, 5, 6, 7), (2, 2, 2), (2, 1, 2), (0, 1, 0)),
]


@pytest.mark.parametrize("dtype", ["float32", "float16", "int32", "uint8"])
@pytest.mark.parametrize(("pool", "extents", "shape", "stride", "padding"), CASES)
def test_as_by_definition(pool, extents, shape, stride, padding, dtype, monkeypatch):
    served, kernel = [], convolution._largest
    monkeypatch.setattr(convolution, "_largest", lambda *given: served.append(given) or kernel(*given))
    x = np.random.default_rng(0).integers(-99, 99, extents).astype(dtype)
    if x.dtype.kind == "f":
        x.flat[::31], x.flat[5::37], x.flat[7::13] = np.nan, np.inf, -np.inf
    options = {"stride": stride, "padding": padding}
    want = largest(x, shape, stride, padding)
    a = jax.numpy.asarray(x)
    got = pool(a, shape, **options)
    assert got.dtype == dtype
    np.testing.assert_array_equal(np.asarray(got), want)
    assert len(served) == (np.prod(shape) <= 16)
    np.testing.assert_array_equal(np.asarray(jax.jit(lambda a: pool(a, shape, **options))(a)), want)
    last = "N" + "DHW"[-len(shape) :] + "C"
    got = pool(jax.numpy.moveaxis(a, 1, -1), shape, layout=last, **options)
    np.testing.assert_array_equal(np.moveaxis(np.asarray(got), -1, 1), want)


def test_gradients_are_those_of_reduced_windows():
    x = jax.numpy.asarray(np.random.default_rng(0).permutation(64).reshape(1, 1, 8, 8), "float32")
    gradient = xo.grad(lambda x: xo.sum(xo.max_pool2d(x, 2)))(x)
    expected = np.repeat(np.repeat(largest(np.asarray(x), (2, 2), (2, 2), (0, 0)), 2, axis=2), 2, axis=3)
    np.testing.assert_array_equal(np.asarray(gradient), np.asarray(x) == expected)
