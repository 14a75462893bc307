"""Updates of large arrays by numbers, which use rows of equal numbers."""

from __future__ import annotations

import numpy as np
import pytest

import xarrayops as xo


@pytest.mark.parametrize("shape", [(40, 500), (20_000, 2), (200_000,), (30, 40, 50)])
@pytest.mark.parametrize(("op", "own"), [("max", np.maximum), ("min", np.minimum)])
@pytest.mark.parametrize("value", [0, 0.5, -np.inf, np.nan])
def test_the_extremum_with_a_number(shape, op, own, value):
    x = np.random.default_rng(0).standard_normal(shape).astype(np.float32)
    x.reshape(-1)[5] = np.nan
    want = own(x, np.float32(value))
    np.testing.assert_array_equal(getattr(xo.at(x)[...], op)(value), want)
    part, expected = x[::2, ...], own(x[::2, ...], np.float32(value))
    result = getattr(xo.at(x)[::2], op)(value, copy=None)
    assert result is x
    np.testing.assert_array_equal(part, expected)
    whole = np.arange(40_000).reshape(200, 200)
    np.testing.assert_array_equal(getattr(xo.at(whole)[:, 1:], op)(7)[:, 1:], own(whole, 7)[:, 1:])
