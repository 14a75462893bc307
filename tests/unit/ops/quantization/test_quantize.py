"""quantize, dequantize and calibrate: the error, the same bits on every library, special values and refusals."""

import shutil

import numpy as np
import pytest

import xarrayops as xo

LIBRARIES = ("numpy", "torch", "jax", "dask")
SLACK = 2.0**-14
"""The roundings of scale, quotient and product, in units of the scale."""


@pytest.fixture(params=LIBRARIES)
def library(request):
    pytest.importorskip({"dask": "dask.array"}.get(request.param, request.param))
    return request.param


def host(x):
    return np.asarray(xo.convert(xo.compute(x), "numpy"))


def parts(q):
    return tuple(None if part is None else host(part) for part in q)


def bits(q):
    return [(part.dtype, part.shape, part.tobytes()) for part in parts(q) if part is not None]


def on(library, q):
    """A quantised array or a calibration on another library."""
    return type(q)(*(None if part is None else xo.convert(part, library, copy=True) for part in q))


OPTIONS = [
    {},
    {"axis": -1},
    {"axis": (0, 1)},
    {"scheme": "asymmetric"},
    {"scheme": "asymmetric", "dtype": "uint8", "axis": 0},
]


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_the_error_is_half_a_scale(options, dtype):
    rng = np.random.default_rng(0)
    for spread in (1e-4, 1.0, 3e4):
        for shift in (0, 5, -5):
            x = ((rng.standard_normal((30, 40)) + shift) * spread / 10).astype(dtype)
            q = xo.quantize(x, **options)
            assert q.scale.dtype == ("float64" if dtype == "float64" else "float32")
            error = np.abs(xo.dequantize(q).astype(np.float64) - x)
            assert np.all(error <= q.scale * (0.5 + SLACK))


def test_zero_is_exact_and_ties_go_to_even():
    x = np.asarray([-127, -2.5, -1.5, -0.5, 0, 0.5, 1.5, 2.5, 127.0])
    q = xo.quantize(x, calibration=xo.Calibration(np.asarray(1.0)))
    assert q.values.tolist() == [-127, -2, -2, 0, 0, 0, 2, 2, 127]
    rng = np.random.default_rng(1)
    for _ in range(50):
        x = rng.standard_normal(9) + rng.uniform(-3, 3)
        x[4] = 0
        assert xo.dequantize(xo.quantize(x, scheme="asymmetric"))[4] == 0
        assert np.array_equal(xo.quantize(-x).values, -xo.quantize(x).values)


def test_true_division():
    """A product with the reciprocal of the scale gives other values."""
    scale = np.float32(0.1)
    x = np.nextafter((np.arange(-127, 127, dtype=np.float32) + np.float32(0.5)) * scale, np.float32(np.inf))
    x = np.concatenate([x, (np.arange(-127, 127, dtype=np.float32) + np.float32(0.5)) * scale])
    assert not np.array_equal(np.rint(x / scale), np.rint(x * (1 / scale)))
    want = np.clip(np.rint(x / scale), -127, 127)
    calibration = xo.Calibration(np.asarray(scale))
    for each in ("numpy", "torch", "jax"):
        pytest.importorskip(each)
        q = xo.quantize(xo.convert(x, each, copy=True), calibration=on(each, calibration))
        assert np.array_equal(host(q.values), want)


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_the_same_bits_on_every_library(library, options):
    rng = np.random.default_rng(2)
    for dtype in ("float16", "float32"):
        x = (rng.standard_normal((61, 70)) * np.exp(rng.uniform(-9, 9, 70))).astype(dtype)
        got = xo.quantize(xo.convert(x, library, copy=True), **options)
        assert bits(got) == bits(xo.quantize(x, **options))
        assert np.array_equal(host(xo.dequantize(got)), xo.dequantize(xo.quantize(x, **options)))


def test_the_same_bits_under_jit():
    """Scales that are constants of the program, arguments, and results of the program."""
    jax = pytest.importorskip("jax")
    x = np.random.default_rng(3).standard_normal((200, 70)).astype(np.float32)
    array = jax.numpy.asarray(x)
    for options in OPTIONS[:1] + OPTIONS[3:]:
        want = bits(xo.quantize(x, **options))
        calibration = xo.calibrate(array, **options)
        assert bits(jax.jit(lambda a, o=options: xo.quantize(a, **o))(array)) == want
        assert bits(jax.jit(lambda a, c=calibration: xo.quantize(a, calibration=c))(array)) == want
        assert bits(jax.jit(lambda a, c: xo.quantize(a, calibration=c))(array, calibration)) == want


@pytest.mark.skipif(
    shutil.which("g++") is None and shutil.which("clang++") is None, reason="inductor needs a C++ compiler"
)
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_the_same_bits_under_the_compiler_of_torch():
    torch = pytest.importorskip("torch")
    x = np.random.default_rng(4).standard_normal((200, 70)).astype(np.float32)
    for options in (OPTIONS[1], OPTIONS[4]):
        compiled = torch.compile(lambda a, o=options: xo.quantize(a, **o), fullgraph=True)
        assert bits(compiled(torch.from_numpy(x))) == bits(xo.quantize(x, **options))


def test_small_and_large_numbers(library):
    """Subnormal numbers, which some libraries flush to zero; and ranges at the end of the dtype."""
    for x in (
        np.asarray([1e-45, -1e-40, 1.1e-38, 0], np.float32),
        np.asarray([3e-19, -1e-17, 2e-38, 0], np.float32),
        np.asarray([3.4e38, -1e38, 5, 0], np.float32),
        np.asarray([3.4e38, -3e38, 5, 0], np.float32),
    ):
        for options in ({}, {"scheme": "asymmetric"}):
            with np.errstate(over="ignore"):
                got = xo.quantize(xo.convert(x, library, copy=True), **options)
                assert bits(got) == bits(xo.quantize(x, **options))
    assert float(host(xo.quantize(xo.convert(np.zeros(3, np.float32), library, copy=True)).scale)) == 2.0**-62


@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")
def test_a_channel_with_nan_or_infinity_is_nan(library):
    x = np.ones((4, 5), np.float32)
    x[1, 0], x[2, 1] = np.nan, -np.inf
    for options in ({}, {"scheme": "asymmetric"}):
        q = xo.quantize(xo.convert(x, library, copy=True), axis=-1, **options)
        y = host(xo.dequantize(q))
        assert np.array_equal(np.isnan(y), np.broadcast_to([True, True, False, False, False], (4, 5)))
        assert np.allclose(y[:, 2:], 1)
    static = on(library, xo.calibrate(np.ones(3, np.float32)))
    y = xo.dequantize(xo.quantize(xo.convert(x, library, copy=True), calibration=static))
    assert np.all(np.isnan(host(y)))
    x[1, 0] = 9
    y = host(xo.dequantize(xo.quantize(xo.convert(x, library, copy=True), calibration=static)))
    assert np.allclose(y, np.clip(x, -1, 1))


def test_a_nan_is_in_its_channel_with_a_calibration():
    x = np.ones((2, 3, 4), np.float32)
    x[0, 1, 2] = np.nan
    calibration = xo.calibrate(np.ones((5, 4), np.float32), axis=-1)
    q = xo.quantize(x, calibration=calibration)
    assert np.array_equal(np.isnan(q.scale), [[[False, False, True, False]]])


def test_empty_arrays(library):
    for shape, axis, scales in (((0, 3), None, ()), ((0, 3), -1, (1, 3)), ((0, 3), 0, (0, 1)), ((), None, ())):
        for scheme in ("symmetric", "asymmetric"):
            x = xo.convert(np.zeros(shape, np.float32), library, copy=True)
            q = xo.quantize(x, axis=axis, scheme=scheme)
            assert (q.values.shape, q.scale.shape) == (shape, scales)
            assert host(xo.dequantize(q)).shape == shape


def test_views():
    x = np.random.default_rng(5).standard_normal((20, 30)).astype(np.float32)
    for view in (x[::-2, ::3], x.T, np.broadcast_to(x[0], (4, 30))):
        view.flags.writeable = False
        assert bits(xo.quantize(view, axis=0)) == bits(xo.quantize(np.ascontiguousarray(view), axis=0))


def test_half_precision_of_other_dtypes():
    pytest.importorskip("ml_dtypes")
    x = xo.astype(np.linspace(-3, 3, 50, dtype=np.float32), "bfloat16")
    assert bits(xo.quantize(x)) == bits(xo.quantize(x.astype(np.float32)))


def test_the_gradient_is_zero():
    torch = pytest.importorskip("torch")
    x = torch.randn(4, 5, requires_grad=True)
    assert not any(part.requires_grad for part in xo.quantize(x, axis=0)[:2])
    jax = pytest.importorskip("jax")
    gradient = jax.grad(lambda a: xo.sum(xo.dequantize(xo.quantize(a))))(jax.numpy.asarray(x.detach().numpy()))
    assert not np.any(gradient)


def test_pytrees():
    jax, torch = pytest.importorskip("jax"), pytest.importorskip("torch")
    x = np.random.default_rng(6).standard_normal((3, 4, 5)).astype(np.float32)
    each = [bits(xo.quantize(part, axis=0, scheme="asymmetric")) for part in x]
    for vmap, convert in ((jax.vmap, jax.numpy.asarray), (torch.vmap, torch.from_numpy)):
        q = vmap(lambda a: xo.quantize(a, axis=0, scheme="asymmetric"))(convert(x))
        assert isinstance(q, xo.Quantized)
        assert [bits(xo.Quantized(*(part[i] for part in q))) for i in range(3)] == each
        assert isinstance(vmap(lambda q: xo.dequantize(q))(q), xo.backend(q.values).module.ARRAY_TYPES)


class TestCalibration:
    x = np.random.default_rng(7).standard_normal((40, 6)).astype(np.float32)

    @pytest.mark.parametrize("options", [o for o in OPTIONS if o.get("axis") != (0, 1)], ids=str)
    def test_of_the_array_itself(self, library, options):
        options = options | ({"axis": 1} if options.get("axis") == 0 else {})
        want = xo.quantize(self.x, **options)
        x = xo.convert(self.x, library, copy=True)
        for samples in (x, [x], (x[:7], x[7:]), iter([x[:7], x[7:]])):
            assert bits(xo.quantize(x, calibration=xo.calibrate(samples, **options))) == bits(want)

    def test_percentiles(self, library):
        x = np.random.default_rng(8).permutation(np.arange(-400, 601)).astype(np.float32)

        def convert(part):
            return xo.convert(part, library, copy=True)

        whole = [convert(x[:300]), convert(x[300:])]
        scale, zero = xo.calibrate(whole, percentile=90)
        assert zero is None
        assert float(host(scale)) == np.float32(500) * np.float32(1 / 127)
        scale, zero = xo.calibrate(whole, scheme="asymmetric", percentile=90)
        assert float(host(scale)) == np.float32(900) * np.float32(1 / 255)
        assert int(host(zero)) == -128 + 99
        rows = xo.calibrate(convert(x[:1000].reshape(2, 500)), axis=0, percentile=80)
        assert host(rows.scale).shape == (2, 1)
        assert np.array_equal(
            host(rows.scale)[:, 0], np.sort(np.abs(x[:1000].reshape(2, 500)), axis=1)[:, 399] * np.float32(1 / 127)
        )
        assert bits(xo.calibrate(whole, percentile=100)) == bits(xo.calibrate(x))

    def test_special_values(self):
        x = np.asarray([1.0, np.nan, 2.0], np.float32)
        assert np.isnan(xo.calibrate(x, percentile=50).scale)
        assert np.isnan(xo.calibrate(x).scale)
        x = np.asarray([1.0, np.inf, 2.0], np.float32)
        assert np.isnan(xo.calibrate(x).scale)
        assert xo.calibrate(x, percentile=60).scale == np.float32(2) * np.float32(1 / 127)
        assert xo.calibrate(np.zeros((0, 2)), percentile=60).scale == 2.0**-510

    def test_batches_of_several_libraries(self):
        torch = pytest.importorskip("torch")
        with pytest.raises(xo.MixedBackends, match=r"xo\.calibrate.*samples\[1\]"):
            xo.calibrate([self.x, torch.from_numpy(self.x)])

    def test_refusals(self):
        for call, error, text in (
            (lambda: xo.calibrate([]), ValueError, "there are no samples"),
            (lambda: xo.calibrate(self.x, percentile=0), ValueError, "above 0 and up to 100, not 0"),
            (lambda: xo.calibrate(self.x, percentile=101), ValueError, "above 0 and up to 100, not 101"),
            (lambda: xo.calibrate([self.x, 3]), xo.BackendNotFound, r"samples\[1\]=3"),
            (lambda: xo.quantize(self.x, calibration=0.1), TypeError, "the result of xo.calibrate, not float"),
            (
                lambda: xo.quantize(self.x, axis=0, calibration=xo.calibrate(self.x)),
                TypeError,
                "Instead: omit them",
            ),
            (
                lambda: xo.quantize(self.x.T, calibration=xo.calibrate(self.x, axis=1)),
                ValueError,
                r"calibration with scale numpy float32 \(1, 6\)\): the scale and the zero must broadcast",
            ),
        ):
            with pytest.raises(error, match=text):
                call()


class TestRefusals:
    x = np.ones((2, 3), np.float32)

    def test_of_quantize(self):
        for call, error, text in (
            (lambda: xo.quantize(self.x, scheme="linear"), ValueError, "scheme must be .*, not 'linear'"),
            (lambda: xo.quantize(self.x, axis=2), ValueError, "axis=2 must be different axes of x"),
            (lambda: xo.quantize(self.x, axis=(0, -2)), ValueError, "must be different axes of x"),
            (lambda: xo.quantize(self.x, dtype="uint8"), xo.Unsupported, "Instead: scheme='asymmetric'"),
            (lambda: xo.quantize(self.x, dtype="int16"), xo.Unsupported, "dtype='int16'"),
            (lambda: xo.quantize(self.x.astype(int)), xo.Unsupported, r"xo.quantize\(numpy int64 \(2, 3\)"),
            (lambda: xo.quantize(self.x + 1j), xo.Unsupported, "x must be float16"),
            (lambda: xo.quantize([1.0]), xo.BackendNotFound, "xo.quantize"),
        ):
            with pytest.raises(error, match=text):
                call()

    def test_of_dequantize(self):
        values, scale = np.ones((2, 3), np.int8), np.float32(1)
        for q, error, text in (
            (values, TypeError, "q must be Quantized, not ndarray"),
            (xo.Quantized(values.astype(int), np.asarray(scale)), ValueError, "the values must be int8 or uint8"),
            (xo.Quantized(values, np.asarray(1)), ValueError, "the scale must be float32 or float64"),
            (xo.Quantized(values, 0.1), xo.BackendNotFound, r"xo.dequantize needs an array.*q\.scale=0.1"),
            (xo.Quantized(values, np.ones((2, 1, 1))), ValueError, "must broadcast to the shape of the values"),
            (
                xo.Quantized(values, np.ones((1, 2))),
                ValueError,
                r"q with values numpy int8 \(2, 3\), scale numpy float64",
            ),
            (xo.Quantized(values, np.ones(()), np.asarray(0)), ValueError, "must have the dtype of the values"),
        ):
            with pytest.raises(error, match=text):
                xo.dequantize(q)
        torch = pytest.importorskip("torch")
        with pytest.raises(xo.MixedBackends, match=r"q\.scale"):
            xo.dequantize(xo.Quantized(values, torch.ones(())))

    def test_explain(self):
        with pytest.raises(xo.Unsupported, match="never chooses among kernels"):
            xo.explain("quantize", self.x)
