"""Quantiles and orders of split axes on Dask: NumPy's results, from tasks of about one chunk."""

import numpy as np
import pytest
from xarrayops_backends.dask import _order

import xarrayops as xo
from tests.unit.backends.dask.tasks import measured

da = pytest.importorskip("dask.array")

RANDOM = np.random.default_rng(3)
UNEVEN = (300, 0, 250, 50, 400, 1, 199)
N = sum(UNEVEN)
DTYPES = ("float16", "float32", "float64", "int8", "uint16", "int64", "uint64", "bool")


@pytest.fixture(autouse=True)
def _small(monkeypatch):
    """Chunks of these tests count as large."""
    monkeypatch.setattr(_order, "SMALL", 0)


def values(dtype, shape=(N,)):
    """Numbers of both signs with ties, both zeros, infinities and the least and greatest of the dtype."""
    x = np.dtype(dtype)
    if x.kind == "f":
        found = RANDOM.normal(size=shape).round(1).astype(x)
        special = [0.0, -0.0, np.inf, -np.inf, np.finfo(x).max, np.finfo(x).min, np.finfo(x).tiny, -np.finfo(x).tiny]
        found.reshape(-1)[: 9 * len(special) : 9] = special
        return found
    if x.kind == "b":
        return RANDOM.integers(0, 2, shape).astype(x)
    limits = np.iinfo(x)
    found = RANDOM.integers(limits.min, limits.max, shape, dtype=x, endpoint=True)
    found[::7] = found[0]
    found[5], found[6] = limits.min, limits.max
    return found


def same(found, wanted):
    assert found.dtype == wanted.dtype
    np.testing.assert_array_equal(found, wanted)


@pytest.mark.filterwarnings("ignore:invalid value", "ignore:overflow")
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("q", [0.0, 0.37, 1.0])
@pytest.mark.parametrize("method", ["linear", "higher", "midpoint"])
def test_quantiles_of_split_vectors_equal_the_twin(dtype, q, method):
    x = values(dtype)
    lazy = xo.quantile(da.from_array(x, chunks=(UNEVEN,)), q, method=method)
    wanted = xo.quantile(da.from_array(x, chunks=-1), q, method=method).compute()
    same(lazy.compute(), wanted)
    np.testing.assert_allclose(wanted, xo.quantile(x, q, method=method), rtol=1e-3 if dtype == "float16" else 1e-6)


@pytest.mark.filterwarnings("ignore:All-NaN")
@pytest.mark.parametrize("axis", [None, 0, 1, (0, 2), (2, 1)])
@pytest.mark.parametrize("verb", ["median", "nanmedian", "quantile", "nanquantile", "percentile", "nanpercentile"])
def test_axes_with_nan(verb, axis):
    x = values("float64", (40, 6, 10)).clip(-9, 9)
    x[3, 2], x[:, 1, 4], x[0, 0, 0] = np.nan, np.nan, np.nan
    q = () if "median" in verb else (np.asarray([0.1, 0.9, 0.5]) * (100 if "percentile" in verb else 1),)
    y = da.from_array(x, chunks=((13, 27), (1, 5), 5))
    found = getattr(xo, verb)(y, *map(da.from_array, q), axis=axis, keepdims=True)
    wanted = getattr(np, verb)(x, *q, axis=axis, keepdims=True)
    assert found.dtype == wanted.dtype
    np.testing.assert_allclose(found.compute(), wanted, rtol=1e-14)


@pytest.mark.parametrize("verb", ["median", "nanmedian"])
def test_medians_hold_a_chunk(verb):
    x = RANDOM.normal(size=200_000)
    x[:3] = np.nan
    found, tasks = measured(getattr(xo, verb), da.from_array(x, chunks=20_000))
    same(found, getattr(np, verb)(x))
    assert max(tasks.most_taken, tasks.most_given) <= 1.1 * 20_000 * 8
    assert len(tasks) <= 40 * 10


@pytest.mark.parametrize("shape", [(60_000, 3), (400, 500)], ids=["long", "short"])
def test_quantiles_of_columns_hold_a_chunk(shape):
    x = RANDOM.normal(size=shape)
    y = da.from_array(x, chunks=(shape[0] // 10, -1))
    found, tasks = measured(lambda x: xo.quantile(x, 0.3, axis=0), y)
    np.testing.assert_allclose(found, np.quantile(x, 0.3, axis=0), rtol=1e-14)
    assert max(tasks.most_taken, tasks.most_given) <= 1.1 * x.nbytes / 10
