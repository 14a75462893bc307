"""JAX's precision of products: the precision that XLA gets, and the user's option, which does not change."""

import os
import random
import threading
from contextlib import nullcontext, suppress

import pytest

jax = pytest.importorskip("jax", exc_type=ImportError)

import xarrayops as xo  # noqa: E402
from xarrayops.errors import Unsupported  # noqa: E402

OPTIONS = (None, "default", "high", "highest", "bfloat16", "tensorfloat32", "float32")
BLOCKS = (
    {"products": "ieee"},
    {"products": "tf32"},
    {"compute": "bfloat16"},
    {"compute": "float16", "output": "float32"},
)


@pytest.fixture(autouse=True)
def option():
    before = jax.config.jax_default_matmul_precision
    yield
    jax.config.update("jax_default_matmul_precision", before)


def state():
    return jax.config.jax_default_matmul_precision, dict(os.environ)


def run_blocks(choose, x, depth=0):
    with suppress(ZeroDivisionError, TypeError, ValueError), xo.precision(**choose.choice(BLOCKS)):
        xo.matmul(x, x)
        own = jax.default_matmul_precision(choose.choice(OPTIONS[1:])) if choose.random() < 0.3 else nullcontext()
        with own:
            inside = state()
            xo.matmul(x, x)
            assert state() == inside
        if choose.random() < 0.3:
            xo.matmul(x, x[:2])  # fails in JAX
        if depth < 2 and choose.random() < 0.4:
            run_blocks(choose, x, depth + 1)
        if choose.random() < 0.3:
            raise ZeroDivisionError


def test_the_option_of_the_user_is_as_it_was():
    choose, x = random.Random(0), jax.numpy.ones((3, 3))
    for _ in range(60):
        jax.config.update("jax_default_matmul_precision", choose.choice(OPTIONS))
        before = state()
        threads = [threading.Thread(target=run_blocks, args=(random.Random(i), x)) for i in range(choose.randrange(2))]
        for thread in threads:
            thread.start()
        run_blocks(choose, x)
        for thread in threads:
            thread.join()
        assert state() == before


@pytest.mark.parametrize("user", [None, "bfloat16"])
@pytest.mark.parametrize(
    ("policy", "expected"),
    [
        ({"products": "ieee"}, "HIGHEST"),
        ({"products": "tf32"}, "HIGH"),
        ({"compute": "bfloat16", "output": "float32"}, "HIGH"),  # exact, because operands have 8 significant bits
    ],
)
@pytest.mark.parametrize("verb", ["matmul", "einsum", "tensordot", "vecdot", "attention"])
def test_what_xla_is_asked_for(verb, policy, expected, user):
    jax.config.update("jax_default_matmul_precision", user)
    x = jax.numpy.ones((1, 1, 4, 4), dtype="float32")
    calls = {
        "einsum": lambda a: xo.einsum("abij,abjk->abik", a, a),
        "tensordot": lambda a: xo.tensordot(a, a, axes=((3,), (2,))),
        "attention": lambda a: xo.attention(a, a, a),
    }
    with xo.precision(**policy):
        program = str(jax.make_jaxpr(calls.get(verb, lambda a: getattr(xo, verb)(a, a)))(x))
    asked = {
        line.rpartition("Precision.")[2].split(")")[0].strip() for line in program.splitlines() if "Precision." in line
    }
    if "compute" in policy and verb == "attention":  # its weights are not of a half type
        expected = "HIGHEST"
    assert asked == {expected}
    assert ("optimization_barrier" in program) == ("compute" in policy)


def test_an_environment_that_forces_tf32(monkeypatch):
    monkeypatch.setenv("NVIDIA_TF32_OVERRIDE", "1")
    x = jax.numpy.ones((2, 2))
    with xo.precision(), pytest.raises(Unsupported, match="NVIDIA_TF32_OVERRIDE=1"):
        xo.matmul(x, x)
