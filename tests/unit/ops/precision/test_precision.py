"""Blocks that set the precision of products: their arguments, refusals, explanations, and compiled functions."""

import asyncio
import threading
from contextlib import suppress

import numpy as np
import pytest

import xarrayops as xo
import xarrayops.numpy as names_of_numpy
from xarrayops._core.modes import tables as modes
from xarrayops._surface import EXTRA, OWN, SURFACE
from xarrayops.errors import Unsupported
from xarrayops.plugin.precision import AUTOCAST

X = np.full((2, 3), 1 + 2**-10, dtype=np.float32)


def dtype_of(x):
    return xo.backend(x).functions["dtype_name"](x.dtype)


@pytest.mark.parametrize("accumulate", ["float16", "bfloat16"])
def test_sums_in_half_types_are_refused(accumulate):
    with pytest.raises(Unsupported, match=f'Instead: accumulate="float32", and .* output="{accumulate}"'):
        xo.precision(accumulate=accumulate)


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        ({"compute": "int8"}, TypeError, "xo.precision: dtype must be one of"),
        ({"output": "complex64"}, TypeError, "xo.precision: dtype must be one of"),
        ({"accumulate": None}, TypeError, "xo.precision: accumulate must be one of float32, float64"),
        ({"products": "bf16"}, ValueError, "no products='bf16'"),
    ],
)
def test_wrong_arguments(options, error, text):
    with pytest.raises(error, match=text):
        xo.precision(**options)
    with pytest.raises(TypeError, match=r"xo\.autocast: dtype must be one of float16, bfloat16, or None"):
        xo.autocast("float32")


def test_nested_blocks():
    seen = []
    with xo.precision(compute="float16", output="float16"):
        seen.append(xo.matmul(X, X.T).dtype.name)
        with xo.precision():
            seen.append(xo.matmul(X, X.T).dtype.name)
        with suppress(ZeroDivisionError), xo.precision(output="float64"):
            seen.append(xo.matmul(X, X.T).dtype.name)
            raise ZeroDivisionError
        seen.append(xo.matmul(X, X.T).dtype.name)
    seen.append(xo.matmul(X, X.T).dtype.name)
    assert seen == ["float16", "float32", "float64", "float16", "float32"]
    assert not modes.active()


def test_a_block_belongs_to_its_thread_and_task():
    seen = []

    def note():
        seen.append(xo.matmul(X, X.T).dtype.name)

    async def task(dtype):
        with xo.precision(output=dtype):
            await asyncio.sleep(0)
            note()

    async def both():
        await asyncio.gather(task("float16"), task("float64"))

    with xo.precision(output="float64"):
        thread = threading.Thread(target=note)
        thread.start()
        thread.join()
    asyncio.run(both())
    assert seen == ["float32", "float16", "float64"]


def test_what_follows_the_policy():
    """A policy affects aliases and NumPy's names, but not operators and the functions of a namespace."""
    with xo.precision(output="float16"):
        for product in (xo.linalg.matmul, names_of_numpy.matmul, names_of_numpy.dot):
            assert product(X, X.T).dtype == np.float16
        assert (X @ X.T).dtype == np.float32
        assert xo.array_namespace(X).matmul(X, X.T).dtype == np.float32


def test_an_integer_beside_a_floating_point_operand():
    integers = np.full((3, 2), 2049, dtype=np.int32)
    with xo.precision(compute="float16", output="float64"):
        product = xo.matmul(X, integers)
    np.testing.assert_array_equal(product, np.full((2, 2), (1 + 2.0**-10) * 3 * 2048))
    assert product.dtype == np.float64


def test_exact_products_are_not_affected():
    x = np.full((2, 600), 100, dtype=np.int8)
    with xo.autocast("float16"):
        assert xo.matmul(x, x.T, out_dtype="int32").tolist() == [[6_000_000] * 2] * 2
        assert xo.matmul(x, x.T).dtype == np.int8


def test_under_vmap():
    torch = pytest.importorskip("torch")
    x = torch.full((4, 2, 3), 1 + 2.0**-9)
    with xo.precision(compute="bfloat16", output="float32"):
        y = torch.vmap(lambda a: xo.matmul(a, a.T))(x)
    np.testing.assert_array_equal(y, np.full((4, 2, 2), 3.0))


def test_explain_shows_the_policy_and_the_casts():
    with xo.precision(compute="float16", output="float32"):
        found = xo.explain("matmul", X, X.T)
        assert found.summary.endswith("precision: compute float16, accumulate float32, output float32, products ieee")
        casts = tuple(f"casts operand {i}, float32 -> float16 -> float32" for i in (1, 2))
        assert found.candidates[0].copies == casts
        q = np.ones((1, 1, 2, 4), dtype=np.float16)
        (cast,) = {c.copies for c in xo.explain("attention", q, q, q).candidates if c.name == "numpy:blocked"}
        assert cast[0] == "casts operand 1, float16 -> float32"
        found = xo.explain("einsum", "i,i->", np.arange(3), np.arange(3))
        assert found.summary.endswith("the precision policy does not affect these dtypes")
    with xo.precision(compute="float64", output="float16"):
        copies = xo.explain("vecdot", X, X).candidates[0].copies
        assert copies[-1] == "casts the result, float64 -> float16"
    with xo.autocast("float16"):
        found = xo.explain("sum", X.astype("float16"))
        assert found.candidates[0].copies == ("casts operand 1, float16 -> float32",)
        assert "casts" not in str(xo.explain("sin", X.astype("float16")))
    assert "precision" not in str(xo.explain("matmul", X, X.T))


def test_what_jax_lacks_is_refused_before_the_call():
    jax = pytest.importorskip("jax")
    with jax.enable_x64(False), xo.precision(accumulate="float64"):
        x = jax.numpy.ones((2, 2))
        for call in (xo.matmul, lambda a, b: xo.explain("matmul", a, b)):
            with pytest.raises(Unsupported, match=r"xo\.precision needs float64: .*64-bit types are off"):
                call(x, x)


def test_sparse_operands_are_refused():
    scipy = pytest.importorskip("scipy.sparse")
    s = scipy.csr_array(np.eye(3, dtype=np.float32))
    dense = np.ones((3, 2), dtype=np.float32)
    with xo.autocast("float16"):
        with pytest.raises(Unsupported, match=r"xo.autocast\(None\)"):
            xo.matmul(s, dense)
        with xo.autocast(None):
            assert xo.matmul(s, dense).dtype == np.float32


def test_sparse_tensors_are_refused():
    torch = pytest.importorskip("torch")
    s = torch.eye(3).to_sparse()
    with xo.autocast(), pytest.raises(Unsupported, match=r"xo.autocast\(None\)"):
        xo.matmul(s, torch.ones((3, 2)))


def test_the_recipe_names_functions_that_exist():
    assert {*AUTOCAST} <= {*SURFACE, *EXTRA, *OWN}
    assert {*AUTOCAST.values()} == {"half", "float32"}


CODE = {
    "matmul": lambda x: xo.matmul(x, x),
    "einsum": lambda x: xo.einsum("ij,jk->ik", x, x),
    "attention": lambda x: xo.attention(x[None, None], x[None, None], x[None, None]),
}


@pytest.mark.parametrize("verb", CODE)
@pytest.mark.parametrize("library", ["jax", "torch"])
def test_compiled_functions_follow_the_policy(library, verb):
    native = pytest.importorskip(library)
    if library == "torch":
        native._dynamo.reset()
        compiled = native.compile(CODE[verb], backend="eager", fullgraph=True)
    else:
        compiled = native.jit(CODE[verb])
    x = xo.convert(np.full((4, 4), 1 + 2**-9, dtype=np.float32), library)
    seen = []
    for dtype in (None, "float16", "float64", None):
        with xo.precision(output=dtype) if dtype != "float64" else xo.precision(compute="bfloat16"):
            seen.append((dtype_of(compiled(x)), float(compiled(x)[..., 0, 0].reshape(()))))
            assert seen[-1] == (dtype_of(CODE[verb](x)), float(CODE[verb](x)[..., 0, 0].reshape(())))
    assert seen[0] == seen[3]
    assert len({*seen}) == 3


def test_a_policy_that_a_trace_cannot_follow_raises():
    """A task inside the block, whose context JAX does not have."""
    jax = pytest.importorskip("jax")
    x = jax.numpy.ones((2, 2))
    failures = []

    def run():
        try:
            jax.jit(lambda a: xo.matmul(a, a))(x)
        except RuntimeError as error:
            failures.append(str(error))

    async def in_a_thread():
        with xo.precision(output="float16"):
            await asyncio.to_thread(run)

    asyncio.run(in_a_thread())
    assert len(failures) == 1
    assert "xo.precision would become a constant" in failures[0]


def test_gradients():
    """Gradients have the dtypes of the operands, and the values for the rounded operands."""
    torch = pytest.importorskip("torch")
    x = torch.full((2, 3), 1 + 2.0**-9, requires_grad=True)
    with xo.precision(compute="bfloat16", output="float32"):
        xo.sum(xo.matmul(x, x.T)).backward()
    assert x.grad.dtype == torch.float32
    np.testing.assert_array_equal(x.grad, np.full((2, 3), 4.0))


def test_gradients_under_jit():
    jax = pytest.importorskip("jax")
    x = jax.numpy.full((2, 3), 1 + 2.0**-9, dtype="float32")
    with xo.precision(compute="bfloat16", output="float32"):
        gradient = jax.jit(jax.grad(lambda a: xo.sum(xo.matmul(a, a.T))))(x)
    assert gradient.dtype == np.float32
    np.testing.assert_array_equal(gradient, np.full((2, 3), 4.0))
