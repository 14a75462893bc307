"""`xo.limits` refuses calls before anything runs, with the bytes, the limit, and advice that works."""

import re
import sys
from types import SimpleNamespace

import numpy as np
import pytest

import xarrayops as xo

da = pytest.importorskip("dask.array")


def read_never(block):
    raise AssertionError("a chunk is computed")


X = da.ones((1000, 100), chunks=(100, 100)).map_blocks(read_never, dtype="float64", meta=np.empty((0, 0)))


def test_a_call_beyond_the_limit_raises_before_anything_runs():
    with xo.limits(holds="1 MB"):
        with pytest.raises(xo.Unsupported, match=r"xo\.sort: it would hold 1\.6 MB in one task \(limit 1\.0 MB\)"):
            xo.sort(X, axis=0)
        xo.sort(X, axis=1)
        xo.add(X, X)
        xo.sort(np.ones((1000, 200)), axis=0)
    with xo.limits(moves=799_999), pytest.raises(xo.Unsupported, match=r"it would move 800 kB in one task"):
        xo.median(X)
    with xo.limits(moves=800_000):
        xo.median(X)
    xo.sort(X, axis=0)


@pytest.mark.parametrize(
    ("verb", "options"),
    [("sort", {"axis": 0}), ("quantile", {"q": 0.3, "axis": 0}), ("topk", {"k": 3, "axis": 0}), ("sort", {"axis": 1})],
)
def test_the_advice_works(verb, options):
    limit = 100_000
    with xo.limits(holds=limit):
        with pytest.raises(xo.Unsupported, match=r"Instead: xo\.shard") as refused:
            getattr(xo, verb)(X, **options)
        advice = re.search(r"xo\.shard\(.*?\}\)", str(refused.value))
        better = eval(advice[0], {"xo": xo, "x": X})
        getattr(xo, verb)(better, **options)
    allowed = re.search(r'holds="([^"]+)"', str(refused.value))
    with xo.limits(holds=allowed[1]):
        getattr(xo, verb)(X, **options)


def test_no_advice_splits_a_sequence_of_arrays():
    with xo.limits(holds=1000), pytest.raises(xo.Unsupported, match=r"Instead: with xo\.limits\(holds="):
        xo.stack([X, X])


def test_a_call_that_no_split_helps():
    with xo.limits(holds="1 MB"), pytest.raises(xo.Unsupported, match=r"Instead: with xo\.limits\(holds=") as refused:
        xo.median(X)
    assert "xo.shard" not in str(refused.value)


@pytest.mark.parametrize(
    "call",
    [
        lambda: xo.broadcast_to(X[0], (10**12, 100)),
        lambda: xo.unique_values(da.zeros(10**14, chunks=10**13)),
        lambda: xo.reshape(da.zeros((10**7, 10**7), chunks=10**6), (-1,)),
    ],
)
def test_most_calls_need_less_than_an_upper_bound(call):
    """Broadcasting repeats no elements in memory, few values may be distinct: only an open block limits them."""
    call()
    with xo.limits(holds="1 MB"), pytest.raises(xo.Unsupported, match="it would hold"):
        call()


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda x: xo.matmul(x.T, x), "matmul"),
        (lambda x: xo.at(x)[3:].set(0.0), "at"),
        (lambda x: xo.at(x)[x > 0].set(0.0), "at"),
        (lambda x: xo.at(x)[[3, 2]].add(1.0), "at"),
        (lambda x: xo.at(x)[[3, 2]].get(), "at"),
        (lambda x: xo.flip(x), "flip"),
        (lambda x: xo.attention(x[None, None], x[None, None], x[None, None]), "attention"),
    ],
)
def test_functions_of_chunks_are_limited(call, name):
    """Nothing is read: the results are made, and their chunks say what a task holds."""
    with xo.limits(holds="20 kB"), pytest.raises(xo.Unsupported, match=rf"xo\.{name}: it would hold .* in one task"):
        call(X)
    with xo.limits(holds="2 MB"):
        call(X)


ROW = da.zeros(10**6, chunks=10**6)


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda: xo.linalg.outer(ROW, ROW), "outer"),
        (lambda: xo.diag(ROW), "diag"),
        (lambda: xo.one_hot(xo.astype(ROW, "int64"), 10**8), "one_hot"),
        (lambda: xo.matmul(ROW[:, None], ROW[None]), "matmul"),
        (lambda: xo.tensordot(ROW, ROW, axes=0), "tensordot"),
    ],
)
def test_small_arguments_with_large_results_are_refused(call, name):
    with pytest.raises(xo.Unsupported, match=rf"xo\.(linalg\.)?{name}: it would hold .* in one task"):
        call()


def test_updates_at_several_arrays_hold_the_whole_array():
    index = (np.array([3, 2]), np.array([1, 0]))
    with xo.limits(holds="2 MB"), pytest.raises(xo.Unsupported, match=r"xo\.at: it would hold 3\.2 MB"):
        xo.at(X)[tuple(map(da.asarray, index))].add(1.0)


def test_indices_with_many_elements_are_refused():
    x, index = da.zeros((8, 8), chunks=(4, 8), dtype="int8"), da.zeros(10**5, chunks=1000, dtype="int64")
    with xo.limits(holds="1 MB"):
        for call in (lambda at: at.add(1), lambda at: at.set(1), lambda at: at.get()):
            with pytest.raises(xo.Unsupported, match=r"xo\.at: it would hold .* in one task"):
                call(xo.at(x)[index, index])


def test_inner_blocks():
    """An inner block keeps the limits that it does not set."""
    with xo.limits(holds="1 MB"):
        with xo.limits(moves="1 GB"), pytest.raises(xo.Unsupported, match="hold"):
            xo.median(X)
        with xo.limits(holds=float("inf")):
            xo.median(X)


@pytest.mark.parametrize(
    ("text", "nbytes"), [("64 MB", 64e6), ("1GiB", 2**30), ("0.5 kB", 500), ("12", 12), ("3 bytes", 3), ("2 Ti", 2**41)]
)
def test_texts(text, nbytes):
    ((_, value, _),) = xo.limits(holds=text).settings()
    assert value == nbytes


@pytest.mark.parametrize("text", ["", "MB", "1 PB", "-1 MB", "1e9", "1 M B"])
def test_wrong_texts(text):
    with pytest.raises(ValueError, match="is not a number of bytes"):
        xo.limits(moves=text)


def test_the_default_is_half_of_the_memory(monkeypatch):
    from xarrayops_backends.dask import _sharding

    monkeypatch.setattr(_sharding, "_host_memory", lambda: 3_000_000)
    with pytest.raises(xo.Unsupported, match=r"hold 1\.6 MB in one task \(limit 1\.5 MB\)"):
        xo.sort(X, axis=0)


class Client:
    """A client of a cluster of two workers that counts the questions to its scheduler."""

    def __init__(self):
        self.workers = {
            "a": {"memory_limit": 8_000_000, "nthreads": 4},
            "b": {"memory_limit": 9_000_000, "nthreads": 2},
        }
        self.questions = 0

    def scheduler_info(self, n_workers):
        assert n_workers == -1, "the answer must have all workers"
        self.questions += 1
        return {"workers": self.workers}


def test_the_limit_of_a_cluster_is_asked_once_in_some_seconds(monkeypatch):
    from xarrayops_backends.dask import _sharding

    client, now = Client(), [0.0]
    monkeypatch.setitem(sys.modules, "distributed", SimpleNamespace(default_client=lambda: client))
    monkeypatch.setattr(_sharding, "time", SimpleNamespace(monotonic=lambda: now[0]))
    for _ in range(3):
        with pytest.raises(xo.Unsupported, match=r"hold 1\.6 MB in one task \(limit 1\.0 MB\)"):
            xo.sort(X, axis=0)
    assert client.questions == 1
    client.workers["a"]["memory_limit"] = 0  # no limit
    now[0] = 6.0
    for _ in range(3):
        xo.sort(X, axis=0)
    assert client.questions == 2
    client.workers, now[0] = {}, 12.0  # they have not started
    xo.sort(X, axis=0)
    client = Client()
    with pytest.raises(xo.Unsupported, match=r"limit 1\.0 MB"):
        xo.sort(X, axis=0)
    assert client.questions == 1


def test_explain_of_a_refused_call():
    with xo.limits(holds="1 MB"):
        found = xo.explain("sort", X, axis=0)
    assert found.chosen is None
    (candidate,) = found.candidates
    assert (candidate.moves, candidate.holds) == (800_000, 1_600_000)
    assert "limit 1.0 MB" in candidate.reason


def test_the_table_of_explain():
    text = str(xo.explain("sort", X, axis=0)).splitlines()
    assert text[1].split() == ["candidate", "can", "moves", "holds", "result", "why"]
    assert "800 kB  1.6 MB  (axis0, None)" in text[2]
    assert text[2].endswith("gathers 800 kB in one task")
    assert str(xo.explain("sort", np.ones(3))).splitlines()[1].split() == ["candidate", "can", "why"]
    unknown = xo.explain("sort", X[:, 0][X[:, 0] > 0]).candidates[0]
    assert (unknown.moves, unknown.holds, unknown.sharding) == (None, None, None)


def test_explain_of_a_conversion():
    found = xo.explain("convert", X, "numpy")
    (candidate,) = found.candidates
    assert (candidate.moves, candidate.holds, candidate.sharding) == (800_000, 1_600_000, "whole")
    assert "gathers 10 shards on the host" in candidate.reason
