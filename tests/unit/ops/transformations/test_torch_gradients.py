"""Gradients on PyTorch together with its autograd: tensors that require a gradient, modes, threads."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import xarrayops as xo

torch = pytest.importorskip("torch")
HOST = np.ones(2)


def test_no_grad_makes_an_inner_gradient_constant():
    def partly(x):
        with xo.no_grad():
            slope = xo.grad(lambda y: y**2)(x)
        return slope * x

    assert float(xo.grad(partly)(torch.tensor(3.0))) == 6
    weights = torch.ones(3, requires_grad=True)
    with xo.no_grad():
        value, found = xo.value_and_grad(lambda w: xo.sum(w**2))(weights)
    assert (value.requires_grad, found.requires_grad) == (False, False)


def test_results_are_connected_to_tensors_outside():
    """A penalty on the gradient: d/dw of (d/dx of x**2 w)**2 + w is 2 (2 x)**2 w + 1."""
    w = torch.tensor(2.0, requires_grad=True)
    slope = xo.grad(lambda x, w: x**2 * w)(torch.tensor(3.0), w)
    (slope**2 + w).backward()
    assert float(w.grad) == 145
    _, (others, nothing) = xo.grad(lambda x: (x**2, (w * x, None)), has_aux=True)(torch.tensor(3.0))
    assert others.requires_grad
    assert nothing is None
    plain, found = xo.value_and_grad(lambda x: x**2)(torch.tensor(3.0))
    assert (plain.requires_grad, found.requires_grad) == (False, False)


def test_inference_mode():
    with torch.inference_mode():
        x = torch.tensor(3.0)
        assert float(xo.grad(lambda x: x**2)(x)) == 6
        found, others = xo.grad(lambda x: (x**2, (x, HOST)), has_aux=True)(x)
    assert (float(found), float(others[0]), others[1] is HOST) == (6, 3, True)


def test_inner_gradient_in_another_thread():
    def inner(x):
        return xo.grad(lambda y: xo.sin(y * x))(torch.tensor(0.7))

    with ThreadPoolExecutor(1) as pool:
        found = xo.grad(lambda x: pool.submit(inner, x).result())(torch.tensor(1.3))
    assert float(found) == pytest.approx(float(xo.grad(inner)(torch.tensor(1.3))))
    assert float(found) == pytest.approx(np.cos(0.91) - 0.91 * np.sin(0.91), rel=1e-5)
