"""`xo.shard` and `xo.sharding_of` on NumPy and Dask, and stores that are not read."""

import pickle

import numpy as np
import pytest

import xarrayops as xo

da = pytest.importorskip("dask.array")
X = np.arange(800, dtype="float32").reshape(100, 8)


class Recorder:
    """A store that records what is read."""

    shape, dtype = X.shape, X.dtype

    def __init__(self):
        self.read = []

    def __getitem__(self, index):
        self.read.append(index)
        return X[index]


def test_chunks():
    x = xo.shard(X, ("rows", None), mesh={"rows": 8}, backend="dask")
    assert x.chunks == ((13,) * 4 + (12,) * 4, (8,))
    found = xo.sharding_of(x)
    assert found == ("dask", {"axis0": 8}, ("axis0", None), (100, 8), (13, 8), 13 * 8 * 4, 8, False, True, False)
    assert xo.sharding_of(xo.shard(da.ones((100, 8)), found.spec, mesh=found.mesh)) == found._replace(shard_bytes=832)
    assert xo.shard(X, ("axis0",), like=x).chunks == x.chunks
    assert xo.shard(x, None).chunks == ((100,), (8,))
    assert xo.shard(x, (None, ("a", "b")), mesh={"a": 2, "b": 2}).chunks == ((100,), (2,) * 4)
    assert xo.shard(x, ("rows",), mesh={"rows": 1000}).chunks[0] == (1,) * 100
    assert np.array_equal(xo.compute(x), X)


def test_an_array_that_is_not_split():
    assert xo.sharding_of(X) == (None, None, None, (100, 8), (100, 8), 3200, 1, False, True, False)
    assert xo.shard(X, None) is X
    assert xo.sharding_of(da.ones(5)[da.ones(5) > 0]).shard_bytes is None


def test_a_copy_of_a_numpy_array():
    source = X.copy()
    x = xo.shard(source, ("rows",), mesh={"rows": 2}, backend="dask")
    source[:] = 0
    assert np.array_equal(xo.compute(x), X)
    big = xo.shard(X.astype(">f4"), ("rows",), mesh={"rows": 2}, backend="dask")
    assert big.dtype == np.dtype("=f4")
    assert np.array_equal(xo.compute(big), X)


def test_a_store_is_read_by_chunk():
    store = Recorder()
    x = xo.shard(store, ("rows", None), mesh={"rows": 4}, backend="dask")
    assert store.read == []
    assert np.array_equal(xo.compute(x[:25]), X[:25])
    assert [index[0] for index in store.read] == [slice(0, 25, None)]


@pytest.mark.parametrize("view", [np.s_[:], np.s_[10:60], np.s_[::-3, 1:], np.s_[5:, ::2]])
def test_a_memmap_is_opened_again_by_a_pickle(tmp_path, view):
    np.save(tmp_path / "x.npy", X)
    source = np.load(tmp_path / "x.npy", mmap_mode="r")[view]
    x = xo.shard(source, ("rows",), mesh={"rows": 3}, backend="dask")
    pickled = pickle.dumps(x)
    assert len(pickled) < X.nbytes
    assert np.array_equal(xo.compute(pickle.loads(pickled)), X[view])


@pytest.mark.parametrize("module", ["h5py", "zarr", "tensorstore"])
def test_libraries_of_stores(tmp_path, module):
    library = pytest.importorskip(module)
    if module == "h5py":
        with library.File(tmp_path / "x.h5", "w") as file:
            file["x"] = X
        store = library.File(tmp_path / "x.h5", "r")["x"]
    elif module == "zarr":
        store = library.open(str(tmp_path / "x.zarr"), mode="w", shape=X.shape, dtype=X.dtype, chunks=(10, 8))
        store[:] = X
    else:
        store = library.array(X)
    x = xo.shard(store, ("rows",), mesh={"rows": 4}, backend="dask")
    assert x.dtype == X.dtype
    assert np.array_equal(xo.compute(x), X)
    if module != "tensorstore":  # its array is in memory
        assert np.array_equal(xo.compute(pickle.loads(pickle.dumps(x))), X)


def test_wrong_arguments():
    x, mesh = da.ones((4, 2)), {"rows": 2}
    for error, words, call in (
        (ValueError, "has 3 entries, but x has 2 axes", lambda: xo.shard(x, ("rows", None, None), mesh=mesh)),
        (ValueError, "no axis 'columns'; its axes are rows", lambda: xo.shard(x, ("columns",), mesh=mesh)),
        (ValueError, "twice", lambda: xo.shard(x, ("rows", "rows"), mesh=mesh)),
        (ValueError, "needs mesh=", lambda: xo.shard(x, ("rows",))),
        (ValueError, "positive integers, not {'rows': 2.5}", lambda: xo.shard(x, ("rows",), mesh={"rows": 2.5})),
        (ValueError, "positive integers, not {'rows': 0}", lambda: xo.shard(x, ("rows",), mesh={"rows": 0})),
        (ValueError, "not both", lambda: xo.shard(x, ("rows",), mesh=mesh, like=x)),
        (xo.Unsupported, 'backend="dask" or backend="jax"', lambda: xo.shard(X, ("rows",), mesh=mesh)),
        (xo.Unsupported, "mask", lambda: xo.shard(np.ma.ones(4), ("rows",), mesh=mesh, backend="dask")),
        (xo.Unsupported, "sizes", lambda: xo.shard(x[x > 0], ("rows",), mesh=mesh)),
        (TypeError, "not an array", lambda: xo.shard([1.0], ("rows",), mesh=mesh, backend="dask")),
        (TypeError, "not an array", lambda: xo.sharding_of([1.0])),
    ):
        with pytest.raises(error, match=words):
            call()


def test_an_array_of_another_library():
    torch = pytest.importorskip("torch")
    with pytest.raises(xo.Unsupported, match=r'xo\.convert\(x, "dask"\)'):
        xo.shard(torch.ones(4), ("rows",), mesh={"rows": 2}, backend="dask")
