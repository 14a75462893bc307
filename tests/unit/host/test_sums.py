"""Sums of whole large arrays, which several threads add: the error, the threads, and warnings."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest

import xarrayops as xo
from xarrayops._host import sums


@pytest.mark.parametrize("shape", [(sums.SHARE,), (sums.SHARE + 77,), (1500, 1501)])
@pytest.mark.parametrize("dtype", ["float32", "complex64"])
def test_the_error_and_the_shape(shape, dtype):
    x = np.random.default_rng(0).uniform(0.5, 1.0, shape).astype(dtype)
    bound = 4 * 2.0**-23 * math.log2(x.size) * np.abs(x).astype(np.float64).sum()
    for each in (x, x.T):
        total = xo.sum(each)
        assert (total.shape, total.dtype) == ((), x.dtype)
        assert abs(total - x.sum(dtype="complex128" if dtype == "complex64" else "float64")) <= bound
        kept = xo.sum(each, keepdims=True)
        assert kept.shape == (1,) * x.ndim
        assert kept.item() == total


def test_the_number_of_threads_changes_no_bit(monkeypatch):
    x = np.random.default_rng(0).standard_normal(3 * sums.SHARE).astype(np.float32)
    totals = set()
    for threads in ("1", "2", "5"):
        monkeypatch.setenv("XARRAYOPS_THREADS", threads)
        totals.add(float(xo.sum(x)))
    assert len(totals) == 1


def test_nan_infinity_and_the_settings_of_errors():
    x = np.zeros(sums.SHARE, np.float32)
    x[-1] = np.nan
    assert np.isnan(xo.sum(x))
    x[:2] = np.finfo(np.float32).max
    x[-1] = 0
    with np.errstate(over="ignore"), warnings.catch_warnings():
        warnings.simplefilter("error")
        assert xo.sum(x) == np.inf
    with np.errstate(over="raise"), pytest.raises(FloatingPointError):
        xo.sum(x)


LAYOUTS = {
    "C": lambda x: x,
    "reversed": lambda x: x[::-1, ::-1],
    "rows that are apart": lambda x: x[:, :1501],
    "strided": lambda x: x[:, ::2],
    "transposed": lambda x: x.T,
    "stack": lambda x: x.reshape(3, 100, 4000)[:, ::-1],
    "one row": lambda x: x.reshape(1, -1),
    "empty rows": lambda x: x[:0],
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_the_error_along_each_axis(layout):
    """All numbers are positive and alike, so that sequential sums would exceed the bound."""
    x = LAYOUTS[layout](np.random.default_rng(0).uniform(0.99, 1.0, (400, 3000)).astype(np.float32))
    x.flags.writeable = False
    wide = x.astype(np.float64)
    for axis in (None, *range(x.ndim)):
        for function in ("sum", "mean") if x.size else ("sum",):
            got, want = getattr(xo, function)(x, axis=axis), getattr(np, function)(wide, axis=axis)
            assert (np.shape(got), got.dtype) == (want.shape, np.float32)
            terms = x.size if axis is None else x.shape[axis]
            np.testing.assert_allclose(got, want, rtol=4 * 2.0**-23 * max(math.log2(max(terms, 2)), 5))


@pytest.mark.parametrize("axis", [None, 1])
def test_a_sum_that_is_not_finite_warns_as_numpy_does(axis):
    x = np.ones((200, 3000), np.float32)
    x[3, 5:7] = np.inf, -np.inf
    x[4, 5] = np.nan
    for function in (np.sum, xo.sum):
        with pytest.warns(RuntimeWarning, match="^invalid value encountered in reduce$"):
            got = function(x, axis=axis)
        assert np.isnan(got if axis is None else got[3:5]).all()
    x[3, 5:7] = 3e38
    x[4, 5] = 0
    with pytest.warns(RuntimeWarning, match="^overflow encountered"):
        assert xo.sum(x, axis=1)[3] == np.inf


HALVES = np.array([[60000, 60000, -60000, 1], [60000, -60000, 60000, 1]], np.float16)
"""Three of the partial sums of each row overflow float16, its sum and its last cumulative sums do not."""


@pytest.mark.parametrize("library", ["numpy", "torch", "jax", "dask"])
@pytest.mark.parametrize("function", ["sum", "nansum", "mean", "nanmean", "average", "cumulative_sum"])
def test_sums_of_few_half_numbers_do_not_overflow_in_between(library, function):
    """Few elements, which NumPy alone would add in half precision, along an axis that is not contiguous."""
    pytest.importorskip(library)
    x = xo.convert(np.ascontiguousarray(HALVES.T), library)
    weights = {"weights": xo.ones_like(x)} if function == "average" else {}
    wide = HALVES.astype(np.float64)
    if function == "cumulative_sum":
        want = np.cumsum(wide, axis=1).T
    else:
        want = wide.sum(axis=1) / (1 if "sum" in function else 4)
    with np.errstate(over="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        got = xo.convert(getattr(xo, function)(x, axis=0, **weights), "numpy")
        assert got.dtype == np.float16
        np.testing.assert_array_equal(got, want.astype(np.float16))


def test_sums_of_few_bfloat16_numbers_are_rounded_once():
    ml_dtypes = pytest.importorskip("ml_dtypes")
    x = np.array([[256.0], *[[1.0]] * 20], ml_dtypes.bfloat16)
    assert xo.sum(x, axis=0).astype(float).item() == 276.0
    assert xo.cumulative_sum(x, axis=0)[-1].astype(float).item() == 276.0
