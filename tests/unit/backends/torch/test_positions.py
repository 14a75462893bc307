"""Positions of extrema on CPUs, which are searched by blocks: NaN, ties, remainders, transformations."""

from __future__ import annotations

import numpy as np
import pytest

import xarrayops as xo

torch = pytest.importorskip("torch")
from xarrayops_backends.torch._standard import statistics  # noqa: E402


@pytest.fixture(autouse=True)
def _short_arrays_are_searched_by_blocks(monkeypatch):
    monkeypatch.setattr(statistics, "SEARCHED", 0)


@pytest.mark.parametrize("shape", [(40_001,), (70, 515), (515, 70), (3, 256, 50), (200, 200), (33_000, 1), (0, 40_000)])
@pytest.mark.parametrize("axis", [0, -1, None])
def test_ties_and_nan_as_in_numpy(shape, axis):
    if axis != -1 and not np.prod(shape):
        pytest.skip("NumPy raises")
    rng = np.random.default_rng(0)
    whole = rng.integers(-3, 4, shape)
    numbers = whole.astype(np.float32)
    holed = np.where(rng.random(shape) < 0.01, np.nan, np.where(numbers == 3, np.inf, numbers)).astype(np.float32)
    rare = np.zeros(shape, np.float32)
    rare.reshape(-1)[-1:] = 1
    for x in (whole, numbers, holed, rare, np.full(shape, np.nan), whole > 0, whole.astype(np.uint32)):
        for verb in ("argmax", "argmin"):
            for keepdims in (False, True):
                got = getattr(xo, verb)(torch.from_numpy(x), axis=axis, keepdims=keepdims)
                want = getattr(np, verb)(x, axis=axis, keepdims=keepdims)
                np.testing.assert_array_equal(got.numpy(), want, strict=True)


def test_complex_numbers_with_nan_are_sorted_behind_the_others():
    x = np.asarray([1 + 1j, complex(0, np.nan), complex(np.nan, 0), 0 + 2j, complex(np.nan, np.nan), -1 + 0j])
    np.testing.assert_array_equal(xo.sort(torch.from_numpy(x)).numpy(), np.sort(x))
    np.testing.assert_array_equal(xo.argsort(torch.from_numpy(x)).numpy(), np.argsort(x))


def test_strides_gradients_and_batches():
    x = torch.from_numpy(np.random.default_rng(0).standard_normal((300, 400)).astype(np.float32))
    for view in (x.T, x[::2], x[:, ::2], torch.as_strided(x, (200, 200), (1, 3))):
        np.testing.assert_array_equal(xo.argmax(view, axis=1).numpy(), view.numpy().argmax(axis=1))
    assert not xo.argmax(x.clone().requires_grad_(), axis=0).requires_grad
    batched = torch.vmap(lambda row: xo.argmax(row, axis=0))(torch.stack([x.reshape(-1)] * 2))
    assert batched.tolist() == [int(x.argmax())] * 2


def test_errors_are_those_of_short_arrays():
    for count in (3, 4 * statistics.BLOCK):
        with pytest.raises(IndexError):
            xo.argmax(torch.ones(count), axis=1)
