"""Linear interpolation of tensors, compared with NumPy: by torch.lerp, or by the generic function."""

import numpy as np
import pytest
import torch

import xarrayops as xo

LARGE = 1e308
POINTS = {
    "increasing": ([0.0, 1.0, 2.5, 4.0], [1.0, -1.0, 3.0, 0.5]),
    "two": ([0.0, 4.0], [1.0, -1.0]),
    "one": ([2.0], [7.0]),
    "repeated": ([0.0, 1.0, 1.0, 4.0], [1.0, 2.0, 3.0, 0.0]),
    "repeated at the end": ([0.0, 1.0, 4.0, 4.0], [1.0, 2.0, 3.0, 0.0]),
    "an infinite value": ([0.0, 1.0, 2.0, 4.0], [1.0, np.inf, 3.0, 0.0]),
    "infinite values": ([0.0, 1.0, 2.0, 4.0], [np.inf, np.inf, -np.inf, 0.0]),
    "no number": ([0.0, 1.0, 2.0, 4.0], [1.0, np.nan, 3.0, 0.0]),
    "distant points": ([-LARGE, 0.0, LARGE], [1.0, 2.0, 4.0]),
    "distant values": ([0.0, 1.0, 4.0], [-LARGE, LARGE, 0.0]),
}
X = [-9.0, -0.0, 0.5, 1.0, 1.75, 4.0, 3.999, 17.0, np.nan, np.inf, -np.inf, LARGE / 2]


@pytest.mark.parametrize("outer", [{}, {"left": -5.0}, {"left": 8.0, "right": 9.0}, {"period": 3.0}])
@pytest.mark.parametrize("name", POINTS)
def test_values(name, outer):
    points, values = map(np.asarray, POINTS[name])
    x = np.asarray(X).reshape(3, 4)
    if "period" in outer:
        if name.startswith("distant"):
            pytest.skip("NumPy's differences overflow")
        x = np.where(np.isfinite(x), x, 0.25)
    found = xo.interp(*map(torch.from_numpy, (x, points, values)), **outer)
    with np.errstate(all="ignore"):
        if name == "distant points":  # NumPy's differences overflow
            x, points = x / 4, points / 4
        smaller = 8 if name == "distant values" else 1
        outer = {key: value / smaller for key, value in outer.items()} if "period" not in outer else outer
        expected = np.interp(x, points, values / smaller, **outer) * smaller
    if name == "one":  # NumPy ignores NaN there
        expected[np.isnan(x)] = np.nan
    largest = np.max(np.abs(values), where=np.isfinite(values), initial=0)
    np.testing.assert_allclose(found.numpy(), expected, rtol=1e-15, atol=2e-16 * largest)


@pytest.mark.parametrize("left", [torch.tensor(7.0, dtype=torch.float64), np.array(3.0), 1e300, np.inf])
def test_what_is_beyond_the_points(left):
    """The same result with points that only the generic function serves."""
    x, values = torch.tensor([-1.0, 0.5]), torch.tensor([0.0, 10.0, 5.0])
    found = xo.interp(x, torch.tensor([0.0, 1.0, 2.0]), values, left=left)
    expected = xo.interp(x, torch.tensor([0.0, 1.0, 1.0]), values, left=left)
    assert found.dtype == expected.dtype
    assert torch.equal(found, expected)


@pytest.mark.parametrize("replacement", [np.array(3.0), torch.tensor([3.0, 1.0, 2.0])])
def test_replacement_of_nan_by_arrays(replacement):
    found = xo.nan_to_num(torch.tensor([np.nan, 5.0, 1.0]), nan=replacement)
    assert found.tolist() == [3.0, 5.0, 1.0]
    large = xo.nan_to_num(torch.tensor([np.inf, 5.0, 1.0]), posinf=replacement)
    assert large.tolist() == [3.0, 5.0, 1.0]


def test_gradients_of_distinct_values():
    for function in (xo.unique_inverse, xo.unique_counts, xo.unique_all):
        x = torch.tensor([3.0, 1.0, 1.0], requires_grad=True)
        xo.sum(function(x).values).backward()
        assert float(x.grad.sum()) == 2.0


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_random_numbers_and_their_gradient(dtype):
    random = torch.Generator().manual_seed(0)
    points = torch.rand(50, dtype=dtype, generator=random).sort().values
    values = torch.randn(50, dtype=dtype, generator=random)
    x = torch.cat([points, torch.rand(500, dtype=dtype, generator=random) * 1.2 - 0.1]).requires_grad_()
    found = xo.interp(x, points, values)
    expected = np.interp(x.detach().numpy().astype(float), points.numpy().astype(float), values.numpy().astype(float))
    np.testing.assert_allclose(found.detach().numpy(), expected, atol=4 * torch.finfo(dtype).eps)
    assert torch.equal(found[:50], values)
    xo.sum(found[50:]).backward()
    inside = (x[50:] > points[0]) & (x[50:] < points[-1])
    slopes = torch.diff(values) / torch.diff(points)
    interval = torch.searchsorted(points, x.detach()[50:], right=True).clamp(1, 49) - 1
    torch.testing.assert_close(x.grad[50:], torch.where(inside, slopes[interval], 0))
