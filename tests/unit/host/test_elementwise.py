"""Maxima and minima of large arrays and numbers equal NumPy's, bit by bit."""

from __future__ import annotations

import numpy as np
import pytest

import xarrayops as xo
from xarrayops._host import elementwise, threads

SPECIAL = (np.nan, np.inf, -np.inf, 0.0, -0.0, 1e-310, 5.0)
SHAPES = ((512, 1024), (3, 40000), (2, 3, 4096), (300000,), (1, 1 << 16), (1100, 2048))


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("shape", SHAPES)
def test_values_are_those_of_numpy(shape, dtype):
    random = np.random.default_rng(0)
    x = random.standard_normal(shape).astype(dtype)
    x.reshape(-1)[: len(SPECIAL)] = np.asarray(SPECIAL, dtype)
    for value in (0.0, -0.0, 1, np.inf, float("nan"), 0.5):
        for ours, theirs in ((xo.maximum, np.maximum), (xo.minimum, np.minimum)):
            want = theirs(x, value)
            got = ours(x, value)
            assert got.dtype == x.dtype
            assert (np.isnan(got) == np.isnan(want)).all()
            np.testing.assert_array_equal(got, want)
    before = x.copy()
    assert xo.at(x)[...].max(0.0, copy=None) is x
    np.testing.assert_array_equal(x, np.maximum(before, 0.0))


@pytest.mark.parametrize("layout", ["reversed", "transposed", "strided", "read-only"])
def test_layouts(layout):
    base = np.random.default_rng(0).standard_normal((600, 700)).astype("float32")
    x = {"reversed": base[::-1, ::-1], "transposed": base.T, "strided": base[::2, ::2], "read-only": base}[layout]
    if layout == "read-only":
        x.flags.writeable = False
    assert elementwise.is_served(x)
    got = xo.maximum(x, 0.25)
    np.testing.assert_array_equal(got, np.maximum(x, 0.25))
    assert got.flags.writeable
    assert not np.shares_memory(got, x)


def test_other_arguments_are_numpys():
    x = np.arange(1 << 15).reshape(256, 128)
    assert xo.maximum(x, 5).dtype == x.dtype
    np.testing.assert_array_equal(xo.maximum(x, 5), np.maximum(x, 5))
    with pytest.raises(OverflowError):
        xo.maximum(np.ones((256, 128)), 10**400)


def test_every_row_is_computed_once(monkeypatch):
    """Whatever the number of threads is."""
    x = np.random.default_rng(0).standard_normal((1031, 2048))
    for count in (1, 2, 3, 7, 300):
        monkeypatch.setattr(threads, "thread_count", lambda count=count: count)
        out = np.full_like(x, np.nan)
        elementwise.extremum(np.maximum, x, 0.0, out)
        np.testing.assert_array_equal(out, np.maximum(x, 0.0))


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "int32", "uint32", "int64", "uint64"])
def test_integers_in_place(dtype):
    x = np.random.default_rng(0).integers(0, 100, (256, 1024)).astype(dtype)
    for name, ufunc in (("max", np.maximum), ("min", np.minimum)):
        want = ufunc(x, np.asarray(50, dtype))
        np.testing.assert_array_equal(getattr(xo.at(x)[...], name)(50, copy=True), want)
