"""Half types of ml_dtypes in functions of Dask that make a number of a dtype."""

import numpy as np
import pytest

import xarrayops as xo

da = pytest.importorskip("dask.array")
ml_dtypes = pytest.importorskip("ml_dtypes")


@pytest.mark.parametrize("dtype", [ml_dtypes.bfloat16, np.float16, np.float32])
def test_outer_products(dtype):
    x, y = np.asarray([1, 2, 3], dtype), np.asarray([4, 5], dtype)
    found = xo.linalg.outer(da.from_array(x, chunks=2), da.from_array(y))
    assert found.dtype == dtype
    np.testing.assert_array_equal(found.compute(), np.outer(x.astype("float32"), y.astype("float32")).astype(dtype))
