"""Gradients: compared with central differences in NumPy's float64, on PyTorch and JAX."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import xarrayops as xo
from xarrayops.errors import MixedBackends, Unsupported

X = np.random.default_rng(0).uniform(0.5, 1.5, (3, 4))
W = np.random.default_rng(1).standard_normal((4, 2))
pytestmark = pytest.mark.parametrize("library", ["torch", "jax"], indirect=True)


def loss(x: Any, w: Any, *, power: int = 2) -> Any:
    """A number, of arrays of any library."""
    return xo.sum(xo.pow(xo.tanh(xo.matmul(x, w)), power))


def differences(function: Any, *arrays: np.ndarray[Any, Any], by: int) -> np.ndarray[Any, Any]:
    """The gradient by one of the arrays, by central differences."""
    step, x = 1e-6, arrays[by]
    found = np.zeros_like(x)
    for place in np.ndindex(*x.shape):
        moved = []
        for sign in (1, -1):
            given = [each.copy() for each in arrays]
            given[by][place] += sign * step
            moved.append(float(function(*given)))
        found[place] = (moved[0] - moved[1]) / (2 * step)
    return found


@pytest.mark.parametrize("by", [0, 1])
def test_gradient(library, by):
    value, found = xo.value_and_grad(loss, argnums=by)(library.array(X), library.array(W))
    np.testing.assert_allclose(library.host(value), loss(X, W), rtol=1e-12)
    np.testing.assert_allclose(library.host(found), differences(loss, X, W, by=by), rtol=1e-5, atol=1e-8)
    assert library.host(found).dtype == np.float64


def test_several_arguments_and_keywords(library):
    x, w = library.array(X), library.array(W)
    found = xo.grad(loss, argnums=(1, 0))(x, w, power=4)
    assert isinstance(found, tuple)
    wanted = [differences(lambda x, w: loss(x, w, power=4), X, W, by=by) for by in (1, 0)]
    for mine, right in zip(found, wanted, strict=True):
        np.testing.assert_allclose(library.host(mine), right, rtol=1e-5, atol=1e-8)
    np.testing.assert_allclose(library.host(xo.grad(loss, argnums=-1)(x, w)), differences(loss, X, W, by=1), rtol=1e-5)


def test_nested_arguments(library):
    parameters = {"layers": [(library.array(W), library.array(np.ones(2)))], "scale": library.array(2.0)}

    def of(parameters: Any, x: Any) -> Any:
        (w, b), *_ = parameters["layers"]
        return parameters["scale"] * xo.sum(xo.square(xo.matmul(x, w) + b))

    found = xo.grad(of)(parameters, library.array(X))
    assert set(found) == {"layers", "scale"}
    plain = np.sum(np.square(X @ W + 1))
    np.testing.assert_allclose(library.host(found["scale"]), plain, rtol=1e-12)
    np.testing.assert_allclose(library.host(found["layers"][0][1]), 4 * np.sum(X @ W + 1, axis=0), rtol=1e-12)


def test_other_results(library):
    def with_others(x: Any) -> Any:
        y = xo.square(x)
        return xo.sum(y), {"squares": y, "name": "squares", "none": None}

    (value, others), found = xo.value_and_grad(with_others, has_aux=True)(library.array(X))
    np.testing.assert_allclose(library.host(value), np.sum(X**2))
    np.testing.assert_allclose(library.host(others["squares"]), X**2)
    assert (others["name"], others["none"]) == ("squares", None)
    found_alone, others = xo.grad(with_others, has_aux=True)(library.array(X))
    np.testing.assert_allclose(library.host(found), library.host(found_alone))
    np.testing.assert_allclose(library.host(found), 2 * X)


def test_third_derivative(library):
    derivative = xo.grad(xo.grad(xo.grad(lambda x: xo.sin(x))))
    np.testing.assert_allclose(library.host(derivative(library.array(0.7))), -np.cos(0.7), rtol=1e-12)


def test_inner_gradient_by_an_array_of_the_outer_function(library):
    """d/dy of (d/dx of x y**2 at x = 3) is 2 y; the inner function has y in its closure."""
    inner = lambda y: xo.grad(lambda x: x * y * y)(y * 0.0 + 3.0)
    np.testing.assert_allclose(library.host(xo.grad(inner)(library.array(5.0))), 10.0)


def test_perturbations_are_not_confused(library):
    """d/dx of (x times d/dy of (x + y) at y = 1) is 1."""
    outer = lambda x: x * xo.grad(lambda y: x + y)(xo.ones_like(x))
    np.testing.assert_allclose(library.host(xo.grad(outer)(library.array(2.0))), 1.0)


def test_batch_of_gradients(library):
    found = xo.vmap(xo.grad(lambda x: xo.sum(x**3)))(library.array(X))
    np.testing.assert_allclose(library.host(found), 3 * X**2, rtol=1e-12)


def test_gradient_of_a_batch(library):
    found = xo.grad(lambda x: xo.sum(xo.vmap(lambda row: xo.sum(row) ** 2)(x)))(library.array(X))
    np.testing.assert_allclose(library.host(found), 2 * np.broadcast_to(X.sum(1, keepdims=True), X.shape), rtol=1e-12)


@pytest.mark.parametrize("shape", [(), (0,), (2, 0)])
def test_empty_and_without_axes(library, shape):
    found = xo.grad(lambda x: xo.sum(xo.exp(x)))(library.array(np.zeros(shape)))
    np.testing.assert_array_equal(library.host(found), np.ones(shape))


def test_strided_and_special_values(library):
    x = np.array([np.nan, np.inf, -np.inf, 0.0, 2.0])[::-1]
    found = xo.grad(lambda x: xo.sum(x * x))(library.array(x))
    np.testing.assert_array_equal(library.host(found), 2 * x)


def test_independent_argument_has_gradient_zero(library):
    found = xo.grad(lambda x, y: xo.sum(y), argnums=(0, 1))(library.array(X), library.array(W))
    np.testing.assert_array_equal(library.host(found[0]), np.zeros_like(X))
    np.testing.assert_array_equal(library.host(found[1]), np.ones_like(W))
    constant = xo.grad(lambda x: xo.ones((), like=x))(library.array(X))
    np.testing.assert_array_equal(library.host(constant), np.zeros_like(X))


def test_argument_is_not_changed(library):
    x = library.array(X.copy())
    xo.grad(lambda x: xo.sum(xo.square(x)))(x)
    np.testing.assert_array_equal(library.host(x), X)
    if library.name == "torch":
        assert not x.requires_grad
        assert x.grad is None


@pytest.mark.parametrize(
    ("function", "argument", "error", "text"),
    [
        (lambda x: x, X, ValueError, r"xo.grad\(<lambda>\): the function returned float64 of shape \(3, 4\)"),
        (lambda x: xo.sum(x) > 0, X, ValueError, "returned bool"),
        (lambda x: 3.0, X, TypeError, "returned float, not a 0-d array"),
        (lambda x: xo.sum(x), np.arange(3), TypeError, "is int64; gradients require floating-point arrays"),
        (lambda x: xo.sum(xo.real(x)), X + 1j, Unsupported, "is complex128"),
    ],
)
def test_errors(library, function, argument, error, text):
    with pytest.raises(error, match=text):
        xo.grad(function)(library.array(argument))


def test_errors_of_arguments(library):
    x = library.array(X)
    with pytest.raises(IndexError, match="argnums has 1, but the call has 1 positional"):
        xo.grad(xo.sum, argnums=1)(x)
    with pytest.raises(ValueError, match=r"xo.value_and_grad\(sum\): argnums names an argument twice: \(0, -1\)"):
        xo.value_and_grad(xo.sum, argnums=(0, -1))(x)
    with pytest.raises(TypeError, match=r"xo.grad\(<lambda>\): w is int64"):
        xo.grad(lambda a, b: xo.sum(a), argnums=1)(x, {"w": library.array(np.arange(3))})
    with pytest.raises(TypeError, match="must return a pair"):
        xo.grad(xo.sum, has_aux=True)(x)
    with pytest.raises(TypeError, match="no argument to differentiate by has an array"):
        xo.grad(lambda a, b: xo.sum(b))(2.0, x)
    with pytest.raises(MixedBackends):
        xo.grad(lambda a, b: xo.sum(a))(x, X)
    with pytest.raises(ZeroDivisionError):  # errors of the function stay as they are
        xo.grad(lambda a: 1 // 0)(x)


def test_after_an_error_gradients_are_as_before(library):
    with pytest.raises(ZeroDivisionError):
        xo.grad(lambda a: 1 // 0)(library.array(X))
    value, _ = xo.value_and_grad(lambda x: xo.sum(x))(library.array(X))
    if library.name == "torch":
        assert not value.requires_grad
    with xo.no_grad():
        pass


def test_dtypes_and_arrays_of_other_libraries_pass(library):
    x = library.array(X)
    found, others = xo.grad(lambda x, dtype: (xo.sum(xo.astype(x, dtype)), {"n": np.float64(2), "a": X}), has_aux=True)(
        x, x.dtype
    )
    np.testing.assert_array_equal(library.host(found), np.ones_like(X))
    assert others["n"] == 2
    assert others["a"] is X
