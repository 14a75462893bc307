"""The error of sums of narrow dtypes: at most 4 eps log2(n) times the sum of the absolute values, on every library."""

import math

import numpy as np
import pytest

import xarrayops as xo

LIBRARIES = ("numpy", "torch", "jax", "dask")
COUNT = 10_000_000
EPS = {"float16": 2.0**-10, "bfloat16": 2.0**-7, "float32": 2.0**-23, "complex64": 2.0**-23}


TINY = {"float16": 2.0**-24}
"""The least number of a dtype, by which a result below the normal numbers may be wrong."""


@pytest.fixture(params=LIBRARIES)
def library(request):
    pytest.importorskip({"dask": "dask.array"}.get(request.param, request.param))
    return request.param


def host(x):
    """The values in double precision."""
    x = xo.convert(xo.compute(x), "numpy")
    return x.astype("complex128" if x.dtype.kind == "c" else "float64")


def require_close(got, want, magnitude, count, dtype, absolute=0.0):
    bound = 4 * EPS[dtype] * math.log2(max(2, count)) * magnitude + absolute + TINY.get(dtype, 0.0)
    assert got.shape == want.shape
    assert np.all(np.abs(got - want) <= bound), np.max(np.abs(got - want) / np.maximum(bound, 1e-300))


@pytest.mark.parametrize("shape", [(COUNT,), (COUNT // 4, 4)], ids=["vector", "rows"])
@pytest.mark.parametrize("values", ["equal", "decreasing"])
@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_ten_million_values(library, dtype, values, shape):
    """The errors of equal values add up in sequential sums; small values are lost in a large sum."""
    x = np.full(COUNT, 0.1) if values == "equal" else 0.1 + 1 / np.arange(1.0, COUNT + 1)
    if dtype == "float16":
        x *= 30_000 / np.sum(x)  # the greatest number is 65504
    x = x.reshape(shape).astype(dtype)
    exact = x.astype("float64")
    x = xo.asarray(x, backend=library)
    magnitude, count = np.sum(exact, axis=0), shape[0]
    require_close(host(xo.sum(x, axis=0)), magnitude, magnitude, count, dtype)
    require_close(host(xo.mean(x, axis=0)), magnitude / count, magnitude / count, count, dtype)
    variance = np.var(exact, axis=0)
    error_of_mean = 4 * EPS[dtype] * math.log2(count) * magnitude / count
    require_close(host(xo.var(x, axis=0)), variance, variance, count, dtype, error_of_mean**2)
    cumulative = np.cumsum(exact, axis=0)
    require_close(host(xo.cumulative_sum(x, axis=0)), cumulative, cumulative, count, dtype)


def strided(x, rng):
    """A view of x with permuted axes, negative strides and steps."""
    x = x.transpose(rng.permutation(x.ndim))
    return x[tuple(slice(None, None, int(rng.choice([1, -1, 2]))) for _ in range(x.ndim))]


@pytest.mark.parametrize("backend", ["numpy", "dask"])
@pytest.mark.parametrize("dtype", ["float32", "float16", "complex64"])
def test_axes_and_strides(backend, dtype):
    pytest.importorskip({"dask": "dask.array"}.get(backend, backend))
    rng = np.random.default_rng(1)
    for _ in range(300 if backend == "numpy" else 30):
        x = rng.uniform(0.05, 0.1, size=rng.choice([1, 2, 7, 33, 64, 100], rng.integers(1, 4)))
        x = strided((x * (1 + 2j) if dtype == "complex64" else x / 256).astype(dtype), rng)
        a = xo.convert(x, backend, copy=True) if backend == "numpy" else xo.asarray(x, backend="dask")
        axes = None if rng.random() < 0.3 else tuple(rng.permutation(x.ndim)[: rng.integers(0, x.ndim + 1)].tolist())
        options = {"axis": axes, "keepdims": bool(rng.random() < 0.5)}
        wide = x.astype("complex128" if dtype == "complex64" else "float64")
        got, want = xo.sum(a, **options), np.sum(wide, **options)
        count, magnitude = x.size / max(1, want.size), np.sum(np.abs(wide), **options)
        assert got.dtype == x.dtype
        require_close(host(got), want, magnitude, count, dtype)
        require_close(host(xo.mean(a, **options)), np.mean(wide, **options), magnitude / count, count, dtype)
        if count > 1:
            got, want = xo.std(a, correction=1.0, **options), np.std(wide, correction=1, **options)
            assert got.dtype == x.real.dtype
            error_of_mean = 4 * EPS[dtype] * math.log2(count) * magnitude / count
            require_close(host(got), want, want, count, dtype, 2 * np.sqrt(EPS[dtype]) * error_of_mean + error_of_mean)
        axis, initial = int(rng.integers(-x.ndim, x.ndim)), bool(rng.random() < 0.5)
        got = host(xo.cumulative_sum(a, axis=axis, include_initial=initial))
        want = np.cumulative_sum(wide, axis=axis, include_initial=initial)
        bound = np.cumulative_sum(np.abs(wide), axis=axis, include_initial=initial)
        require_close(got, want, bound, x.shape[axis], dtype)


def test_what_numpy_does_besides_is_kept():
    x = np.full((100, 3), 0.5, dtype="float32")
    assert xo.sum(x, axis=()).shape == x.shape
    assert type(xo.sum(x)) is type(np.sum(x))
    assert xo.std(x[0, 0:1].reshape(())) == 0
    assert xo.sum(x, dtype="float64").dtype == np.float64
    assert xo.sum(np.full((100, 3), 200, dtype="uint8")) == 60000
    assert xo.sum(np.full(100, 200, dtype="uint8"), dtype="float32").dtype == np.float32
    assert xo.var(np.arange(100)).dtype == np.float64
    assert np.isnan(xo.mean(np.where(np.arange(300).reshape(100, 3) == 7, np.nan, x), axis=0)).tolist() == [0, 1, 0]
    assert xo.sum(np.full((100, 3), np.inf, dtype="float32"), axis=0).tolist() == [np.inf] * 3
    with pytest.raises(np.exceptions.AxisError):
        xo.sum(x, axis=2)
    with pytest.raises(ValueError, match="repeated"):
        xo.sum(x, axis=(0, 0))
    with pytest.raises(ValueError, match="axis"):
        xo.cumulative_sum(x)


@pytest.mark.parametrize("kind", ["equal", "alternating", "decreasing", "greatest first", "subnormal"])
@pytest.mark.parametrize("shape", [(2**20,), (2**18, 3), (3, 2**18)], ids=str)
def test_cumulative_sums_of_half_precision(shape, kind):
    """PyTorch sums rows of up to 2^20 numbers in single precision."""
    pytest.importorskip("torch", exc_type=ImportError)
    axis = int(np.argmax(shape))
    count = shape[axis]
    row = {
        "equal": np.full(count, 60_000 / count),
        "alternating": np.where(np.arange(count) % 2, -30_000.0, 30_001.0) / 2,
        "decreasing": 4_000 / np.arange(1.0, count + 1),
        "greatest first": np.where(np.arange(count) == 0, 32_768.0, 2.0**-7),
        "subnormal": np.full(count, 2.0**-24),
    }[kind].astype("float16")
    x = np.ascontiguousarray(np.broadcast_to(row if axis == len(shape) - 1 else row[:, None], shape))
    got = host(xo.cumulative_sum(xo.asarray(x, backend="torch"), axis=axis))
    wide = x.astype("float64")
    magnitude = np.cumsum(np.abs(wide), axis=axis)
    require_close(got, np.cumsum(wide, axis=axis), magnitude, count, "float16")
    assert np.all(np.isnan(host(xo.cumulative_sum(xo.asarray(x[:5] * np.float16("nan"), backend="torch"), axis=0))))


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_cumulative_sums_above_the_greatest_number(dtype):
    """A sum that exceeds the limits of the dtype on the way is computed in a wider dtype."""
    torch = pytest.importorskip("torch", exc_type=ImportError)
    greatest = torch.finfo(getattr(torch, dtype)).max
    x = torch.tensor([greatest, greatest, -greatest, -greatest, 1.0], dtype=getattr(torch, dtype))
    got = xo.cumulative_sum(x).tolist()
    assert got[0] == got[2] == greatest
    assert math.isinf(got[1])
    assert got[4] == 1.0
