"""Reductions, tall factorisations, attention and convolution on Dask: NumPy's results, from tasks of a few chunks."""

import numpy as np
import pytest
from xarrayops_backends.dask import _random

import xarrayops as xo
from tests.unit.backends.dask.tasks import measured

da = pytest.importorskip("dask.array")

RANDOM = np.random.default_rng(11)
TALL = RANDOM.normal(size=(3000, 12))
BYTES = TALL.nbytes / 10


def split(x, columns=4):
    """Ten chunks of the size of 300 rows, several along each axis."""
    return da.from_array(x, chunks=(300 * x.shape[1] // columns, columns))


@pytest.mark.parametrize("axis", [None, 0, 1])
@pytest.mark.parametrize("verb", ["nanvar", "nanstd", "logsumexp"])
def test_reductions_hold_a_chunk_and_read_it_once(verb, axis):
    x = RANDOM.normal(size=(4000, 5)) * 30
    x[7, 3] = -np.inf if verb == "logsumexp" else np.nan
    options = {} if verb == "logsumexp" else {"correction": 1.0}
    y = da.from_array(x, chunks=((1000, 0, 900, 1100, 1000), 5))
    found, tasks = measured(lambda x: getattr(xo, verb)(x, axis=axis, keepdims=True, **options), y)
    wanted = getattr(xo, verb)(x, axis=axis, keepdims=True, **options)
    assert found.dtype == wanted.dtype
    np.testing.assert_allclose(found, wanted, rtol=1e-13)
    assert tasks.most_taken <= 1.2 * 1100 * 5 * 8
    held = [task for task in tasks.found if task.taken > 8000 * 4 and "astype" not in str(task.key)]
    assert len(held) <= 3 * 4


def test_too_few_numbers_have_no_variance():
    x = np.asarray([1.0, np.nan, 2.0, np.nan])
    found = xo.nanvar(da.from_array(x, chunks=2), correction=2)
    assert np.isnan(found.compute())


@pytest.mark.parametrize("transposed", [False, True])
def test_factorisations_of_matrices_with_several_column_chunks(transposed):
    y = split(TALL).T if transposed else split(TALL)
    x = TALL.T if transposed else TALL
    for call, wanted in (
        (lambda y: xo.linalg.svd(y, full_matrices=False)[1], np.linalg.svd(x, compute_uv=False)),
        (xo.linalg.svdvals, np.linalg.svd(x, compute_uv=False)),
        (xo.linalg.pinv, np.linalg.pinv(x)),
        (xo.linalg.matrix_rank, np.linalg.matrix_rank(x)),
    ):
        found, tasks = measured(call, y)
        np.testing.assert_allclose(found, wanted, rtol=1e-10, atol=1e-14)
        assert tasks.most_taken <= 1.3 * BYTES
        assert tasks.most_given <= 2.1 * BYTES
    u, s, vh = (each.compute() for each in xo.linalg.svd(y, full_matrices=False))
    np.testing.assert_allclose((u * s) @ vh, x, atol=1e-12)


def test_qr_of_several_column_chunks():
    found, tasks = measured(xo.linalg.qr, split(TALL))
    q, r = found
    np.testing.assert_allclose(q @ r, TALL, atol=1e-12)
    np.testing.assert_allclose(q.T @ q, np.eye(12), atol=1e-13)
    np.testing.assert_allclose(np.abs(r), np.abs(np.linalg.qr(TALL)[1]), atol=1e-11)
    assert tasks.most_taken <= 1.3 * BYTES


@pytest.mark.parametrize("columns", [None, 2])
@pytest.mark.parametrize("deficient", [False, True])
def test_least_squares_hold_a_chunk(columns, deficient):
    a = TALL.copy()
    if deficient:
        a[:, 3] = a[:, 5]
    b = RANDOM.normal(size=(3000, columns) if columns else 3000)
    found, tasks = measured(xo.linalg.lstsq, split(a), da.from_array(b, chunks=500))
    wanted, _, rank, s = np.linalg.lstsq(a, b)
    np.testing.assert_allclose(found[0], wanted, atol=1e-12)
    np.testing.assert_allclose(found[1], ((b - a @ wanted) ** 2).sum(axis=0).reshape(-1), rtol=1e-12)
    assert found[2] == rank
    np.testing.assert_allclose(found[3], s, rtol=1e-12, atol=1e-11)
    assert tasks.most_taken <= 1.5 * BYTES


def test_permutations_are_numpys_and_are_split(monkeypatch):
    monkeypatch.setattr(_random, "_LEAST", 8000)
    like = da.zeros(1)
    found = xo.random.default_rng(5, like=like).permutation(10_000)
    assert max(found.chunks[0]) <= 1000
    np.testing.assert_array_equal(found.compute(), xo.random.default_rng(5, like=np.zeros(1)).permutation(10_000))


def test_attention_merges_pairs():
    q, k, v = (RANDOM.normal(size=(1, 2, n, 8)) for n in (32, 512, 512))
    lazy = (da.from_array(q, chunks=(1, 2, 16, 8)), *(da.from_array(x, chunks=(1, 2, 32, 8)) for x in (k, v)))
    found, tasks = measured(xo.attention, *lazy)
    np.testing.assert_allclose(found, xo.attention(q, k, v), rtol=1e-9)
    chunk = 2 * 32 * 8 * 8
    assert max(tasks.most_taken, tasks.most_given) <= 4 * chunk


@pytest.mark.parametrize("mode", ["full", "same", "valid"])
def test_convolution_by_halo(mode):
    x, kernel = RANDOM.normal(size=40_000), RANDOM.normal(size=50)
    found, tasks = measured(lambda x, k: xo.convolve(x, k, mode), da.from_array(x, chunks=2500), da.from_array(kernel))
    np.testing.assert_allclose(found, np.convolve(x, kernel, mode), rtol=1e-9)
    assert len(tasks) <= 10 * 16
    assert tasks.most_taken <= 1.2 * 2500 * 8
