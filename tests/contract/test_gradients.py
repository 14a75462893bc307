"""Gradients and batching of functions written with xarrayops, in PyTorch and JAX."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import xarrayops as xo
from xarrayops.testing._suite.samples import well_conditioned

pytestmark = pytest.mark.device

X = well_conditioned("float64", (4, 4))
SCALAR_FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "elementwise": lambda x: xo.sum(xo.multiply(xo.tanh(x), xo.exp(xo.negative(xo.square(x))))),
    "scalars": lambda x: xo.sum(xo.pow(xo.add(xo.abs(x), 1.0), 1.5)),
    "where and clip": lambda x: xo.sum(xo.where(xo.greater(x, 0.5), xo.clip(x, -1.0, 2.0), 0.0)),
    "statistics": lambda x: xo.add(xo.mean(xo.var(x, axis=0)), xo.std(x, correction=1)),
    "products": lambda x: xo.sum(xo.matmul(x, xo.matrix_transpose(x))),
    "einsum": lambda x: xo.einsum("ij,jk,ki->", x, x, x),
    "shapes": lambda x: xo.sum(xo.square(xo.concat([xo.reshape(x, (-1,)), xo.flip(x, axis=0)[0, :]]))),
    "scan": lambda x: xo.sum(xo.cumulative_sum(xo.square(x), axis=1)),
    "selection": lambda x: xo.sum(xo.square(xo.take(x, xo.asarray([0, 2], like=x, dtype="int64"), axis=1))),
    "inverse": lambda x: xo.sum(xo.linalg.inv(x)),
    "determinant": lambda x: xo.linalg.slogdet(x)[1],
    "norm": lambda x: xo.linalg.vector_norm(x),
    "update": lambda x: xo.sum(xo.square(xo.at(x)[0, :].add(2.0, copy=True))),
    "padding and windows": lambda x: xo.sum(xo.square(xo.sliding_window_view(xo.pad(x, 1, "reflect"), 3, 0))),
    "quantiles": lambda x: xo.sum(xo.square(xo.quantile(x, 0.4, axis=0))),
    "softmax": lambda x: xo.sum(xo.square(xo.softmax(x))) + xo.logsumexp(x),
    "extremes": lambda x: xo.add(xo.max(x), xo.min(x)),
}


def numeric_gradient(function: Callable[[Any], Any], x: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The gradient by central differences, with NumPy."""
    step, gradient = 1e-6, np.zeros_like(x)
    for index in np.ndindex(*x.shape):
        up, down = x.copy(), x.copy()
        up[index] += step
        down[index] -= step
        gradient[index] = (function(up) - function(down)) / (2 * step)
    return gradient


@pytest.mark.parametrize("name", SCALAR_FUNCTIONS)
def test_torch_gradient(name: str) -> None:
    torch = pytest.importorskip("torch", exc_type=ImportError)
    function = SCALAR_FUNCTIONS[name]
    x = torch.tensor(X, requires_grad=True)
    function(x).backward()
    np.testing.assert_allclose(x.grad.numpy(), numeric_gradient(function, X), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", SCALAR_FUNCTIONS)
def test_torch_func_batches(name: str) -> None:
    torch = pytest.importorskip("torch", exc_type=ImportError)
    function = SCALAR_FUNCTIONS[name]
    batch = torch.tensor(np.stack([X, X + 0.1, X.T.copy()]))
    got = torch.func.vmap(function)(batch)
    np.testing.assert_allclose(got.numpy(), [function(x.numpy()) for x in batch])


@pytest.mark.parametrize("name", SCALAR_FUNCTIONS)
def test_jax_gradient(name: str) -> None:
    jax = pytest.importorskip("jax", exc_type=ImportError)
    function = SCALAR_FUNCTIONS[name]
    got = jax.jit(jax.grad(function))(jax.numpy.asarray(X))
    np.testing.assert_allclose(got, numeric_gradient(function, X), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", SCALAR_FUNCTIONS)
def test_jax_batches(name: str) -> None:
    jax = pytest.importorskip("jax", exc_type=ImportError)
    function = SCALAR_FUNCTIONS[name]
    batch = np.stack([X, X + 0.1, X.T.copy()])
    np.testing.assert_allclose(jax.vmap(function)(jax.numpy.asarray(batch)), [function(x) for x in batch], rtol=1e-9)


def test_jax_tracers_are_lazy_and_have_no_device() -> None:
    jax = pytest.importorskip("jax", exc_type=ImportError)
    seen: list[tuple[bool, Any]] = []

    def traced(x: Any) -> Any:
        seen.append((xo.is_lazy(x), xo.device(x)))
        return xo.add(x, 1.0)

    jax.jit(traced)(jax.numpy.zeros(3))
    assert seen == [(True, None)]
