"""Sums of whole large arrays, which several threads add: the error, the threads, and warnings."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest

import xarrayops as xo
from xarrayops._host import sums


@pytest.mark.parametrize("shape", [(sums.SPREAD,), (sums.SPREAD + 77,), (1500, 1501)])
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
    x = np.random.default_rng(0).standard_normal(3 * sums.SPREAD).astype(np.float32)
    totals = set()
    for threads in ("1", "2", "5"):
        monkeypatch.setenv("XARRAYOPS_THREADS", threads)
        totals.add(float(xo.sum(x)))
    assert len(totals) == 1


def test_nan_infinity_and_the_settings_of_errors():
    x = np.zeros(sums.SPREAD, np.float32)
    x[-1] = np.nan
    assert np.isnan(xo.sum(x))
    x[:2] = np.finfo(np.float32).max
    x[-1] = 0
    with np.errstate(over="ignore"), warnings.catch_warnings():
        warnings.simplefilter("error")
        assert xo.sum(x) == np.inf
    with np.errstate(over="raise"), pytest.raises(FloatingPointError):
        xo.sum(x)
