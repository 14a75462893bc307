"""xo.at(x)[i].assign: NumPy's assignments on every library; ranges as indices."""

import numpy as np
import pytest

import xarrayops as xo

LIBRARIES = ("numpy", "torch", "jax", "dask")


def array(library, values, **options):
    pytest.importorskip(library)
    return xo.asarray(values, backend=library, **options)


def host(x):
    return np.asarray(xo.compute(x))


ASSIGNED = (
    1.7,
    True,
    2,
    None,
    "1.5",
    [1.1, 2.5, 3.5],
    ["1", "2.0", 3],
    [None, 1, "nan"],
    (1, 0, 1),
    range(3),
    np.float64(2.7),
    np.int64(1),
    [True, 2.5, 1],
)


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("dtype", ["int32", "uint8", "bool", "float32", "complex64"])
def test_assign_casts_as_numpy_does(library, dtype):
    for value in ASSIGNED:
        wanted = np.asarray([0, 1, 0], dtype)
        try:
            wanted[:] = value
        except (TypeError, ValueError) as error:
            with pytest.raises((type(error), TypeError, ValueError)):
                xo.at(array(library, [0, 1, 0], dtype=dtype))[:].assign(value)
            continue
        found = xo.at(array(library, [0, 1, 0], dtype=dtype))[:].assign(value)
        assert host(found).dtype == wanted.dtype
        assert np.array_equal(host(found), wanted, equal_nan=dtype in ("float32", "complex64")), (value, dtype)


@pytest.mark.parametrize("library", LIBRARIES)
def test_assign_takes_arrays_of_its_library_only(library):
    x, value = array(library, [1, 2, 3]), array(library, [1.5, 2.5])
    assert host(xo.at(x)[1:].assign(value)).tolist() == [1, 1, 2]
    other = array("torch" if library != "torch" else "numpy", [1.5, 2.5])
    with pytest.raises(xo.MixedBackends):
        xo.at(x)[1:].assign(other)


def test_assign_to_what_is_no_array():
    listed, text, masked = [1, 2], np.asarray(["a", "b"]), np.ma.array([1.0, 2.0], mask=[0, 1])
    assert xo.at(listed)[0].assign("x") is listed
    assert listed == ["x", 2]
    assert xo.at(text)[1].assign("c").tolist() == ["a", "c"]
    assert xo.at(masked)[1].assign(5.0).tolist() == [1, 5]


@pytest.mark.parametrize("library", LIBRARIES)
def test_ranges_are_indices(library):
    x = array(library, np.arange(12).reshape(4, 3).tolist())
    assert host(xo.at(x)[range(1, 3)].set(0))[:, 0].tolist() == [0, 0, 0, 9]
    assert host(xo.at(x)[range(0, 4, 2), 1].get()).tolist() == [1, 7]


@pytest.mark.parametrize("library", LIBRARIES)
def test_assign_takes_each_number_of_a_list_by_itself(library):
    x = array(library, [0, 0], dtype="int32")
    assert host(xo.at(x)[:].assign([16777217.5, 1])).tolist() == [16777217, 1]
    for value in (b"12", {1: 2}, {1, 2}, iter([1, 2])):
        with pytest.raises(TypeError, match="assign takes"):
            xo.at(x)[:].assign(value)
    assert host(xo.at(array(library, [0, 0], dtype="uint8"))[:].assign(np.int64(300))).tolist() == [44, 44]
