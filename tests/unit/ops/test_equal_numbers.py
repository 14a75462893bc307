"""Products and norms of many equal numbers, whose rounding errors do not cancel, keep the law of accumulation."""

import numpy as np
import pytest

import xarrayops as xo


@pytest.mark.parametrize("dtype", ["float32", "complex64"])
@pytest.mark.parametrize("count", [33, 300, 4096, 9000, 12288, 12289, 70000])
def test_products_of_equal_numbers(library, dtype, count):
    """In memory of each order: BLAS adds strided products in one or two sums."""
    line, rows = library.array(np.full(2 * count, 0.1, dtype)), library.array(np.full((count, 4), 0.1, dtype))
    exact = float(np.float32(0.1)) ** 2 * count
    half = line[:count]
    for x, axis in (
        (half, -1),
        (xo.flip(half), -1),
        (line[::2], 0),
        (xo.broadcast_to(line[:1], (count,)), 0),
        (rows, 0),
    ):
        real = xo.real(x)
        found = [xo.vecdot(x, x, axis=axis), *(xo.linalg.vector_norm(y, axis=axis) ** 2 for y in (real, real + 0))]
        found += [xo.linalg.norm(real) ** 2] * (x.ndim == 1)
        for got in map(library.host, found):
            assert np.abs(got - exact).max() <= 4 * np.finfo(np.float32).eps * np.log2(count) * exact


@pytest.mark.parametrize("count", [500, 3001])
@pytest.mark.parametrize("value", [7777.0, 12345.678, 32767.0])
def test_convolutions_of_equal_numbers(library, value, count):
    """They had up to 8 times the allowed error on JAX, and up to 3 times on PyTorch."""
    count, length = (100, 150) if library.name == "dask" else (count, 3001)  # Dask makes a task for each tap
    x, taps = np.full(count, value, "float32"), np.full(length, 2.0**-11, "float32")
    exact = np.convolve(x.astype("float64"), taps)
    bound = 4 * np.finfo(np.float32).eps * np.log2(count) * exact
    for found in (xo.convolve(*map(library.array, (x, taps))), xo.correlate(*map(library.array, (x, taps)), "full")):
        assert np.all(np.abs(library.host(found) - exact) <= bound)
