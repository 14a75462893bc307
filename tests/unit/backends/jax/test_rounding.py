"""Quotients and square roots of float32, rounded once: what GPUs compute in float64 has the bits of IEEE division."""

import numpy as np
import pytest

jax = pytest.importorskip("jax")
rounding = pytest.importorskip("xarrayops_backends.jax._rounding")
jnp = jax.numpy


@pytest.fixture(params=[False, True], ids=["x64 off", "x64 on"], autouse=True)
def x64(request):
    with jax.enable_x64(request.param):
        yield


def operands():
    rng = np.random.default_rng(2)
    bits = rng.integers(0, 2**32, (2, 100_000), dtype=np.uint32).view("float32")
    x = np.concatenate([bits, rng.normal(size=(2, 100_000)).astype("float32")], axis=1)
    # XLA flushes subnormal numbers on CPUs
    with np.errstate(all="ignore"):
        usual = ~np.any(np.abs(np.stack([*x, x[0] / x[1]])) < 2.0**-126, axis=0) | (x == 0).any(0)
    return x[0][usual], x[1][usual]


def test_quotients():
    x, y = operands()
    found = jax.jit(lambda *given: rounding._in_double(jax.lax.div, *given))(x, y)
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(np.asarray(found), x / y)
    np.testing.assert_array_equal(np.asarray(rounding.quotient(x, y)), np.asarray(found))


def test_roots():
    x = np.abs(operands()[0])
    x = x[np.isfinite(x) & (x > 2.0**-126)]
    found = jax.jit(lambda x: rounding._in_double(jax.lax.sqrt, x))(x)
    np.testing.assert_array_equal(np.asarray(found), np.sqrt(x))


def test_only_programs_for_gpus_use_float64():
    x = jnp.ones(3, "float32")
    for platform, uses in {"cpu": False, "cuda": True, "rocm": True, "tpu": False}.items():
        program = jax.export.export(jax.jit(rounding.quotient), platforms=[platform])(x, x).mlir_module()
        assert ("f64" in program) == uses, platform
