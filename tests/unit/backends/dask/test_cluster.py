"""A cluster of two processes: modes, pickles, and what strict and profile see."""

from contextlib import ExitStack

import numpy as np
import pytest

import xarrayops as xo
from tests.unit.ops.carried_tasks import BLOCKS, X, crosses, report
from tests.unit.ops.pickled_tasks import TASKS

da = pytest.importorskip("dask.array")
distributed = pytest.importorskip("distributed")
LIMIT = 120


@pytest.fixture(scope="module")
def client():
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, host="127.0.0.1", dashboard_address=":0", silence_logs=50
        ) as cluster,
        distributed.Client(cluster, timeout=LIMIT) as client,
    ):
        yield client


@pytest.mark.parametrize("name", BLOCKS)
def test_carried(client, name):
    for library in ("torch", "jax"):
        pytest.importorskip(library)
    outside = report(X)
    with ExitStack() as opened:
        for block in BLOCKS[name]():
            opened.enter_context(block)
        expected, task = report(X), xo.carried(report)
    assert client.submit(report, X, pure=False).result(LIMIT) == outside
    assert client.gather(client.map(task, [X] * 4, pure=False)) == [expected] * 4


def test_carried_blocks(client):
    x = da.from_array(np.concat([X] * 4), chunks=(1, 4096))
    with xo.precision(compute="float16"):
        task = xo.carried(lambda block: xo.matmul(block, block.T))
    assert x.map_blocks(task, chunks=(1, 1), dtype="float32").compute().tolist() == [[4096.0]] * 4


def test_workers_read_mapped_files(client, tmp_path):
    values = np.arange(4096.0)
    values.tofile(tmp_path / "values")
    x = xo.convert(np.memmap(tmp_path / "values", "float64", "r"), "dask").rechunk(1024)
    assert float(xo.compute(xo.sum(x))) == values.sum()


def test_strict_is_carried(client):
    torch = pytest.importorskip("torch")
    with xo.strict(waits=0):
        task = xo.carried(crosses)
    with pytest.raises(xo.CrossingError, match="allows waits=0"):
        client.submit(task, torch.ones(2)).result(LIMIT)


@pytest.mark.parametrize("name", TASKS)
def test_functions_of_ours_are_tasks(client, name):
    pytest.importorskip("torch")
    function, x = TASKS[name]()
    assert np.asarray(client.submit(function, x).result(LIMIT)).tolist() == np.asarray(function(x)).tolist()


def counted(function):
    with xo.profile(show=False) as p:
        function()
    return p.transfers, p.waits, p.computes


def test_what_crosses(client):
    x = da.ones(8, chunks=2)
    cases = {
        "compute": (lambda: xo.compute(xo.sum(x)), (0, 0, 1)),
        "persist": (lambda: xo.persist(x), (0, 0, 1)),
        "a method": (lambda: x.sum().compute(), (0, 0, 1)),
        "a number": (lambda: float(x.sum()), (0, 0, 1)),
        "convert": (lambda: xo.convert(x, "numpy"), (0, 0, 1)),
        "futures": (lambda: client.compute(x.sum()), (0, 0, 1)),
        "futures and values": (lambda: client.gather(client.compute(x.sum())), (1, 0, 1)),
        "persist of the client": (lambda: client.persist(x), (0, 0, 1)),
        "get": (lambda: client.get(dict(x.dask), x.__dask_keys__()), (0, 0, 1)),
        "threads": (lambda: x.compute(scheduler="threads"), (0, 0, 1)),
        "nothing": (lambda: xo.sum(x) + client.submit(sum, [1]).key.count("?"), (0, 0, 0)),
    }
    assert {name: counted(function) for name, (function, _) in cases.items()} == {
        name: expected for name, (_, expected) in cases.items()
    }


def test_strict_raises_before_the_cluster_computes(client):
    x = da.ones(8, chunks=2)
    with pytest.raises(xo.CrossingError, match=r"distributed\.Client\.get") as error, xo.strict(computes=0):
        xo.compute(xo.sum(x))
    assert __file__ in str(error.value)
    with pytest.raises(xo.CrossingError, match=r"distributed\.Client\.gather"), xo.strict(transfers=0, computes=None):
        client.gather(client.compute(x))


def test_methods_of_the_client_are_restored():
    before = dict(vars(distributed.Client))
    with xo.profile(show=False), xo.strict():
        assert distributed.Client.get is not before["get"]
    assert dict(vars(distributed.Client)) == before
