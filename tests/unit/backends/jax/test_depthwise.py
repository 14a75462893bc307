"""Depthwise convolutions of arrays on a CPU, which are sums of slices."""

from __future__ import annotations

import numpy as np
import pytest

import xarrayops as xo

jax = pytest.importorskip("jax")
convolution = pytest.importorskip("xarrayops_backends.jax._convolution")

SPACES = {"conv1d": (1400,), "conv2d": (40, 36), "conv3d": (9, 10, 16)}
OPTIONS = [{}, {"stride": 2, "padding": 1}, {"dilation": 2, "padding": "same"}, {"stride": 3, "padding": 2}]


@pytest.fixture
def served(monkeypatch):
    """The calls that sums of slices serve."""
    calls, kernel = [], convolution._depthwise
    monkeypatch.setattr(convolution, "_depthwise", lambda *given: calls.append(given) or kernel(*given))
    return calls


def by_definition(x, weights, groups, *, stride=1, padding=0, dilation=1):
    """The sum over each window in double precision; the kernels have 3 elements along each axis."""
    axes = tuple(range(2, x.ndim))
    pair = (dilation, dilation) if padding == "same" else (padding, padding)
    padded = np.pad(x.astype("complex128"), [(0, 0), (0, 0), *[pair] * len(axes)])
    spread = np.lib.stride_tricks.sliding_window_view(padded, (2 * dilation + 1,) * len(axes), axes)
    windows = spread[(..., *(slice(None, None, stride),) * len(axes), *(slice(None, None, dilation),) * len(axes))]
    each = np.repeat(windows, weights.shape[0] // groups, axis=1)
    shape = (weights.shape[0], *(1,) * len(axes), *weights.shape[2:])
    return (each * weights.astype("complex128").reshape(shape)).sum(tuple(range(-len(axes), 0)))


def arrays(verb, repeats, dtype):
    """An array and the weights of a depthwise convolution."""
    random = np.random.default_rng(0)
    x = random.standard_normal((2, 6, *SPACES[verb]))
    w = random.standard_normal((6 * repeats, 1, *(3,) * len(SPACES[verb])))
    if dtype == "complex64":
        x, w = x + 1j * x[::-1], w * (1 - 2j)
    return (
        jax.numpy.asarray(each.astype("complex64" if dtype == "complex64" else "float32")).astype(dtype)
        for each in (x, w)
    )


@pytest.mark.parametrize("verb", SPACES)
@pytest.mark.parametrize("repeats", [1, 3])
@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16", "complex64"])
def test_as_by_definition(verb, repeats, options, dtype, served):
    x, w = arrays(verb, repeats, dtype)
    got = getattr(xo, verb)(x, w, groups=6, **options)
    assert got.dtype == dtype
    assert len(served) == 1
    want = by_definition(np.asarray(x), np.asarray(w), 6, **options)
    eps = {"float16": 2**-10, "bfloat16": 2**-7}.get(dtype, 2**-23)
    bound = 4 * eps * by_definition(np.abs(np.asarray(x)), np.abs(np.asarray(w)), 6, **options).real
    assert (np.abs(np.asarray(got).astype("complex128") - want) <= bound).all()
    last = "N" + "DHW"[-len(SPACES[verb]) :] + "C"
    other = getattr(xo, verb)(jax.numpy.moveaxis(x, 1, -1), w, groups=6, layout=last, **options)
    assert (np.abs(np.moveaxis(np.asarray(other), -1, 1).astype("complex128") - want) <= bound).all()


def test_what_xla_serves(served):
    x, w = arrays("conv2d", 1, "float32")
    jax.jit(lambda x, w: xo.conv2d(x, w, groups=6))(x, w)
    xo.conv2d(x, jax.numpy.concatenate([w] * 9), groups=6)
    xo.conv2d(x, jax.numpy.ones((6, 2, 3, 3), "float32"), groups=3)
    xo.conv2d(x, jax.numpy.ones((6, 1, 9, 9), "float32"), groups=6)
    assert not served


def test_strict_promotion(served):
    with jax.numpy_dtype_promotion("strict"):
        xo.conv2d(*arrays("conv2d", 1, "bfloat16"), groups=6)
    assert served


@pytest.mark.parametrize("argument", [0, 1])
def test_gradients(argument):
    """Those of XLA, next to differences of the values that slices give."""
    given = [*arrays("conv2d", 2, "float32")]

    def loss(value):
        x, w = (value if place == argument else each for place, each in enumerate(given))
        return xo.sum(xo.square(xo.conv2d(x, w, groups=6)))

    gradient, step = xo.grad(loss)(given[argument]), 1e-2 * given[argument]
    around = [float(loss(given[argument] + sign * step)) for sign in (1, -1)]
    assert (around[0] - around[1]) / 2 == pytest.approx(float((gradient * step).sum()), rel=1e-4)
