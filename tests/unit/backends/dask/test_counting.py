"""Counts, segments and updates by index on Dask: NumPy's results, from tasks of one chunk and the results."""

import numpy as np
import pytest

import xarrayops as xo
from tests.unit.backends.dask.tasks import measured

da = pytest.importorskip("dask.array")

N, BINS = 6000, 20
CHUNK = 1000 * 8
RANDOM = np.random.default_rng(7)
X = RANDOM.normal(size=N)
X[::91] = np.nan
M = RANDOM.normal(size=(N, 3))
IDS = RANDOM.integers(-2, BINS + 2, N)
UNEVEN = (1000, 700, 300, 1000, 1000, 1000, 1000)
UFUNCS = {
    "add": np.add,
    "subtract": np.subtract,
    "multiply": np.multiply,
    "divide": np.divide,
    "min": np.minimum,
    "max": np.maximum,
}

OPERATIONS = {
    "float64": [*UFUNCS, "set"],
    "complex128": ["add", "subtract", "multiply", "divide", "set"],
    "int16": ["add", "subtract", "multiply", "min", "max", "set"],
    "bool": ["add", "multiply", "min", "max", "set"],
}


def chunked(values, chunks=UNEVEN):
    return da.from_array(values, chunks=(chunks, *values.shape[1:]))


@pytest.mark.parametrize("options", [{"bins": 12, "range": (-2.0, 2.0)}, {"bins": np.linspace(-1, 3, 9)}])
@pytest.mark.parametrize("density", [False, True])
def test_histogram_holds_a_chunk(options, density):
    (found, edges), tasks = measured(lambda x: xo.histogram(x, density=density, **_lazy(options)), chunked(X))
    wanted, wanted_edges = np.histogram(X, density=density, **options)
    np.testing.assert_allclose(found, wanted, rtol=1e-15 if density else 0)
    assert found.dtype == wanted.dtype
    np.testing.assert_array_equal(edges, wanted_edges)
    assert tasks.most_taken <= 2.2 * CHUNK


def _lazy(options):
    return {k: da.from_array(v) if isinstance(v, np.ndarray) else v for k, v in options.items()}


def test_histogram_of_the_chunks_of_a_matrix_with_the_range_of_its_values():
    x, w = RANDOM.normal(size=(60, 50)), RANDOM.uniform(size=(60, 50))
    call = lambda x, w: xo.histogram(x, 7, weights=w)
    (found, edges), tasks = measured(call, da.from_array(x, chunks=(20, 25)), da.from_array(w, chunks=(20, 25)))
    wanted, wanted_edges = np.histogram(x, 7, weights=w)
    np.testing.assert_allclose(found, wanted, rtol=1e-14)
    np.testing.assert_array_equal(edges, wanted_edges)
    assert tasks.most_taken <= 3 * 500 * 8


@pytest.mark.filterwarnings("ignore:invalid value")
@pytest.mark.parametrize("verb", ["sum", "mean", "max", "min"])
@pytest.mark.parametrize("values", [X, M, M.astype("float32")], ids=["vector", "matrix", "float32"])
def test_segments_hold_a_chunk(verb, values):
    function = getattr(xo, f"segment_{verb}")
    found, tasks = measured(lambda x, ids: function(x, ids, BINS), chunked(values), chunked(IDS))
    wanted = function(values, IDS, BINS)
    np.testing.assert_allclose(found, wanted, rtol=1e-6 if values.dtype == "float32" else 1e-13)
    assert found.dtype == wanted.dtype
    row = max(values[0].nbytes, 8)
    assert tasks.most_taken <= 1000 * (2 * row + 8) + 5 * BINS * row


def test_counts_hold_a_chunk():
    found, tasks = measured(lambda x: xo.bincount(x, length=BINS), chunked(np.abs(IDS)))
    np.testing.assert_array_equal(found, np.bincount(np.abs(IDS))[:BINS])
    assert tasks.most_taken <= 2 * CHUNK + 500


@pytest.mark.parametrize("call", [xo.bincount, lambda ids: xo.segment_sum(ids, ids)])
def test_sizes_that_depend_on_values_are_computed_in_the_call(call):
    """`strict` says so; it was an error about traced functions."""
    ids = chunked(np.abs(IDS))
    with xo.strict(computes=None):
        assert call(ids).shape == (BINS + 2,)
    with pytest.raises(xo.CrossingError, match="computes=0, but the program made 1"), xo.strict(computes=0):
        call(ids)


@pytest.mark.parametrize(("op", "dtype"), [(op, dtype) for dtype, ops in OPERATIONS.items() for op in ops])
def test_updates_by_index_equal_numpys(op, dtype):
    x = RANDOM.integers(1, 4, (12, 3)).astype(dtype)
    ids = RANDOM.integers(-12, 12, (9, 4))
    values = RANDOM.integers(1, 3, (9, 4, 3)).astype(dtype)
    if dtype == "float64":
        x[2], values[3] = -0.0, np.nan
    y = da.from_array(x, chunks=((5, 0, 7), 2))
    found = getattr(xo.at(y)[da.from_array(ids, chunks=(4, 2))], op)(da.from_array(values, chunks=(5, 4, 1)))
    wanted = x.copy()
    with np.errstate(all="ignore"):
        if op == "set":
            wanted[ids] = values
        else:
            UFUNCS[op].at(wanted, ids, values)
    assert found.dtype == wanted.dtype
    np.testing.assert_allclose(found.compute(), wanted, rtol=1e-15)
    if dtype == "float64" and op in ("add", "subtract"):
        untouched = ~np.isin(np.arange(12), ids % 12)
        np.testing.assert_array_equal(np.signbit(found.compute())[untouched], np.signbit(x)[untouched])


@pytest.mark.parametrize("op", ["set", "multiply", "add"])
def test_an_update_leaves_its_array(op):
    x, ids = da.ones((12, 3), chunks=5).persist(), da.from_array(np.asarray([0, 7]), chunks=1)
    found = getattr(xo.at(x)[ids], op)(3.0)
    assert float(found.sum()) != 36.0 == float(x.sum())


def test_an_update_of_columns_by_index():
    x, ids = RANDOM.integers(0, 9, (6, 8)).astype("float64"), np.asarray([1, 1, 7])
    found = xo.at(da.from_array(x, chunks=(2, 3)))[:, da.from_array(ids, chunks=2)].add(2.0)
    wanted = x.copy()
    np.add.at(wanted, (slice(None), ids), 2.0)
    np.testing.assert_array_equal(found.compute(), wanted)


def test_an_index_out_of_range_raises_when_computed():
    found = xo.at(da.zeros(4, chunks=2))[da.from_array(np.asarray([1, 4]), chunks=1)].add(1.0)
    with pytest.raises(IndexError, match=r"xo\.at\(x\)\[index\]\.add: index 4 is out of bounds"):
        found.compute()


def test_an_update_holds_a_chunk():
    add = lambda x, ids, values: xo.at(x)[ids].add(values)
    x, ids = np.zeros((40, 3)), RANDOM.integers(0, 40, N)
    found, tasks = measured(add, da.from_array(x, chunks=(10, 3)), chunked(ids), chunked(M))
    np.add.at(x, ids, M)
    np.testing.assert_allclose(found, x, rtol=1e-12)
    assert tasks.most_taken <= 1000 * (3 + 1) * 8 + 100
    assert tasks.most_given <= 3 * CHUNK
