"""The kernels of random numbers equal the generic function, around the sizes of blocks and chunks."""

import importlib.util
import pickle

import numpy as np
import pytest

import xarrayops as xo
from xarrayops._generic import random as generic
from xarrayops._host.random import draws
from xarrayops.plugin import distributions
from xarrayops.plugin.random import Draw

DRAWS = (
    *(Draw(kind, dtype) for kind in ("uniform", "normal", "exponential") for dtype in ("float64", "float32")),
    *(Draw("bits", f"uint{bits}") for bits in (8, 16, 32, 64)),
    Draw("bits", "int64"),
    Draw("integers", "int64", -5, 1000),
    Draw("integers", "int64", -(2**63), 2**64 - 5),
    Draw("integers", "uint64", 5, 2**63),
    Draw("integers", "uint64", 0, 2**64),
    Draw("integers", "int8", -128, 256),
    Draw("normal", "float64", loc=1.5, scale=0.3),
    Draw("exponential", "float32", scale=0.3),
)
KEY = (3, 2**32 - 1)


def check(function, draw, shape, device=None, key=KEY):
    want = generic.random_draw(np, draw, KEY, shape, None)
    found = np.asarray(xo.convert(xo.compute(function(draw, key, shape, device)), "numpy"))
    assert found.shape == want.shape
    assert found.dtype == want.dtype == draw.dtype
    assert found.tobytes() == want.tobytes(), draw


def kernel(library, name):
    backend = xo.backend(library)
    return next(function for each, function, _ in backend.kernels("random_draw") if each == name)


@pytest.mark.parametrize("name", ["blocks", "compiled"])
def test_numpy(name, monkeypatch):
    if name == "compiled" and importlib.util.find_spec("numba") is None:
        pytest.skip("numba is not installed")
    monkeypatch.setattr(draws, "COMPILED", 0)
    for draw in DRAWS:
        for shape in ((), (0,), (2, 0, 3), (7,), (2**16 + 1,), (3, 2**16)):
            check(kernel("numpy", name), draw, shape)


@pytest.mark.parametrize("name", ["host", "operator", "one_step"])
def test_torch(name):
    torch = pytest.importorskip("torch")
    for draw in DRAWS:
        for shape in ((), (0,), (2, 0, 3), (7,), (2**16 + 1,), (3, 2**16)):
            key = torch.tensor(KEY, dtype=torch.uint32) if name == "operator" else KEY
            check(kernel("torch", name), draw, shape, torch.device("cpu"), key)


def test_torch_square_roots_are_correctly_rounded():
    torch = pytest.importorskip("torch")
    from xarrayops_backends.torch._random.steps import sqrt

    x = np.random.default_rng(0).random(200_000) * 40 + 2
    np.testing.assert_array_equal(sqrt(torch.from_numpy(x)).numpy(), np.sqrt(x))
    x = x.astype(np.float32)
    np.testing.assert_array_equal(sqrt(torch.from_numpy(x)).numpy(), np.sqrt(x))


@pytest.mark.parametrize("size", ["300B", "4kB", "100kB", "16MB"])
def test_dask_chunks_do_not_matter(size):
    dask = pytest.importorskip("dask")
    pytest.importorskip("dask.array")
    draw = xo.backend("dask").functions["random_draw"]
    with dask.config.set({"array.chunk-size": size, "scheduler": "synchronous"}):
        for shape in ((50, 40, 3), (1, 2001), (0, 3), ()):
            for each in DRAWS[:: 1 if size == "4kB" else 5]:
                check(draw, each, shape)
        rng, want = (xo.random.default_rng(4, backend=name) for name in ("dask", "numpy"))
        np.testing.assert_array_equal(np.asarray(rng.permutation(500)), want.permutation(500))
        np.testing.assert_array_equal(np.asarray(rng.choice(9, (30, 4))), want.choice(9, (30, 4)))


@pytest.mark.parametrize("size", [1000, (1000, 4), (1000, 4, 2), (4, 1000), (), 7])
def test_numbers_like_a_dask_array_have_its_chunks(size):
    """Along the axes of its lengths; the numbers are those of NumPy."""
    da = pytest.importorskip("dask.array")
    x = da.ones((1000, 4), chunks=((300, 600, 100), (3, 1)))
    rng, want = (xo.random.default_rng(4, **where) for where in ({"like": x}, {"backend": "numpy"}))
    expected = {1000: x.chunks[:1], (1000, 4): x.chunks, (1000, 4, 2): (*x.chunks, (2,)), (4, 1000): ((4,), (1000,))}
    for _ in range(2):
        found = rng.random(size)
        assert found.chunks == expected.get(size, ((7,),) if size else ())
        np.testing.assert_array_equal(found.compute(), want.random(size))
        rng = pickle.loads(pickle.dumps(rng)) if size == 7 else rng
    assert xo.sum(rng.normal(x[:, 0], 2.0)).compute() == pytest.approx(xo.sum(want.normal(np.ones(1000), 2.0)))


def test_dask_takes_a_lazy_key():
    pytest.importorskip("dask.array")
    rng = xo.random.default_rng(xo.random.key(5, backend="dask"))
    np.testing.assert_array_equal(np.asarray(rng.normal(size=7)), xo.random.default_rng(5).normal(size=7))


@pytest.mark.parametrize("size", [0, 1, 5, 70_000])
def test_numpy_permutations_equal_a_stable_sort(size):
    found = xo.backend("numpy").functions["random_permutation"](KEY, size, None)
    np.testing.assert_array_equal(found, generic.random_permutation(xo.backend("numpy").namespace, KEY, size, None))


def test_numpy_permutations_with_equal_keys(monkeypatch):
    from xarrayops_backends.numpy import _random

    keys = np.random.default_rng(0).integers(0, 40, 1000)
    monkeypatch.setattr(draws, "fill", lambda out, *args: np.copyto(out, keys))
    np.testing.assert_array_equal(_random.random_permutation(KEY, 1000, None), np.argsort(keys, kind="stable"))


def test_exponents_by_bits_equal_those_by_products():
    for dtype, integer in (("float64", "int64"), ("float32", "int32")):
        form = distributions.FORMATS[dtype]
        least = np.asarray(form.lowest, integer).view(dtype)
        x = np.concatenate([np.random.default_rng(0).random(20_000), np.ldexp(1.0, -np.arange(54))]).astype(dtype)
        x = np.concatenate([x[x > 0], [least, np.nextafter(least, 0), np.nextafter(least, 1)]]).astype(dtype)
        mantissa, exponent = generic.arithmetic(np).frexp(x, form)
        found = distributions.frexp_of_bits(
            x.view(integer), form, lambda bits, dtype=dtype: bits.view(dtype), np.astype
        )
        np.testing.assert_array_equal(found, (mantissa, exponent))
        np.testing.assert_array_equal(np.ldexp(mantissa, exponent.astype(int)), x)
