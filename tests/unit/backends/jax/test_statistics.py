"""Maxima, minima and their positions on CPUs, by slices of the axis: NaN, ties, transformations."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

import xarrayops as xo

jax = pytest.importorskip("jax")
jnp = jax.numpy
statistics = pytest.importorskip("xarrayops_backends.jax._standard.statistics")

SHAPES = [(1500,), (600, 3), (3, 515), (8, 20, 30), (1, 512), (0, 700)]
"""Some have short slices on an axis, and others an extent that no number of slices divides."""


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("axis", [0, -1, None])
def test_ties_and_nan_as_in_numpy(shape, axis):
    if axis != -1 and not np.prod(shape):
        pytest.skip("NumPy raises")
    rng = np.random.default_rng(0)
    whole = rng.integers(-3, 4, shape)
    numbers = whole.astype(np.float32)
    holed = np.where(rng.random(shape) < 0.01, np.nan, np.where(numbers == 3, np.inf, numbers)).astype(np.float32)
    for x in (whole.astype(np.int32), numbers, holed, np.full(shape, np.nan, np.float32), whole > 0):
        for verb in ("argmax", "argmin", "max", "min")[: 2 if x.dtype == bool else 4]:
            got = getattr(xo, verb)(jnp.asarray(x), axis=axis, keepdims=True)
            want = getattr(np, verb)(x, axis=axis, keepdims=True)
            np.testing.assert_array_equal(np.asarray(got), want)


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "uint8"])
def test_many_long_rows(dtype, monkeypatch):
    """NumPy searches them in memory that JAX shares: the first of equal numbers, or the first NaN."""
    rng = np.random.default_rng(0)
    x = rng.integers(0, 200, (3, 700, 513)).astype(dtype)
    x[0, 1], x[-1, -1, [5, 400]], x[1, 699, -1] = 7, 255, 255
    if x.dtype.kind == "f":
        x[1, 2, [9, 300]], x[2, 0] = np.nan, np.nan
        x[0, 2, :], x[0, 3, :] = np.where(np.arange(513) % 2, -0.0, 0.0), -np.inf
    served = []
    native = statistics.positions.of_rows
    monkeypatch.setattr(statistics.positions, "of_rows", lambda *args: served.append(args) or native(*args))
    with jax.enable_x64(dtype == "float64"):
        a = jnp.asarray(x)
        for name in ("argmax", "argmin"):
            for keepdims in (False, True):
                got = getattr(xo, name)(a, axis=-1, keepdims=keepdims)
                assert got.dtype == (jnp.int64 if dtype == "float64" else jnp.int32)
                assert got.device == a.device
                np.testing.assert_array_equal(np.asarray(got), getattr(np, name)(x, axis=-1, keepdims=keepdims))
        traced = jax.jit(lambda a: xo.argmax(a, axis=2))(a)
        np.testing.assert_array_equal(np.asarray(traced), x.argmax(axis=2))
    assert len(served) == (4 if len(jax.devices()) == 1 else 0)


def test_other_arrays_are_searched_by_xla(monkeypatch):
    monkeypatch.setattr(statistics.positions, "of_rows", None)
    x = np.random.default_rng(0).standard_normal((2048, 600)).astype(np.float32)
    for a, axis in ((x, 0), (x, None), (x[:1500], 1), (x.reshape(-1), 0), (x.reshape(-1, 16), 1)):
        np.testing.assert_array_equal(np.asarray(xo.argmax(jnp.asarray(a), axis=axis)), a.argmax(axis=axis))
    half = jnp.asarray(x, jnp.bfloat16)
    np.testing.assert_array_equal(np.asarray(xo.argmax(half, axis=1)), np.asarray(half, np.float32).argmax(axis=1))


def test_no_slices_where_rows_are_short():
    x = np.random.default_rng(0).integers(0, 5, (300, 4)).astype(np.float32)
    x[7, 2] = np.nan
    np.testing.assert_array_equal(np.asarray(xo.argmax(jnp.asarray(x), axis=1)), x.argmax(axis=1))
    np.testing.assert_array_equal(np.asarray(xo.max(jnp.asarray(x), axis=1)), x.max(axis=1))


def test_under_transformations():
    x = jnp.asarray(np.random.default_rng(0).standard_normal((6, 700)), jnp.float32)
    want = np.asarray(x).argmax(axis=1)
    np.testing.assert_array_equal(jax.jit(lambda x: xo.argmax(x, axis=1))(x), want)
    np.testing.assert_array_equal(jax.vmap(lambda row: xo.argmax(row, axis=0))(x), want)
    gradient = jax.grad(lambda x: xo.sum(xo.max(x, axis=1)) + xo.sum(xo.argmax(x, axis=1) * x[:, 0]) * 0)(x)
    np.testing.assert_array_equal(gradient, np.arange(700) == want[:, None])
    value, tangent = jax.jvp(lambda x: xo.max(x, axis=1), (x,), (x,))
    np.testing.assert_array_equal(value, tangent)


def test_errors_are_those_of_short_arrays():
    for count in (3, 2000):
        with pytest.raises(IndexError):
            xo.argmax(jnp.ones(count), axis=1)
    with pytest.raises(ValueError, match="empty"):
        xo.argmax(jnp.ones((2000, 0)), axis=1)


def test_gradients_near_the_largest_number():
    x = jnp.asarray([1, 2e38, -2e38, 3e38], jnp.float32)
    np.testing.assert_allclose(xo.gradient(x)[1:-1], [-1e38, 0.5e38], rtol=1e-6)
    assert jax.grad(lambda step: xo.gradient(x[:3], step).sum())(jnp.float32(4)) == 1.875e37
    complex_ = xo.gradient(jnp.asarray([1 + 1j, complex(np.inf, 2), 3 + 1j, 4 + 5j], jnp.complex64))
    assert jnp.isinf(complex_[0].real)


@pytest.mark.parametrize("axis", [0, 1, None])
@pytest.mark.parametrize("name", ["min", "max"])
def test_the_first_of_several_nans(name, axis):
    """On GPUs jnp.argmin finds any one. There the position of a search does not matter where there is NaN."""
    x = np.random.default_rng(1).normal(size=(5, 7)).astype(np.float32)
    x[1, 3] = x[1, 5] = x[4, 0] = np.nan
    want = getattr(np, f"arg{name}")(x, axis=axis, keepdims=True)
    search = partial(getattr(jnp, f"arg{name}"), axis=axis, keepdims=True)
    found = jax.jit(partial(statistics._first_nan, search, axis, True))(x)
    np.testing.assert_array_equal(np.asarray(found), want)
    np.testing.assert_array_equal(np.asarray(getattr(xo, f"arg{name}")(jnp.asarray(x), axis=axis, keepdims=True)), want)
