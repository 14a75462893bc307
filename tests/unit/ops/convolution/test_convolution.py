"""Convolutions compared with scipy.signal, odd arguments, dtypes, gradients, and memory that must not be read."""

from __future__ import annotations

from importlib.util import find_spec

import numpy as np
import pytest

import xarrayops as xo
from xarrayops._host import convolution as host
from xarrayops.testing._suite.operations.convolution import convolved

LIBRARIES = [name for name in ("numpy", "torch", "jax") if find_spec(name)]
library = pytest.mark.parametrize("library", LIBRARIES)


def of(library, x):
    return xo.convert(x, library, copy=True)


@library
@pytest.mark.parametrize("rank", [1, 2, 3])
def test_integers_are_exact_beside_scipy(library, rank):
    """Sums of small integers have no rounding."""
    signal = pytest.importorskip("scipy.signal")
    random = np.random.default_rng(rank)
    x = random.integers(-8, 8, (2, 3, *(7, 6, 5)[:rank])).astype("float32")
    w = random.integers(-8, 8, (4, 3, *(3, 2, 2)[:rank])).astype("float32")
    got = np.asarray(getattr(xo, f"conv{rank}d")(of(library, x), of(library, w)))
    for n in range(2):
        for o in range(4):
            want = sum(signal.correlate(x[n, c], w[o, c], mode="valid", method="direct") for c in range(3))
            np.testing.assert_array_equal(got[n, o], want)


@library
@pytest.mark.parametrize("layout", ["NCHW", "NHWC"])
def test_random_geometries(library, layout):
    random = np.random.default_rng(0)
    for _ in range(12 if library == "jax" else 60):
        groups = int(random.choice([1, 1, 2, 3]))
        channels, out = groups * random.integers(1, 4), groups * random.integers(1, 7)
        window = random.integers(1, 4, 2)
        options = {
            "stride": tuple(map(int, random.integers(1, 4, 2))),
            "dilation": tuple(map(int, random.integers(1, 3, 2))),
            "padding": [tuple(map(int, pair)) for pair in random.integers(0, 4, (2, 2))],
            "groups": groups,
        }
        x = random.standard_normal((random.integers(1, 6), channels, *random.integers(5, 20, 2)))
        w = random.standard_normal((out, channels // groups, *window))
        want = convolved(x, w, options)
        x = np.moveaxis(x, 1, -1) if layout == "NHWC" else x
        dtype = "float32" if library == "jax" else "float64"
        got = np.asarray(
            xo.conv2d(of(library, x.astype(dtype)), of(library, w.astype(dtype)), layout=layout, **options)
        )
        want = np.moveaxis(want, 1, -1) if layout == "NHWC" else want
        np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-4 if library == "jax" else 1e-11)


@pytest.mark.parametrize("threads", ["1", "3"])
def test_small_blocks_and_threads(monkeypatch, threads):
    monkeypatch.setenv("XARRAYOPS_THREADS", threads)
    monkeypatch.setattr(host, "BLOCK_BYTES", 512)
    random = np.random.default_rng(0)
    x, w = random.standard_normal((1, 4, 19, 7)), random.standard_normal((8, 2, 3, 3))
    options = {"groups": 2, "stride": 2, "padding": 2}
    np.testing.assert_allclose(xo.conv2d(x, w, **options), convolved(x, w, options), rtol=1e-12, atol=1e-12)
    got = xo.conv2d(np.moveaxis(x, 1, -1), w, layout="NHWC", **options)
    np.testing.assert_allclose(np.moveaxis(got, -1, 1), convolved(x, w, options), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("view", [lambda x: x[:, ::-1], lambda x: x[..., ::2], lambda x: x.swapaxes(2, 3)])
def test_views_and_read_only_arrays(view):
    random = np.random.default_rng(0)
    x, w = view(random.standard_normal((2, 3, 8, 8))), random.standard_normal((4, 3, 3, 3))[::-1]
    x.flags.writeable = False
    np.testing.assert_allclose(xo.conv2d(x, w, padding=1), convolved(x, w, {"padding": 1}), rtol=1e-12, atol=1e-12)


def test_nothing_beyond_the_array_is_read():
    """The array lies between NaN."""
    random = np.random.default_rng(0)
    whole = np.full((3, 5, 12, 12), np.nan)
    whole[1:2, 1:4, 2:9, 3:9] = random.standard_normal((1, 3, 7, 6))
    x, w = whole[1:2, 1:4, 2:9, 3:9], random.standard_normal((4, 3, 3, 2))
    for options in ({}, {"padding": 3}, {"stride": 3, "dilation": 2, "padding": [(0, 1), (2, 0)]}):
        np.testing.assert_allclose(xo.conv2d(x, w, **options), convolved(x, w, options), rtol=1e-12, atol=1e-12)


@library
@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "int32", "int8", "float64", "complex64"])
def test_dtypes(library, dtype):
    if library == "jax" and dtype == "float64":
        pytest.skip("the 64-bit types of JAX are off here")
    if library == "numpy" and dtype == "bfloat16":
        pytest.importorskip("ml_dtypes")
    random = np.random.default_rng(0)
    x, w = random.integers(-3, 4, (2, 3, 6, 6)), random.integers(-3, 4, (5, 3, 3, 3))
    want = convolved(x, w, {"padding": 1})
    arrays = (xo.astype(of(library, a.astype("float32")), dtype) for a in (x, w))
    got = xo.conv2d(*arrays, padding=1)
    assert str(got.dtype).endswith(dtype)
    host = xo.astype(got, "float32") if dtype != "complex64" else xo.real(got)
    np.testing.assert_array_equal(np.asarray(xo.convert(host, "numpy")), want)


@library
def test_half_types_are_rounded_once(library):
    """2048 ones: in float16 a sum of ones stays at 2048, and of small numbers it loses most of them."""
    x = of(library, np.full((1, 4096, 1, 1), 2.0**-11, "float16"))
    w = of(library, np.full((4, 4096, 1, 1), 1.0, "float16"))
    assert np.asarray(xo.conv2d(x, w)).ravel().tolist() == [2.0] * 4


@library
@pytest.mark.parametrize("shape", [(0, 3, 5, 5), (2, 3, 5, 5)])
@pytest.mark.parametrize("out", [0, 4])
def test_empty_arrays(library, shape, out):
    x, w = of(library, np.ones(shape, "float32")), of(library, np.ones((out, 3, 2, 2), "float32"))
    assert tuple(xo.conv2d(x, w).shape) == (shape[0], out, 4, 4)
    assert tuple(xo.max_pool2d(x, 2, stride=1).shape) == (shape[0], 3, 4, 4)


@library
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_means_of_half_types(library, dtype):
    x = xo.astype(of(library, np.full((1, 1, 64, 64), 40_000.0 if dtype == "float16" else 3.0, "float32")), dtype)
    assert float(xo.avg_pool2d(x, 64)[0, 0, 0, 0]) == float(x[0, 0, 0, 0])


@library
def test_nan_reaches_its_windows_only(library):
    x = np.ones((1, 1, 5), "float32")
    x[0, 0, 1] = np.nan
    got = np.asarray(xo.conv1d(of(library, x), of(library, np.ones((1, 1, 2), "float32"))))
    assert np.isnan(got).tolist() == [[[True, True, False, False]]]
    got = np.asarray(xo.max_pool1d(of(library, x), 2, stride=1))
    assert np.isnan(got).tolist() == [[[True, True, False, False]]]


@library
def test_an_empty_axis_with_padding(library):
    x, w = of(library, np.ones((1, 1, 0, 5), "float32")), of(library, np.ones((1, 1, 2, 2), "float32"))
    assert not np.asarray(xo.conv2d(x, w, padding=1)).any()
    with pytest.raises(ValueError, match="each window must have an element"):
        xo.max_pool2d(x, 2, padding=1, stride=1)


@library
def test_windows_of_one_element_give_a_copy(library):
    x = of(library, np.arange(32768.0, dtype="float32").reshape(1, 2, 128, 128))
    for pool in (xo.max_pool2d, xo.avg_pool2d):
        got = pool(x, 1, stride=1)
        np.testing.assert_array_equal(np.asarray(got), np.asarray(x))
        assert library in ("jax", "dask") or not xo.shares_memory(got, x)


@library
def test_pooling_of_integers(library):
    x = of(library, np.asarray([[[-5, -3, -7]]], "int32"))
    assert xo.max_pool1d(x, 2, stride=1, padding=1).tolist() == [[[-5, -3, -3, -7]]]
    with pytest.raises(TypeError, match="floating-point"):
        xo.avg_pool1d(x, 2)


WRONG = [
    (lambda x, w: xo.conv2d(x[0, ...], w), ValueError, "must have 4 axes"),
    (lambda x, w: xo.conv2d(x, w, groups=2), ValueError, "groups=2 does not divide"),
    (
        lambda x, w: xo.conv2d(x, w[:, :2, ...]),
        ValueError,
        "the weights take 2 channels in each of 1 groups, and x has 3",
    ),
    (lambda x, w: xo.conv2d(x, w, w[0, 0, 0, :]), ValueError, r"the bias must have shape \(4,\)"),
    (lambda x, w: xo.conv2d(x, w, stride=0), ValueError, "stride must be 2 integers of at least 1"),
    (lambda x, w: xo.conv2d(x, w, padding=(1, 2, 3)), ValueError, "padding must be 2 integers"),
    (lambda x, w: xo.conv2d(x, w, padding="full"), ValueError, "the names are 'same' and 'valid'"),
    (lambda x, w: xo.conv2d(x, w, padding=[(1, -1), (0, 0)]), ValueError, "pairs of integers of at least 0"),
    (lambda x, w: xo.conv2d(x, w, dilation=5), ValueError, r"a window covers \(11, 11\) elements"),
    (lambda x, w: xo.conv2d(x, w, layout="CHWN"), ValueError, "layout is 'CHWN', not 'NCHW', 'NHWC' or 'NCHW16c'"),
    (lambda x, w: xo.conv2d(x, xo.astype(w, "float16")), TypeError, "the dtypes differ"),
    (lambda x, w: xo.max_pool2d(x, 2, padding=2), ValueError, "padding must be smaller than the window"),
    (lambda x, w: xo.max_pool2d(x, 9), ValueError, "a window covers"),
    (lambda x, w: xo.max_pool2d(x, 0), ValueError, "window must be 2 integers"),
]


@library
@pytest.mark.parametrize(("call", "error", "message"), WRONG)
def test_wrong_arguments(library, call, error, message):
    x, w = of(library, np.ones((2, 3, 6, 6), "float32")), of(library, np.ones((4, 3, 3, 3), "float32"))
    with pytest.raises(error, match=message):
        call(x, w)


@pytest.mark.parametrize("library", [name for name in LIBRARIES if name != "numpy"])
def test_gradients(library):
    random = np.random.default_rng(0)
    x, w = (of(library, random.standard_normal(shape).astype("float32")) for shape in ((1, 2, 5, 5), (3, 2, 3, 3)))
    for layout in ("NCHW", "NHWC"):
        given = x if layout == "NCHW" else xo.permute_dims(x, (0, 2, 3, 1))
        loss = lambda x, w, layout=layout: xo.sum(xo.conv2d(x, w, padding=1, layout=layout))
        of_x, of_w = xo.grad(loss, argnums=(0, 1))(given, w)
        step = 1e-2
        moved = xo.at(w)[1, 1, 0, 2].add(step)
        slope = (float(loss(given, moved)) - float(loss(given, w))) / step
        assert abs(float(of_w[1, 1, 0, 2]) - slope) < 1e-2
        assert tuple(of_x.shape) == tuple(given.shape)
    assert xo.grad(lambda x: xo.sum(xo.max_pool2d(x, 2)))(x).shape == x.shape


@pytest.mark.parametrize("layout", ["NCHW", "NHWC", "NCHW16c"])
@pytest.mark.parametrize("engine", ["torch", "jax"])
def test_engines_serve_convolutions_and_pooling(engine, layout, monkeypatch):
    pytest.importorskip(engine)
    functions = xo.backend(of(engine, np.zeros(1, "float32"))).functions
    used = []

    def watched(hook):
        own = functions[hook]
        return lambda *args: used.append(hook) or own(*args)

    for hook in ("convolution", "pooling"):
        monkeypatch.setitem(functions, hook, watched(hook))
    random = np.random.default_rng(0)
    x = xo.relayout(random.standard_normal((2, 16, 6, 6), np.float32), "NCHW -> " + layout)
    w = random.standard_normal((16, 16, 3, 3), np.float32)
    options = {"layout": layout}
    want = xo.conv2d(x, w, padding=1, **options), xo.max_pool2d(x, 2, **options), xo.avg_pool2d(x, 2, **options)
    assert not used
    with xo.engines(engine):
        got = xo.conv2d(x, w, padding=1, **options), xo.max_pool2d(x, 2, **options), xo.avg_pool2d(x, 2, **options)
    assert used == ["convolution", "pooling", "pooling"]
    for ours, theirs in zip(want, got, strict=True):
        assert type(theirs) is np.ndarray
        np.testing.assert_allclose(theirs, ours, rtol=1e-4, atol=1e-4)


def test_explain_names_the_kernels_and_the_engines():
    pytest.importorskip("torch")
    x, w = np.ones((1, 16, 4, 4), np.float32), np.ones((8, 16, 3, 3), np.float32)
    assert xo.explain("conv2d", x, w).chosen == "numpy:blocks"
    assert xo.explain("conv2d", x.astype("int32"), w.astype("int32")).chosen == "numpy:generic"
    with xo.engines("torch"):
        assert xo.explain(xo.conv2d, x, w, padding=1).chosen == "torch:native"
        assert xo.explain("max_pool2d", x, 2).chosen == "torch:native"
    blocked = xo.explain("conv2d", xo.relayout(x, "NCHW -> NCHW16c"), w, layout="NCHW16c")
    assert blocked.candidates[0].copies == ("x: copy", "result: copy")
    with pytest.raises(ValueError, match="does not divide"):
        xo.explain("conv2d", x, w, groups=3)


@library
@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_means_of_windows_near_the_largest_number_are_finite(library, dtype):
    x = np.full((1, 1, 4, 4), 3e38)
    x[..., 2:, 2:] = 1e-30  # a scale for all windows would make it 0
    made = xo.astype(of(library, x.astype("float32")), getattr(xo, dtype))
    got = np.asarray(xo.convert(xo.astype(xo.avg_pool2d(made, 2), xo.float32), "numpy"))
    np.testing.assert_allclose(got[0, 0], [[3e38, 3e38], [3e38, 1e-30]], rtol=1e-2)
    padded = xo.astype(xo.avg_pool2d(made, 3, stride=1, padding=1), xo.float32)
    assert xo.all(xo.isfinite(padded))


@library
def test_means_of_small_numbers(library):
    x = np.full((1, 1, 64, 64), 2e-38, "float32")  # a 64th of it is subnormal
    got = np.asarray(xo.convert(xo.avg_pool2d(of(library, x), 32), "numpy"))
    np.testing.assert_allclose(got, np.full((1, 1, 2, 2), 2e-38), rtol=1e-5)


@library
def test_means_of_windows_with_infinity(library):
    x = np.asarray([[[np.inf, 1.0, 2.0, 3e38, 3e38, np.nan]]], dtype="float32")
    got = np.asarray(xo.convert(xo.avg_pool1d(of(library, x), 2), "numpy"))
    np.testing.assert_array_equal(got, np.asarray([[[np.inf, (2.0 + np.float32(3e38)) / 2, np.nan]]], "float32"))
