"""The functions of a GPU in few kernels, computed on the CPU: their values are those of the generic functions."""

import math

import numpy as np
import pytest

import xarrayops as xo
from xarrayops.plugin.convolution import Windows

torch = pytest.importorskip("torch", exc_type=ImportError)

from xarrayops_backends.torch import _convolution, _extra_devices as devices  # noqa: E402
from xarrayops_backends.torch._standard import searching  # noqa: E402

SPECIAL = [math.nan, math.inf, -math.inf, 0.0, -0.0, 3e38, -3e38, 1e-40, 1.0, 1.00001]


def same(got, want, ulps=8):
    """Equal where a value is not finite, and otherwise within some units of the greatest value."""
    got, want = got.detach().numpy(), np.asarray(want)
    assert got.dtype == want.dtype
    finite = np.isfinite(want)
    np.testing.assert_array_equal(got[~finite], want[~finite])
    unit = np.spacing(np.abs(want[finite]).max(initial=0)) if want.dtype.kind == "f" else 0
    np.testing.assert_allclose(got[finite], want[finite], rtol=0, atol=ulps * unit)


@pytest.mark.parametrize("equal_nan", [False, True])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("tolerance", [(1e-5, 1e-8), (0.0, 0.0), (1e-3, 1e-2), (0, 1e30)])
def test_isclose(dtype, tolerance, equal_nan):
    x = np.asarray(SPECIAL, dtype)
    rtol, atol = tolerance
    options = {"rtol": rtol, "atol": atol, "equal_nan": equal_nan}
    with np.errstate(all="ignore"):
        want = np.isclose(x[:, None], x, **options)
    same(devices._isclose(torch.from_numpy(x)[:, None], torch.from_numpy(x), **options), want)
    assert bool(devices._allclose(torch.from_numpy(x), torch.from_numpy(x), **options)) is equal_nan


@pytest.mark.parametrize("axis", [None, 0, -1, (0, 2)])
@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_logsumexp(dtype, axis, keepdims):
    x = np.random.default_rng(0).standard_normal((4, 5, 6)).astype(dtype) * 100
    x[0, 0], x[1, 1, 1], x[2, 2] = -np.inf, np.inf, np.nan
    with np.errstate(all="ignore"):
        want = xo.logsumexp(x, axis=axis, keepdims=keepdims)
    same(devices._logsumexp(torch.from_numpy(x), axis=axis, keepdims=keepdims), want)
    leaf = torch.from_numpy(np.nan_to_num(x, posinf=1, neginf=1)).requires_grad_()
    (gradient,) = torch.autograd.grad(devices._logsumexp(leaf, axis=-1).sum(), leaf)
    same(gradient, torch.softmax(leaf, -1).detach().numpy())


@pytest.mark.parametrize("mode", ["full", "same", "valid"])
@pytest.mark.parametrize("sizes", [(10, 1), (1, 10), (7, 7), (300, 129), (6, 40), (3000, 2100)])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("special", [False, True])
def test_convolutions(dtype, sizes, mode, special):
    rng = np.random.default_rng(1)
    a, b = (rng.standard_normal(n).astype(dtype) for n in sizes)
    if special:
        a[len(a) // 2], b[len(b) // 3], b[-1] = np.inf, np.nan, -np.inf
    for found, function in ((devices._convolve, xo.convolve), (devices._correlate, xo.correlate)):
        with np.errstate(all="ignore"):
            want = function(a, b, mode)
        same(found(torch.from_numpy(a), torch.from_numpy(b), mode), want, ulps=64)


def test_the_convolution_has_a_gradient():
    a, b = (torch.randn(n, dtype=torch.float64, requires_grad=True) for n in (9, 4))
    assert torch.autograd.gradcheck(devices._convolve, (a, b))


@pytest.mark.parametrize("ends", [{}, {"left": -7.0}, {"right": 9}, {"left": 0.5, "right": -0.5}])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(
    ("points", "values"),
    [
        ([0, 1, 3, 10], [1, 5, -2, 4]),
        ([0, 1], [2, 2]),
        ([-3e38, 0, 3e38], [-3e38, 3e38, 1]),
        ([0, 1, 2, 3, 4, 5], [1, math.inf, math.inf, 2, math.nan, 3]),
        ([0, 1, 2], [-math.inf, 0, math.inf]),
        (range(50), np.sin(range(50))),
    ],
)
def test_interp(points, values, dtype, ends):
    p, v = (np.asarray(x, dtype) for x in (points, values))
    middle = p[:-1] / 2 + p[1:] / 2
    x = np.concatenate([p, middle, p[:-1] * 0.9 + p[1:] * 0.1, [p[0] - 1, p[-1] + 1, np.nan, np.inf, -np.inf]])
    x = x.astype(dtype)
    with np.errstate(all="ignore"):
        want = np.interp(x, p, v, **ends).astype(dtype)
    same(devices._interp(*map(torch.from_numpy, (x, p, v)), **ends), want)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("count", [0, 1, 5])
def test_polyval(dtype, count):
    x, p = np.asarray(SPECIAL, dtype), np.arange(count, dtype=dtype)
    with np.errstate(all="ignore"):
        want = np.polyval(p, x).astype(dtype)
    same(devices._polyval(torch.from_numpy(p), torch.from_numpy(x)), want)


@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_positions_among_nan(monkeypatch, side, dtype):
    monkeypatch.setattr(searching, "_may_end_in_nan", lambda x, sorter: True)
    values = np.asarray([-math.inf, -1, 0, 0, 2, math.inf, math.nan, math.nan], dtype)
    sought = np.asarray([*SPECIAL, 2, -5, 100], dtype)
    for x in (values, values[:6], values[:5], values[6:]):
        found = searching.searchsorted(torch.from_numpy(x), torch.from_numpy(sought), side=side)
        np.testing.assert_array_equal(found.numpy(), np.searchsorted(x, sought, side))


@pytest.mark.parametrize("rank", [1, 2, 3])
@pytest.mark.parametrize("is_last", [False, True])
def test_sums_of_windows(rank, is_last):
    rng = np.random.default_rng(2)
    shape, stride, padding = (3, 2, 4)[:rank], (2, 1, 3)[:rank], ((1, 2), (0, 1), (3, 0))[:rank]
    x = rng.standard_normal((2, *(9, 8, 10)[:rank], 3) if is_last else (2, 3, *(9, 8, 10)[:rank])).astype("float32")
    x[0, 0, 0] = np.inf
    windows = Windows(shape, stride, padding, (1,) * rank, is_last)
    want = xo.backend("numpy").functions["pooling"](x, windows, "sum")
    same(_convolution._sums(torch.from_numpy(x), windows, "sum"), want)
