"""Maxima of windows on a CPU: of slices if the channels come first in memory, and otherwise by PyTorch's function."""

from __future__ import annotations

import numpy as np
import pytest

import xarrayops as xo
from tests.unit.backends.pooling import largest

torch = pytest.importorskip("torch", exc_type=ImportError)
convolution = pytest.importorskip("xarrayops_backends.torch._convolution", exc_type=ImportError)

CASES = [
    (xo.max_pool1d, (4, 8, 1000), (3,), (2,), (1,)),
    (xo.max_pool2d, (8, 8, 40, 64), (2, 2), (2, 2), (0, 0)),
    (xo.max_pool2d, (8, 8, 40, 64), (3, 5), (1, 3), (1, 2)),
    (xo.max_pool2d, (1, 1, 8, 8), (2, 2), (2, 2), (1, 1)),
    (xo.max_pool3d, (4, 4, 16, 16, 33), (2, 1, 3), (2, 1, 2), (1, 0, 1)),
]


@pytest.fixture
def by_torch(monkeypatch):
    """The calls that PyTorch's function serves."""
    served = []
    functions = {n: lambda *given, f=f: served.append(given) or f(*given) for n, f in convolution._LARGEST.items()}
    monkeypatch.setattr(convolution, "_LARGEST", functions)
    return served


def numbers(extents, dtype):
    """Integers, NaN and both infinities."""
    x = np.random.default_rng(0).integers(-99, 99, extents).astype(dtype)
    x.flat[::31], x.flat[5::37], x.flat[7::13] = np.nan, np.inf, -np.inf
    return x


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16"])
@pytest.mark.parametrize(("pool", "extents", "shape", "stride", "padding"), CASES)
def test_as_by_definition(pool, extents, shape, stride, padding, dtype, by_torch):
    x = numbers(extents, "float32")
    a = torch.from_numpy(x).to(getattr(torch, dtype))
    want, options = largest(x, shape, stride, padding), {"stride": stride, "padding": padding}
    got = pool(a, shape, **options)
    assert got.dtype == a.dtype
    np.testing.assert_array_equal(got.float().numpy(), want)
    is_large = x.ndim > 3 and want.size >= convolution._MANY
    assert len(by_torch) == (not is_large)
    last = "N" + "DHW"[-len(shape) :] + "C"
    got = pool(a.movedim(1, -1).contiguous(), shape, layout=last, **options)
    np.testing.assert_array_equal(got.movedim(-1, 1).float().numpy(), want)
    assert len(by_torch) == (not is_large) + 1


def test_dilated_windows_and_views(by_torch):
    x = torch.from_numpy(numbers((4, 16, 80, 96), "float32"))
    views = [x, x[:, :, ::2, ::2], x[:, ::2], x[:, :1].expand(4, 16, 80, 96)]
    views.append(x.movedim(1, -1).contiguous().movedim(-1, 1))
    for number, each in enumerate(views):
        want = torch.nn.functional.max_pool2d(each, 3, 2, 1, dilation=2)
        by_torch.clear()
        got = xo.max_pool2d(each, 3, stride=2, padding=1, dilation=2)
        assert got.is_contiguous()
        np.testing.assert_array_equal(got.numpy(), want.numpy())
        assert len(by_torch) == (number > 2)


def test_windows_of_one_element_along_an_axis_give_compact_arrays():
    x = torch.arange(2.0 * 8 * 64 * 64).reshape(2, 8, 64, 64)
    for window, stride in (((2, 1), (2, 1)), ((1, 1), (1, 1)), ((1, 2), (1, 1))):
        got = xo.max_pool2d(x, window, stride=stride)
        assert got.is_contiguous()
        assert not xo.shares_memory(got, x)
        assert torch.equal(got, torch.nn.functional.max_pool2d(x, window, stride))


def test_few_windows_are_served_by_torch(by_torch):
    xo.max_pool2d(torch.ones(8, 64, 7, 7), 7)
    xo.max_pool2d(torch.ones(8, 64, 128, 128), 2, stride=3)
    assert len(by_torch) == 2


def test_gradients_of_dilated_windows_with_padding():
    x = torch.rand(2, 3, 7, 7, requires_grad=True)
    xo.max_pool2d(x, 2, stride=1, padding=1, dilation=2).sum().backward()
    assert float(x.grad.sum()) == 2 * 3 * 7 * 7
    with pytest.raises(ValueError, match="each window must have an element"):
        xo.max_pool2d(torch.ones(1, 8, 1, 1, requires_grad=True), 2, stride=1, padding=1, dilation=2)


def test_gradients_are_those_of_the_first_of_equal_elements():
    x = torch.zeros(4, 8, 40, 40, requires_grad=True)
    xo.max_pool2d(x, 2).sum().backward()
    first = torch.zeros(4, 8, 40, 40)
    first[:, :, ::2, ::2] = 1
    assert torch.equal(x.grad, first)
    assert torch.equal(torch.func.grad(lambda x: xo.max_pool2d(x, 2).sum())(x.detach()), first)
    assert torch.equal(xo.grad(lambda x: xo.sum(xo.max_pool2d(x, 2)))(x.detach()), first)
