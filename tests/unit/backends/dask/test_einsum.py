"""Products of several arrays: the values of NumPy, by products of two."""

import dask.array as da
import numpy as np
import pytest

import xarrayops as xo

SHAPES = {"a": (6, 8), "b": (8, 9), "c": (9, 7), "v": (6,), "s": (6, 6)}


@pytest.mark.parametrize(
    ("subscripts", "names"),
    [
        ("ij,jk,kl->il", "abc"),
        ("ij,jk,kl", "abc"),
        ("ij,jk,kl->", "abc"),
        ("i,ij,i->j", "vav"),
        ("i,j,k->kji", "vvv"),
        ("ii,i,ij->ij", "sva"),
        ("ij, jk ,kl,i-> li", "abcv"),
        ("...j,jk,kl->...l", "abc"),
    ],
)
def test_values(subscripts, names):
    random = np.random.default_rng(0)
    arrays = [random.standard_normal(SHAPES[name]) for name in names]
    operands = [da.from_array(x, chunks=tuple(-(-n // 3) for n in x.shape)) for x in arrays]
    found = xo.einsum(subscripts, *operands)
    np.testing.assert_allclose(found.compute(), np.einsum(subscripts, *arrays), rtol=1e-11)


@pytest.mark.parametrize(
    ("values", "dtypes"),
    [
        ((2**40, 2**40, 1), ("int64", "int64", "float64")),
        ((1e30, 1e30, 1), ("float32", "float32", "float64")),
        ((1, 1, 1), ("bool", "bool", "int64")),
        ((100, 2, 1), ("int8", "int8", "int64")),
    ],
)
def test_operands_are_promoted_before_the_products(values, dtypes):
    arrays = [np.full((2, 2), value, dtype) for value, dtype in zip(values, dtypes, strict=True)]
    found = xo.einsum("ij,jk,kl->il", *map(da.from_array, arrays))
    np.testing.assert_allclose(found.compute(), np.einsum("ij,jk,kl->il", *arrays), rtol=1e-14)


def test_unknown_sizes():
    x = da.from_array(np.arange(6.0).reshape(3, 2), chunks=(1, 2))
    ones = da.ones((2, 2))
    found = xo.einsum("ij,jk,kl->il", x[x[:, 0] >= 2], ones, ones)
    np.testing.assert_array_equal(found.compute(), [[10, 10], [18, 18]])


def test_three_matrices_take_the_tasks_of_two_products():
    x = da.ones((100, 100), chunks=25)
    assert len(dict(xo.einsum("ij,jk,kl->il", x, x, x).__dask_graph__())) <= len(dict((x @ x @ x).__dask_graph__()))
