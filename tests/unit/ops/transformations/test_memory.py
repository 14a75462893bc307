"""checkpoint and no_grad: the same values and gradients, less memory, the same random numbers."""

from __future__ import annotations

import numpy as np
import pytest

import xarrayops as xo
from xarrayops.errors import Unsupported

X = np.random.default_rng(0).uniform(-1, 1, (3, 4))
DIFFERENTIATING = pytest.mark.parametrize("library", ["torch", "jax"], indirect=True)


def layer(x, scale=1.0, *, shift=0.0):
    """Two results."""
    y = xo.tanh(scale * x + shift)
    return {"y": y, "squares": (xo.square(y),)}


def test_values(library):
    found = xo.checkpoint(layer)(library.array(X), 2.0, shift=0.5)
    np.testing.assert_allclose(library.host(found["squares"][0]), np.tanh(2 * X + 0.5) ** 2, rtol=1e-12)
    assert xo.checkpoint(lambda a: a + 1)(2) == 3


@DIFFERENTIATING
def test_gradient(library):
    def total(x, layer):
        for _ in range(3):
            x = layer(x)["squares"][0]
        return xo.sum(x)

    plain = xo.grad(total)(library.array(X), layer)
    found = xo.grad(total)(library.array(X), xo.checkpoint(layer))
    np.testing.assert_allclose(library.host(found), library.host(plain), rtol=1e-14)  # a compiled branch may round once
    second = xo.grad(lambda x: xo.sum(xo.grad(total)(x, xo.checkpoint(layer))))(library.array(X))
    wanted = xo.grad(lambda x: xo.sum(xo.grad(total)(x, layer)))(library.array(X))
    np.testing.assert_allclose(library.host(second), library.host(wanted), rtol=1e-12)


def test_variables_of_enclosing_functions_on_jax():
    """Their gradients flow through the branch, also in compiled functions, and integers have none."""
    jax = pytest.importorskip("jax")
    random = np.random.default_rng(0)
    w, x = (jax.numpy.asarray(random.standard_normal((3, 3)), "float32") for _ in range(2))

    def loss(w, x, wrap):
        layer = wrap(lambda x, i: (xo.tanh(xo.matmul(xo.take(x, i, axis=0), w)), i))
        return xo.sum(xo.square(layer(x, xo.asarray([2, 0], like=x, dtype="int32"))[0]))

    plain = jax.grad(lambda w, x: loss(w, x, lambda f: f), (0, 1))(w, x)
    for transform in (lambda f: f, jax.jit):
        found = transform(jax.grad(lambda w, x: loss(w, x, xo.checkpoint), (0, 1)))(w, x)
        for got, want in zip(found, plain, strict=True):
            np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-5)
    hessian, wanted = (jax.hessian(lambda w, f=f: loss(w, x, f))(w) for f in (xo.checkpoint, lambda f: f))
    np.testing.assert_allclose(hessian, wanted, rtol=1e-4, atol=1e-4)


def test_complex_numbers_and_captured_integers_on_jax():
    jax = pytest.importorskip("jax")
    spectrum = xo.checkpoint(xo.fft.fft)
    x = jax.numpy.asarray([1.0, 2.0, 4.0])
    plain = jax.grad(lambda x: xo.sum(xo.square(xo.abs(xo.fft.fft(x)))))(x)
    np.testing.assert_allclose(jax.grad(lambda x: xo.sum(xo.square(xo.abs(spectrum(x)))))(x), plain, rtol=1e-5)
    of = jax.jit(lambda x, i: xo.sum(xo.checkpoint(lambda x: xo.sin(x * i))(x)))
    np.testing.assert_allclose(jax.grad(of)(x, 2), 2 * np.cos(2 * np.asarray(x)), rtol=1e-5)


@DIFFERENTIATING
def test_batch(library):
    of = xo.checkpoint(lambda x: xo.sum(xo.exp(x)))
    np.testing.assert_allclose(library.host(xo.vmap(xo.grad(of))(library.array(X))), np.exp(X), rtol=1e-12)


def test_random_numbers_are_drawn_again():
    """The gradient of sum(draw * x) is the draw: the second computation must not draw other numbers."""
    torch = pytest.importorskip("torch")
    x = torch.zeros((3, 4), dtype=torch.float64)
    generator = xo.random.default_rng(7, like=x)

    def noisy(x):
        inner = xo.checkpoint(lambda x: xo.exp(x * generator.normal(size=(3, 4))))
        return inner(x) * generator.normal(size=(3, 4))

    value, found = xo.value_and_grad(lambda x: xo.sum(xo.checkpoint(noisy)(x)))(x)
    fresh = xo.random.default_rng(7, like=x)
    first, second = (fresh.normal(size=(3, 4)) for _ in range(2))
    np.testing.assert_allclose(value, second.sum(), rtol=1e-12)
    np.testing.assert_allclose(found, first * second, rtol=1e-12)
    # afterwards the generator goes on as if nothing had been drawn again
    np.testing.assert_array_equal(generator.normal(size=5), fresh.normal(size=5))


@pytest.mark.parametrize("is_outer", [False, True])
def test_gradient_inside_of_a_checkpoint(is_outer):
    """A gradient inside computes again while the function still runs for the first time."""
    torch = pytest.importorskip("torch")

    def loss(x, wrap):
        generator = xo.random.default_rng(3, like=x)

        def layer(x):
            inner = xo.checkpoint(lambda y: xo.sin(y * y * generator.normal()))
            return xo.sin(x * generator.normal()) * xo.grad(inner)(x)

        return (wrap if is_outer else xo.checkpoint)(wrap(layer))(x)

    x = torch.tensor(1.3, dtype=torch.float64)
    plain, checked = (xo.value_and_grad(lambda x, w=wrap: loss(x, w))(x) for wrap in (lambda f: f, xo.checkpoint))
    np.testing.assert_allclose(plain, checked, rtol=1e-12)

    inner = lambda x: xo.grad(lambda y: xo.sin(y * x))(torch.tensor(0.7))
    np.testing.assert_allclose(xo.grad(inner)(x), xo.grad(xo.checkpoint(inner))(x), rtol=1e-12)


def test_generators_of_keys_and_native_ones():
    torch = pytest.importorskip("torch")
    x = torch.tensor(1.3, dtype=torch.float64)

    def found(generator, wrap):
        return xo.grad(wrap(lambda x: xo.sin(x * generator.normal()) * generator.normal()))(x)

    plain, checked = (
        found(xo.random.default_rng(xo.random.key(3, like=x)), wrap) for wrap in (lambda f: f, xo.checkpoint)
    )
    np.testing.assert_array_equal(plain, checked)
    with pytest.raises(Unsupported, match="native=True would draw other numbers"):
        found(xo.random.default_rng(3, like=x, native=True), xo.checkpoint)


def test_no_grad_refuses_generators():
    def numbers():
        yield 1

    with pytest.raises(TypeError, match="a with block inside"):
        xo.no_grad()(numbers)


def test_random_numbers_of_a_key(library):
    """JAX traces the function, so its generator is made of a key inside of it."""
    key = xo.random.default_rng(7, like=library.array(X)).key()

    def noisy(x, key):
        return x * xo.random.default_rng(key).normal(size=(3, 4))

    found = xo.checkpoint(noisy)(library.array(X), key)
    np.testing.assert_allclose(library.host(found), library.host(noisy(library.array(X), key)), rtol=1e-12)


def test_torch_stores_less():
    torch = pytest.importorskip("torch")
    stored: list[int] = []

    def pack(x):
        stored.append(x.nbytes)
        return x

    def peak(layer):
        stored.clear()
        x = torch.ones(1000, requires_grad=True)
        with torch.autograd.graph.saved_tensors_hooks(pack, lambda x: x):
            for _ in range(4):
                x = layer(x)
        return sum(stored)

    def deep(x):
        for _ in range(8):
            x = xo.sin(x)
        return x

    assert peak(deep) == 4 * 8 * 4000
    assert peak(xo.checkpoint(deep)) <= 4 * 4000


def test_jax_stores_less():
    jax = pytest.importorskip("jax")

    def deep(x):
        for _ in range(8):
            x = xo.sin(x)
        return x

    def residuals(function):
        return len(jax.tree.leaves(jax.vjp(function, jax.numpy.ones(10))[1]))

    assert residuals(xo.checkpoint(deep)) < residuals(deep)


def test_no_grad_on_torch():
    torch = pytest.importorskip("torch")
    x = torch.ones(3, requires_grad=True)
    with xo.no_grad():
        assert not xo.square(x).requires_grad
        with xo.no_grad():
            pass
        assert not xo.square(x).requires_grad
    assert xo.square(x).requires_grad
    assert not xo.no_grad()(xo.square)(x).requires_grad

    def partly_constant(x):
        with xo.no_grad():
            factor = xo.square(x)
        return xo.sum(factor * x)

    np.testing.assert_array_equal(xo.grad(partly_constant)(2 * torch.ones(3)).numpy(), [4, 4, 4])


def test_no_grad_without_gradients(library):
    with xo.no_grad():
        np.testing.assert_array_equal(library.host(xo.square(library.array(X))), X**2)


def test_no_grad_inside_a_gradient_on_jax():
    jax = pytest.importorskip("jax")

    def constant(x):
        with xo.no_grad():
            return xo.sum(x)

    with pytest.raises(Unsupported, match="stop_gradient"):
        xo.grad(constant)(jax.numpy.ones(3))
    assert float(constant(jax.numpy.ones(3))) == 3


@pytest.mark.parametrize("name", ["numpy", "dask"])
@pytest.mark.parametrize("transform", [xo.grad, xo.value_and_grad, xo.vmap])
def test_other_libraries_name_the_way_out(name, transform):
    pytest.importorskip(name)
    with pytest.raises(Unsupported, match=r'xo.convert\(x, "torch"\) or xo.convert\(x, "jax"\)'):
        transform(xo.sum)(xo.ones((2, 3), backend=name))
