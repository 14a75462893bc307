"""Products of compiled programs on CPUs: XLA reads no operand as the transpose of another array."""

import re

import numpy
import pytest

import xarrayops as xo

jax = pytest.importorskip("jax")
jnp = jax.numpy

A, B = (numpy.random.default_rng(seed).normal(size=(40, n)).astype("float32") for seed, n in ((0, 30), (1, 130)))


def gram(a, b):
    return xo.matmul(a.T, b)


def contracted(function, *args):
    """The axis of the first operand of the product of a program that XLA adds up."""
    text = jax.jit(function).lower(*args).compile().as_text()
    return re.findall(r"dot\(.*lhs_contracting_dims=\{(\d)\}", text)


@pytest.mark.skipif(jax.default_backend() != "cpu", reason="other devices multiply transposed arrays as fast")
def test_a_transposed_operand_is_copied_for_many_columns():
    assert contracted(gram, A, B) == ["1"]
    assert contracted(lambda a, b: a.T @ b, jnp.asarray(A), jnp.asarray(B)) == ["0"], "XLA does not fold it any more"
    assert contracted(gram, B, A) == ["0"], "a copy takes longer than a product with few columns"


def test_its_values_and_transforms():
    numpy.testing.assert_allclose(jax.jit(gram)(A, B), A.T @ B, rtol=1e-4, atol=1e-4)
    gradient = jax.jit(jax.grad(lambda a, b: gram(a, b).sum()))(A, B)
    numpy.testing.assert_allclose(gradient, numpy.tile(B.sum(1, keepdims=True), (1, 30)), rtol=1e-4, atol=1e-4)
    batched = jax.jit(jax.vmap(gram))(numpy.stack([A, -A]), numpy.stack([B, B]))
    numpy.testing.assert_allclose(batched, numpy.stack([A.T @ B, -A.T @ B]), rtol=1e-4, atol=1e-4)


def test_a_length_may_be_symbolic():
    b = jax.ShapeDtypeStruct((40, *jax.export.symbolic_shape("n")), "float32")
    exported = jax.export.export(jax.jit(gram))(A, b)
    numpy.testing.assert_allclose(exported.call(A, B), A.T @ B, rtol=1e-4, atol=1e-4)
