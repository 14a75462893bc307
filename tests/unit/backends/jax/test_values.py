"""Functions of the standard that JAX computes otherwise: signs, signs of zero, dtypes of products."""

import numpy as np
import pytest

import xarrayops as xo

jax = pytest.importorskip("jax")
import jax.numpy as jnp  # noqa: E402


@pytest.mark.parametrize("dtype", ["int8", "int32", "float32", "bfloat16"])
def test_signs_of_every_kind_of_number(dtype):
    np.testing.assert_array_equal(np.asarray(xo.sign(jnp.asarray([-3, 0, 5], dtype)), "float64"), [-1, 0, 1])


def test_a_remainder_of_zero_has_the_sign_of_the_divisor():
    found = xo.remainder(jnp.asarray([4.0, -4.0, 4.0, -4.0]), jnp.asarray([-2.0, 2.0, 2.0, -2.0]))
    np.testing.assert_array_equal(found, np.zeros(4))
    np.testing.assert_array_equal(np.signbit(found), [True, False, False, True])


@pytest.mark.parametrize("verb", ["cumulative_sum", "cumulative_prod", "sum", "prod"])
def test_accumulations_of_unsigned_integers_are_unsigned(verb):
    found = getattr(xo, verb)(jnp.asarray([2, 3], "uint8"), axis=0)
    assert found.dtype == jnp.result_type("uint64" if jax.config.jax_enable_x64 else "uint32")
    assert int(found.reshape(-1)[-1]) == (5 if "sum" in verb else 6)
