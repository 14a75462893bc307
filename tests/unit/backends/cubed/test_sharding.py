"""`xo.shard` and `xo.sharding_of` on cubed: chunks, the Spec, and stores that are read by chunk."""

import numpy as np
import pytest

import xarrayops as xo

cubed = pytest.importorskip("cubed")
zarr = pytest.importorskip("zarr")
X = np.arange(800.0).reshape(100, 8)
ROWS = ("rows", None)


class Recorder:
    """A store that records what is read."""

    shape, dtype = X.shape, X.dtype

    def __init__(self):
        self.read = []

    def __getitem__(self, index):
        self.read.append(index)
        return X[index]


def sources(tmp_path):
    np.save(tmp_path / "x.npy", X)
    mapped = np.load(tmp_path / "x.npy", mmap_mode="r")
    stored = zarr.create_array(tmp_path / "x.zarr", shape=X.shape, dtype=X.dtype, chunks=(25, 8))
    stored[:] = X
    return {"ndarray": X, "memmap": mapped, "view of a memmap": mapped[:49:-2, 1:], "zarr": stored}


@pytest.mark.parametrize("kind", ["ndarray", "memmap", "view of a memmap", "zarr"])
def test_sources(tmp_path, kind):
    source = sources(tmp_path)[kind]
    x = xo.shard(source, ROWS, mesh={"rows": 4}, backend="cubed")
    rows, columns = -(-source.shape[0] // 4), source.shape[1]
    of_one = (source.shape, (rows, columns), 8 * rows * columns, 4, False, True)
    assert xo.sharding_of(x) == ("cubed", {"axis0": 4}, ("axis0", None), *of_one)
    wanted = X[:49:-2, 1:] if kind == "view of a memmap" else X
    np.testing.assert_array_equal(xo.compute(x), wanted)
    np.testing.assert_allclose(xo.compute(xo.mean(x, axis=0)), wanted.mean(0))


def test_stores_are_read_by_chunk():
    store = Recorder()
    x = xo.shard(store, ROWS, mesh={"rows": 4}, backend="cubed")
    assert store.read == []
    np.testing.assert_array_equal(xo.compute(x), X)
    assert sorted(index[0].start for index in store.read) == [0, 25, 50, 75]


def test_a_mapped_file_is_opened_by_each_task(tmp_path):
    """The plan has its path, and none of its elements."""
    np.save(tmp_path / "x.npy", X)
    x = xo.shard(np.load(tmp_path / "x.npy", mmap_mode="r"), ROWS, mesh={"rows": 4}, backend="cubed")
    np.save(tmp_path / "x.npy", X + 1)
    np.testing.assert_array_equal(xo.compute(x), X + 1)


def test_a_later_change_of_the_array_does_not_change_the_plan():
    a = X.copy()
    x = xo.shard(a, ROWS, mesh={"rows": 4}, backend="cubed")
    a[:] = 0
    np.testing.assert_array_equal(xo.compute(x), X)


def test_chunks_of_one_length_and_the_spec_of_an_array():
    like = cubed.from_array(X, chunks=(10, 8), spec=cubed.Spec(allowed_mem="50MB"))
    x = xo.shard(X, ("axis0",), like=like)
    assert x.chunks == like.chunks
    assert x.spec is like.spec
    assert xo.shard(x, ROWS, mesh={"rows": 3}).chunks == ((34, 34, 32), (8,))
    assert xo.shard(x, None).chunks == ((100,), (8,))
    assert xo.shard(X[:10], ROWS, mesh={"rows": 6}, backend="cubed").chunks[0] == (2,) * 5


def test_explain_quotes_the_projection_and_not_a_rule():
    (candidate,) = xo.explain("sort", xo.shard(X, ROWS, mesh={"rows": 4}, backend="cubed"), axis=0).candidates
    assert "cubed projects" in candidate.reason
    assert candidate.holds is None


def test_dtypes_that_cubed_lacks_are_refused():
    with pytest.raises(xo.Unsupported, match="float16"):
        xo.shard(X.astype("float16"), ROWS, mesh={"rows": 4}, backend="cubed")
