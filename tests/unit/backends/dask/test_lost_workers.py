"""A worker that is killed while it computes: a cluster computes the lost chunks again, and the results are right."""

import os
import signal

import numpy as np
import pytest

import xarrayops as xo

da = pytest.importorskip("dask.array")
distributed = pytest.importorskip("distributed")

N, CHUNKS = 24_000, 8
RNG = np.random.default_rng(1)
X, M, IDS = RNG.normal(size=N), RNG.normal(size=(N, 6)), RNG.integers(0, 50, N)
PLACES = xo.random.default_rng(2).permutation(N)
random = lambda: xo.random.default_rng(2, backend="dask")
RUNS = {
    "histogram": (X, lambda x: xo.histogram(x, 30, range=(-2, 2))[0], lambda x: np.histogram(x, 30, (-2, 2))[0]),
    "bincount": (IDS, lambda x: xo.bincount(x, length=50), lambda x: np.bincount(x, minlength=50)),
    "segments": (M, lambda x: xo.segment_max(x, ids_of(x), 50), lambda x: xo.segment_max(x, IDS, 50)),
    "at": (M, lambda x: xo.at(da.zeros((50, 6)))[ids_of(x)].add(x), lambda x: xo.at(np.zeros((50, 6)))[IDS].add(x)),
    "median": (X, xo.median, np.median),
    "nanmedian": (M, lambda x: xo.nanmedian(x, axis=0), lambda x: np.nanmedian(x, axis=0)),
    "quantile": (X, lambda x: xo.quantile(x, 0.3), lambda x: np.quantile(x, 0.3)),
    "percentile": (M, lambda x: xo.percentile(x, 90.0, axis=0), lambda x: np.percentile(x, 90.0, axis=0)),
    "sort": (X, xo.sort, np.sort),
    "argsort": (X, xo.argsort, lambda x: np.argsort(x, stable=True)),
    "topk": (X, lambda x: xo.topk(x, 20)[0], lambda x: np.sort(x)[:-21:-1]),
    "lstsq": (M, lambda x: xo.linalg.lstsq(x, x[:, :1])[0], lambda x: np.linalg.lstsq(x, x[:, :1])[0]),
    "svdvals": (M, xo.linalg.svdvals, lambda x: np.linalg.svd(x, compute_uv=False)),
    "matmul": (M, lambda x: xo.matmul(x.T, x), lambda x: x.T @ x),
    "variance": (M, lambda x: xo.nanvar(x, axis=0), lambda x: np.nanvar(x, axis=0)),
    "logsumexp": (X, xo.logsumexp, lambda x: np.log(np.exp(x).sum())),
    "convolve": (X, lambda x: xo.convolve(x, da.ones(9)), lambda x: np.convolve(x, np.ones(9))),
    "cumulative": (X, lambda x: xo.cumulative_sum(x, axis=0), np.cumsum),
    "normal": (X, lambda x: x + random().normal(size=N), lambda x: x + xo.random.default_rng(2).normal(size=N)),
    "permutation": (X, lambda x: xo.take(x, random().permutation(N)), lambda x: x[PLACES]),
}


def ids_of(x):
    return da.from_array(IDS, chunks=(x.chunks[0],))


def fatal(chunk, path, block_info=None):
    """The chunk; but the first process that gets the fifth one is killed."""
    if block_info[0]["chunk-location"][0] == 4:
        try:
            os.close(os.open(path, os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            return chunk
        os.kill(os.getpid(), signal.SIGKILL)
    return chunk


@pytest.mark.more_in_sweeps
def test_results_after_the_loss_of_a_worker(tmp_path, sweeping):
    names = RUNS if sweeping else ["nanmedian"]
    assert len(RUNS) == 20
    options = {"n_workers": 2, "threads_per_worker": 1, "host": "127.0.0.1", "dashboard_address": ":0"}
    for name in names:
        values, call, expected = RUNS[name]
        x = da.from_array(values, chunks=(N // CHUNKS, *values.shape[1:]))
        lazy = call(x.map_blocks(fatal, tmp_path / name, dtype=x.dtype, meta=x._meta))
        with distributed.LocalCluster(**options, silence_logs=60) as cluster, distributed.Client(cluster) as client:
            found = client.compute(lazy).result(120)
        np.testing.assert_allclose(found, expected(values), rtol=1e-11, atol=1e-11, err_msg=name)
        assert (tmp_path / name).exists(), "a worker was killed"
