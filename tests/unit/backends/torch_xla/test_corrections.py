"""Results that PyTorch/XLA's own functions get wrong: infinities in maxima and minima, and as replacements of NaN."""

from __future__ import annotations

import numpy as np
import pytest

import xarrayops as xo

pytest.importorskip("torch", exc_type=ImportError)
pytest.importorskip("torch_xla", exc_type=ImportError)
INF = np.inf
VALUES = [[INF, INF], [-INF, -INF], [-INF, INF], [-INF, 1.0], [np.nan, -INF], [1.0, np.nan]]


def of_xla(x, dtype):
    return xo.convert(np.asarray(x, dtype=dtype), "torch_xla")


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", ["max", "min", "nanmax", "nanmin"])
def test_extremes_of_infinities(name, dtype):
    found = getattr(xo, name)(of_xla(VALUES, dtype), axis=1)
    np.testing.assert_array_equal(xo.convert(found, "numpy"), getattr(np, name)(np.asarray(VALUES), axis=1))


def test_positions_of_infinities_among_nan():
    assert xo.convert(xo.nanargmax(of_xla(VALUES, "float64"), axis=1), "numpy").tolist() == [0, 0, 1, 1, 1, 0]
    assert xo.convert(xo.nanargmin(of_xla(VALUES, "float64"), axis=1), "numpy").tolist() == [0, 0, 0, 0, 1, 0]


@pytest.mark.parametrize("replacements", [{"nan": INF}, {"posinf": 1.0}, {"nan": 2.0, "posinf": -INF, "neginf": INF}])
def test_replacements_that_are_not_finite(replacements):
    found = xo.nan_to_num(of_xla(VALUES, "float32"), **replacements)
    np.testing.assert_array_equal(
        xo.convert(found, "numpy"), np.nan_to_num(np.asarray(VALUES, dtype="float32"), **replacements)
    )


def test_positions_among_nan():
    x = np.asarray([-INF, 1.0, INF, np.nan, np.nan])
    for side in ("left", "right"):
        found = xo.searchsorted(of_xla(x, "float64"), of_xla(x, "float64"), side=side)
        np.testing.assert_array_equal(xo.convert(found, "numpy"), np.searchsorted(x, x, side=side))


def test_a_copy_from_numpy_is_no_transfer():
    with xo.profile(show=False) as crossings:
        xo.convert(np.ones(3), "torch_xla")
    assert crossings.transfers == 0
