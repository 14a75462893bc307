"""Mapped files become Dask arrays without being read, by `xo.convert` and by the wrapper of stores."""

import os
import pickle
import subprocess
import sys

import numpy as np
import pytest

import xarrayops as xo

da = pytest.importorskip("dask.array")
stores = pytest.importorskip("xarrayops_backends.dask._stores")
SHAPE = (60, 7)
VALUES = np.arange(420, dtype="float32").reshape(SHAPE)
MEMORY = """
import sys
import numpy as np, xarrayops as xo
from pathlib import Path

def resident():
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096

small = np.memmap(sys.argv[1], "float64", "r", shape=(3,))
assert xo.explain("convert", small, "dask").nbytes == 0
xo.compute(xo.convert(small, "dask"))
mapped = np.memmap(sys.argv[1], "float64", "r", shape=(5000, 10_000))
before = resident()
x = xo.convert(mapped, "dask")
converted = resident() - before
total = float(xo.sum(x[:, 1]))
print(converted, resident() - before, total)
"""


@pytest.fixture(params=["<f4", ">f4"])
def path(request, tmp_path):
    VALUES.astype(request.param).tofile(tmp_path / "values")
    return tmp_path / "values", request.param


VIEWS = {
    "all": lambda a: a,
    "rows": lambda a: a[10:50:3],
    "backwards": lambda a: a[::-1, ::-2],
    "transposed": lambda a: a.T,
    "reshaped": lambda a: a.reshape(3, 20, 7)[1:],
    "one row": lambda a: a[5],
    "one value": lambda a: a[5, 3:4].reshape(()),
    "broadcast": lambda a: np.broadcast_to(a[2], (4, 7)),
    "none": lambda a: a[:0],
    "asarray": np.asarray,
}


@pytest.mark.parametrize("view", VIEWS)
def test_values(path, view):
    file, dtype = path
    mapped = np.memmap(file, dtype, "r", shape=SHAPE)
    given, expected = VIEWS[view](mapped), VIEWS[view](VALUES)
    assert xo.explain("convert", given, "dask").action == "zero-copy"
    x = xo.convert(given, "dask")
    assert (x.dtype, x.shape, type(x._meta)) == (np.float32, expected.shape, np.ndarray)
    for each in (x, pickle.loads(pickle.dumps(x)), x.rechunk(2) if x.ndim == 1 else x):
        np.testing.assert_array_equal(xo.compute(each), expected)
    np.testing.assert_array_equal(stores.from_store(given, chunks=3).compute(), expected)
    assert str(file).encode() in pickle.dumps(stores.Store(given))


def test_a_header_and_saved_arrays(tmp_path):
    np.save(tmp_path / "saved.npy", VALUES)
    mapped = np.load(tmp_path / "saved.npy", mmap_mode="r")
    assert mapped.offset > 0
    x = xo.convert(mapped[3:], "dask")
    np.testing.assert_array_equal(xo.compute(x), VALUES[3:])
    assert len(pickle.dumps(x)) < VALUES.nbytes + 1000 < len(pickle.dumps(xo.convert(VALUES, "dask"))) + 1000


def test_what_explain_says(path):
    file, dtype = path
    mapped = np.memmap(file, dtype, "r+", shape=SHAPE)
    found = xo.explain("convert", mapped, "dask")
    assert (found.nbytes, found.reason) == (0, f"the values are read from {file} when they are computed")
    x, copied = xo.convert(mapped, "dask", copy=False), xo.convert(mapped, "dask", copy=True)
    mapped[0, 0] = 7
    assert [float(each[0, 0]) for each in (x, copied)] == [7.0, 0.0]


@pytest.mark.parametrize("kind", ["changed in memory", "computed", "array", "removed"])
def test_other_memory_is_copied(path, kind):
    file, dtype = path
    mapped = np.memmap(file, dtype, "c", shape=SHAPE)
    if kind == "changed in memory":
        mapped[0, 0], given = 5, mapped
    elif kind == "removed":
        given = np.memmap(file, dtype, "r", shape=SHAPE)
        os.remove(file)
    else:
        given = mapped + 1 if kind == "computed" else np.array(mapped)
    assert xo.explain("convert", given, "dask").action == "copy"
    np.testing.assert_array_equal(xo.compute(xo.convert(given, "dask")), np.array(given))


@pytest.mark.skipif(sys.platform != "linux", reason="it reads /proc")
def test_memory_of_a_large_file(tmp_path):
    file = tmp_path / "large"
    with file.open("wb") as opened:
        opened.truncate(400_000_000)  # zeros that take no space
    done = subprocess.run([sys.executable, "-c", MEMORY, str(file)], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    converted, computed, total = map(float, done.stdout.split())
    assert converted <= 1e6
    assert computed <= 3e8, "two chunks of at most 128 MB"
    assert total == 0


class Opened:
    """What zarr and h5py give: a shape, a dtype and slices."""

    shape, dtype = SHAPE, VALUES.dtype

    def __init__(self):
        self.taken = []

    def __getitem__(self, index):
        self.taken.append(index)
        return VALUES[index].tolist()


def test_stores():
    store = Opened()
    x = stores.from_store(store, chunks=(20, 7))
    assert not store.taken
    np.testing.assert_array_equal(xo.compute(xo.add(x, 1)), VALUES + 1)
    assert sorted(store.taken) == [(slice(i, i + 20, None), slice(0, 7, None)) for i in (0, 20, 40)]
