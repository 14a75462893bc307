"""qmatmul: the same bits on every library, the error, and refusals."""

import shutil

import numpy as np
import pytest

import xarrayops as xo

LIBRARIES = ("numpy", "torch", "jax", "dask")
KINDS = [
    (None, {"axis": -1}),
    ({}, {"axis": -1, "scheme": "asymmetric"}),
    ({"scheme": "asymmetric", "dtype": "uint8"}, {"axis": -1}),
    ({"scheme": "asymmetric", "axis": 0}, {"scheme": "asymmetric", "dtype": "uint8"}),
]
"""The options of the activations, None for dynamic quantisation, and of the weights."""


@pytest.fixture(params=LIBRARIES)
def library(request):
    pytest.importorskip({"dask": "dask.array"}.get(request.param, request.param))
    return request.param


def host(x):
    return np.asarray(xo.convert(xo.compute(x), "numpy"))


def samples(m, k, n, seed=0, dtype=np.float32):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((m, k)).astype(dtype) + 1, (rng.standard_normal((k, n)) * rng.random(n)).astype(dtype)


def rows(of_x):
    """The options of `xo.quantize` that are equivalent to dynamic quantisation."""
    return {"axis": 0} if of_x is None else of_x


def product(x, w, of_x, of_w):
    return xo.qmatmul(x if of_x is None else xo.quantize(x, **of_x), xo.quantize(w, **of_w))


def exact(x, w):
    """The product of quantised arrays, in Python's integers and one rounding after another."""
    a, b = (
        [[int(v) for v in row] for row in q.values.astype(int) - (0 if q.zero is None else q.zero.astype(int))]
        for q in (x, w)
    )
    sums = [[sum(p * q for p, q in zip(row, column, strict=True)) for column in zip(*b, strict=True)] for row in a]
    return np.asarray(sums).astype(np.float32) * (x.scale * w.scale)


@pytest.mark.parametrize(("of_x", "of_w"), KINDS)
def test_the_definition(of_x, of_w):
    x, w = samples(7, 33, 5)
    q, v = xo.quantize(x, **rows(of_x)), xo.quantize(w, **of_w)
    assert xo.qmatmul(q, v).tobytes() == exact(q, v).tobytes()
    assert product(x, w, of_x, of_w).tobytes() == exact(q, v).tobytes()


@pytest.mark.parametrize(("of_x", "of_w"), KINDS)
def test_the_same_bits_on_every_library(library, of_x, of_w):
    for seed, shape in enumerate(((1, 1, 1), (23, 1100, 17), (64, 100, 130))):
        x, w = samples(*shape, seed)
        a, b = (xo.convert(each, library, copy=True) for each in (x, w))
        assert host(product(a, b, of_x, of_w)).tobytes() == product(x, w, of_x, of_w).tobytes()


def test_the_same_bits_under_jit():
    jax = pytest.importorskip("jax")
    x, w = samples(50, 70, 40)
    a, b = jax.numpy.asarray(x), jax.numpy.asarray(w)
    for of_x, of_w in KINDS:
        want = product(x, w, of_x, of_w).tobytes()
        weights = xo.quantize(b, **of_w)
        assert host(jax.jit(lambda a, b, o=(of_x, of_w): product(a, b, *o))(a, b)).tobytes() == want
        captured = jax.jit(lambda a, w=weights, o=of_x: xo.qmatmul(a if o is None else xo.quantize(a, **o), w))
        assert host(captured(a)).tobytes() == want


@pytest.mark.skipif(
    shutil.which("g++") is None and shutil.which("clang++") is None, reason="inductor needs a C++ compiler"
)
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_the_same_bits_under_the_compiler_of_torch():
    torch = pytest.importorskip("torch")
    x, w = samples(50, 70, 40)
    for of_x, of_w in KINDS[::2]:
        compiled = torch.compile(lambda a, b, o=(of_x, of_w): product(a, b, *o), fullgraph=True)
        want = product(x, w, of_x, of_w).tobytes()
        assert compiled(torch.from_numpy(x), torch.from_numpy(w)).numpy().tobytes() == want


@pytest.mark.parametrize(("of_x", "of_w"), KINDS)
def test_the_error(of_x, of_w):
    for seed in range(5):
        x, w = samples(20, 60, 30, seed)
        sx = xo.quantize(x, **rows(of_x)).scale.astype(np.float64)
        sw = xo.quantize(w, **of_w).scale.astype(np.float64)
        wide = x.astype(np.float64), w.astype(np.float64)
        sums = np.abs(wide[0]).sum(axis=1, keepdims=True), np.abs(wide[1]).sum(axis=0, keepdims=True)
        bound = (sw * sums[0] + sx * sums[1] + 60 * sx * sw / 2) / 2
        bound = bound + 2.0**-13 * 60 * (np.abs(x).max() + sx) * (np.abs(w).max() + sw)
        error = np.abs(product(x, w, of_x, of_w) - wide[0] @ wide[1])
        assert np.all(error <= bound)
        assert error.max() >= bound.max() / 1000


def test_a_row_depends_on_itself_alone(library):
    x, w = samples(6, 40, 9)
    weights = xo.quantize(xo.convert(w, library, copy=True), axis=-1)
    whole = host(xo.qmatmul(xo.convert(x, library, copy=True), weights))
    for i in range(6):
        assert np.array_equal(host(xo.qmatmul(xo.convert(x[i : i + 1], library, copy=True), weights))[0], whole[i])
        assert np.array_equal(host(xo.qmatmul(xo.convert(x[i], library, copy=True), weights)), whole[i])


def test_dtypes_of_results():
    x, w = samples(3, 4, 5)
    for first, second, want in (
        ("float16", "float32", "float32"),
        ("float64", "float32", "float64"),
        ("float32", "float64", "float64"),
        ("float32", "float16", "float32"),
    ):
        assert xo.qmatmul(x.astype(first), xo.quantize(w.astype(second), axis=-1)).dtype == want


def test_nan_is_in_its_row_and_column(library):
    x, w = samples(3, 4, 5)
    x[1, 2], w[0, 3] = np.nan, np.inf
    got = host(product(xo.convert(x, library, copy=True), xo.convert(w, library, copy=True), None, {"axis": -1}))
    want = np.zeros((3, 5), bool)
    want[1], want[:, 3] = True, True
    assert np.array_equal(np.isnan(got), want)


def test_chunks_of_dask():
    da = pytest.importorskip("dask.array")
    x, w = samples(40, 300, 20)
    for of_x, of_w in KINDS:
        y = product(da.from_array(x, chunks=(11, 70)), da.from_array(w, chunks=(90, 7)), of_x, of_w)
        assert isinstance(y, da.Array)
        assert np.array_equal(y.compute(), product(x, w, of_x, of_w))
    near = x[:, 0] > 1
    got = product(da.from_array(x, chunks=11)[da.from_array(near, chunks=11)], da.from_array(w), *KINDS[0])
    assert np.array_equal(got.compute(), product(x[near], w, *KINDS[0]))


def test_the_greatest_sums():
    """Values and zeros at opposite ends: the terms are as large as they can be."""
    for zeros, terms in ((1, 65535), (2, 32767)):
        x = xo.Quantized(np.full((1, terms), -128, np.int8), np.asarray(1.0), np.asarray(127, np.int8))
        w = xo.Quantized(np.full((terms, 1), -128, np.int8), np.asarray(1.0), np.asarray(127, np.int8))
        w = w if zeros == 2 else w._replace(zero=None)
        assert xo.qmatmul(x, w) == terms * 255 * (255 if zeros == 2 else 128)
        longer = [q._replace(values=np.full(s, -128, np.int8)) for q, s in ((x, (1, terms + 1)), (w, (terms + 1, 1)))]
        with pytest.raises(OverflowError, match=rf"xo.qmatmul\(x with values numpy int8 \(1, {terms + 1}\).*cannot"):
            xo.qmatmul(*longer)


def test_the_gradient_is_zero():
    torch = pytest.importorskip("torch")
    x, w = samples(3, 4, 5)
    weights = xo.quantize(torch.nn.Parameter(torch.from_numpy(w)), axis=-1)
    assert not xo.qmatmul(torch.from_numpy(x).requires_grad_(), weights).requires_grad
    jax = pytest.importorskip("jax")
    weights = xo.quantize(jax.numpy.asarray(w), axis=-1)
    assert not np.any(jax.grad(lambda a: xo.sum(xo.qmatmul(a, weights)))(jax.numpy.asarray(x)))


def test_vectorised():
    jax, torch = pytest.importorskip("jax"), pytest.importorskip("torch")
    x, w = samples(12, 20, 5)
    want = xo.qmatmul(x, xo.quantize(w, axis=-1)).reshape(3, 4, 5)
    for vmap, convert in ((jax.vmap, jax.numpy.asarray), (torch.vmap, torch.from_numpy)):
        weights = xo.quantize(convert(w), axis=-1)
        assert np.array_equal(vmap(lambda a, w=weights: xo.qmatmul(a, w))(convert(x.reshape(3, 4, 20))), want)


class TestRefusals:
    x, w = samples(3, 4, 5)

    def test_operands(self):
        weights = xo.quantize(self.w, axis=-1)
        for call, error, text in (
            (lambda: xo.qmatmul(self.x, self.w), TypeError, "w must be Quantized, not ndarray. Instead: xo.quantize"),
            (
                lambda: xo.qmatmul(self.x.T, weights),
                ValueError,
                r"xo.qmatmul\(numpy float32 \(4, 3\).*contracted axes have different lengths",
            ),
            (lambda: xo.qmatmul(self.x[0, 0], weights), ValueError, "an operand is 0-d"),
            (lambda: xo.qmatmul(2.0, weights), xo.BackendNotFound, "xo.qmatmul needs an array.*x=2.0"),
            (lambda: xo.qmatmul(None, weights), xo.BackendNotFound, "xo.qmatmul needs an array.*x=None"),
            (
                lambda: xo.qmatmul(self.x, xo.quantize(self.w, axis=0)),
                ValueError,
                "w has several scales along the contracted axis",
            ),
            (lambda: xo.qmatmul(xo.quantize(self.x, axis=1), weights), ValueError, "x has several scales along"),
            (lambda: xo.qmatmul(self.x, xo.quantize(self.w[:, 0], axis=0)), ValueError, "w has several scales"),
            (lambda: xo.qmatmul(self.x.astype(int), weights), xo.Unsupported, "x must be float16"),
        ):
            with pytest.raises(error, match=text):
                call()

    def test_libraries(self):
        torch = pytest.importorskip("torch")
        with pytest.raises(xo.MixedBackends, match="convert"):
            xo.qmatmul(torch.from_numpy(self.x), xo.quantize(self.w, axis=-1))

    def test_explain_shows_the_kernel_of_the_sums(self):
        weights = xo.quantize(self.w, axis=-1)
        assert xo.explain("qmatmul", self.x, weights).chosen == "numpy:matmul_int32"
        assert xo.explain(xo.qmatmul, xo.quantize(self.x), weights).chosen == "numpy:matmul_int32"
        with pytest.raises(ValueError, match="contracted axes have different lengths"):
            xo.explain("qmatmul", self.x.T, weights)


def test_precision_rounds_the_activations_and_the_result():
    ml_dtypes = pytest.importorskip("ml_dtypes")
    random = np.random.default_rng(7)
    x, w = random.standard_normal((5, 40)).astype(np.float32), random.standard_normal((40, 3)).astype(np.float32)
    q = xo.quantize(w, axis=-1)
    rounded = x.astype(ml_dtypes.bfloat16).astype(np.float32)
    plain = xo.qmatmul(xo.quantize(x, axis=-2), q)
    with xo.precision(compute="bfloat16", output="bfloat16"):
        found, static = xo.qmatmul(x, q), xo.qmatmul(xo.quantize(x, axis=-2), q)
        assert "casts operand 1, float32 -> bfloat16" in str(xo.explain("qmatmul", x, q))
    assert found.tobytes() == xo.qmatmul(rounded, q).astype(ml_dtypes.bfloat16).tobytes()
    assert static.tobytes() == plain.tobytes()
    with xo.autocast("float16"):
        assert xo.qmatmul(x, q).dtype == np.float16
