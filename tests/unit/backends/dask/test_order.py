"""Quantiles and orders of split axes on Dask: NumPy's results, from tasks of about one chunk."""

import numpy as np
import pytest
from xarrayops_backends.dask import _selection

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
    monkeypatch.setattr(_selection, "SMALL", 0)


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


ROWS, COLUMNS = 12_000, 4
CHUNK = ROWS * COLUMNS * 8


def made(block_info=None):
    (start, _), _ = block_info[None]["array-location"]
    found = np.random.default_rng(start).normal(size=(ROWS, COLUMNS)).round(2)
    found[::97] = np.nan if start else 9.0
    return found


def source(chunks=12):
    """An array whose chunks are made by tasks of their own."""
    return da.map_blocks(made, chunks=((ROWS,) * chunks, (COLUMNS,)), dtype="float64", meta=np.empty((0, 0)))


@pytest.mark.parametrize(
    ("verb", "args"),
    [("median", ()), ("nanmedian", ()), ("quantile", (0.3,)), ("nanquantile", (np.asarray([0.9, 0.0, 1.0, 0.2]),))],
)
@pytest.mark.parametrize("axis", [0, None])
def test_quantiles_keep_no_chunks(verb, args, axis):
    """All tasks one after the other hold less than three chunks, of 12: the second pass makes each again."""
    x = source()
    call = lambda x: getattr(xo, verb)(x, *map(da.asarray, args), axis=axis)
    found, tasks = measured(call, x)
    np.testing.assert_allclose(found, getattr(np, verb)(x.compute(), *args, axis=axis), rtol=1e-15)
    assert tasks.most_held <= 3 * CHUNK
    assert sum("made" in str(task.key) for task in tasks.found) == 2 * 12


@pytest.mark.parametrize("step", ["x - xo.nanmean(x, axis=0)", "x.rechunk((3000, 4))"])
def test_quantiles_do_not_repeat_costly_steps(step):
    x = eval(step, {"x": source(), "xo": xo})
    found, tasks = measured(lambda x: xo.nanmedian(x, axis=0), x)
    np.testing.assert_array_equal(found, np.nanmedian(x.compute(), axis=0))
    assert sum("made" in str(task.key) for task in tasks.found) == 12


@pytest.mark.parametrize("limit", [0, 1 << 30], ids=["by digits", "in two passes"])
@pytest.mark.parametrize("seed", range(12))
def test_elements_of_split_rows(monkeypatch, seed, limit):
    """Ties, NaN, few and many ranks, chunks of any lengths and in any order, at every rank."""
    monkeypatch.setattr(_selection, "SMALL", limit)
    rng = np.random.default_rng(seed)
    lengths = tuple(rng.integers(1, [120, 40, 2, 60][seed % 4], size=rng.integers(2, 12)).tolist())
    x = rng.normal(size=(2, sum(lengths))).round(seed % 3)
    x[rng.uniform(size=x.shape) < [0.0, 0.1, 0.9][seed % 3]] = np.nan
    x = np.sort(x) if seed % 2 else x
    places = np.tile(np.arange(x.shape[1]), (2, 1))
    for each in (places, places[:, ::7], *(places[:, i, None] for i in rng.integers(0, x.shape[1], 12))):
        found = _selection.selected(da.from_array(x, chunks=(1, lengths)), da.from_array(each))
        same(found.compute(scheduler="sync"), np.take_along_axis(np.sort(x), each, -1))


@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("dtype", DTYPES)
def test_sorts_of_split_vectors_are_numpys(dtype, descending):
    x = values(dtype)
    if np.dtype(dtype).kind == "f":
        x[::50] = np.nan
    y = da.from_array(x, chunks=(UNEVEN,))
    for verb in ("sort", "argsort"):
        found = getattr(xo, verb)(y, descending=descending)
        assert found.chunks == y.chunks
        wanted = getattr(xo, verb)(x, descending=descending)
        same(found.compute(), wanted)
        if dtype == "float64":
            np.testing.assert_array_equal(np.signbit(found.compute()), np.signbit(wanted))


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_sorts_along_an_axis(axis):
    x = values("float32", (30, 12, 20))
    y = da.from_array(x, chunks=(7, 5, 2))
    same(xo.sort(y, axis=axis).compute(), np.sort(x, axis=axis))
    same(xo.argsort(y, axis=axis).compute(), np.argsort(x, axis=axis, stable=True))
    long = da.from_array(x.reshape(600, 12), chunks=(30, 2))
    same(xo.argsort(long, axis=0).compute(), np.argsort(x.reshape(600, 12), axis=0, stable=True))


@pytest.mark.parametrize(("verb", "most"), [("sort", 1), ("argsort", 2)])
def test_sorts_hold_two_chunks(verb, most):
    x = RANDOM.normal(size=400_000)
    found, tasks = measured(getattr(xo, verb), da.from_array(x, chunks=50_000))
    same(found, getattr(np, verb)(x))
    assert tasks.most_taken <= (most + 0.1) * 50_000 * 8
    assert tasks.most_given <= 1.1 * 50_000 * 8
    assert len(tasks) <= 40 * 8


@pytest.mark.parametrize("largest", [False, True])
@pytest.mark.parametrize("dtype", [*DTYPES, "complex64"])
def test_the_greatest_are_those_of_a_stable_sort(dtype, largest):
    x = values(dtype) if dtype != "complex64" else values("float32").clip(-9, 9) * (1 + 2j)
    y = da.from_array(x.reshape(3, N // 3), chunks=(2, (100, 0, 200, 100)))
    for k in (0, 5, 130):
        found = xo.topk(y, k, largest=largest)
        order = np.argsort(x.reshape(3, -1), axis=-1, stable=True)
        order = np.flip(order[:, N // 3 - k :], axis=-1) if largest else order[:, :k]
        same(found[0].compute(), np.take_along_axis(x.reshape(3, -1), order, axis=-1))
        same(found[1].compute(), order)


def test_the_greatest_hold_a_chunk():
    x = RANDOM.normal(size=200_000)
    found, tasks = measured(lambda x: xo.topk(x, 50)[0], da.from_array(x, chunks=20_000))
    same(found, np.sort(x)[:-51:-1])
    assert tasks.most_taken <= 2 * 20_000 * 8
