"""Arrays of several chunks: positions in C order, and chunks that no function changes."""

import numpy as np
import pytest

import xarrayops as xo

dask = pytest.importorskip("dask")
dask_array = pytest.importorskip("dask.array")
X = np.asarray([[0, 1, 7, 2], [7, 3, 1, 0], [2, 7, 0, 3]])


@pytest.mark.parametrize("verb", ["argmax", "argmin"])
@pytest.mark.parametrize("keepdims", [False, True])
def test_the_first_position_is_in_c_order(verb, keepdims):
    x = dask_array.from_array(X, chunks=(2, 2))
    found = getattr(xo, verb)(x, keepdims=keepdims).compute()
    np.testing.assert_array_equal(found, getattr(np, verb)(X, keepdims=keepdims))


def test_distinct_values_have_the_index_of_the_first_in_c_order():
    found = xo.unique_all(dask_array.from_array(X, chunks=(2, 2)))
    wanted = np.unique_all(X)
    for name in ("values", "indices", "inverse_indices", "counts"):
        np.testing.assert_array_equal(getattr(found, name).compute(), getattr(wanted, name), err_msg=name)


@pytest.mark.parametrize("verb", ["abs", "expm1", "log1p", "sign", "square", "negative", "exp", "tanh"])
@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_the_argument_keeps_its_values(verb, dtype):
    """The argument and the result are computed together, so that a write into a chunk shows in the argument."""
    values = np.asarray([0.5, 2.0, 1.0, 0.25]).astype(dtype) * (1 if dtype == "float64" else 1 + 1j)
    x = dask_array.from_array(values, chunks=2) + 0
    argument, _ = dask.compute(x, getattr(xo, verb)(x))
    np.testing.assert_array_equal(argument, values)


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "int64", "float32"])
def test_clip_of_every_kind_of_number(dtype):
    values = np.asarray([0, 5, 9, 3], dtype)
    x = dask_array.from_array(values, chunks=2)
    for bounds in ((1, 4), (None, 4), (1, None)):
        np.testing.assert_array_equal(xo.clip(x, *bounds).compute(), np.clip(values, *bounds), strict=True)


@pytest.mark.parametrize("verb", ["eig", "eigh"])
def test_the_results_of_eigenvalues_have_numpys_class_names(verb):
    x = dask_array.from_array(np.eye(2), chunks=1)
    assert type(getattr(xo.linalg, verb)(x)).__name__ == type(getattr(np.linalg, verb)(np.eye(2))).__name__
