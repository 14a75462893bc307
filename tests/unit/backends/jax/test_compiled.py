"""Generic twins that JAX compiles as a whole."""

import os
import subprocess
import sys

import numpy as np
import pytest

import xarrayops as xo

jax = pytest.importorskip("jax")
compiled = pytest.importorskip("xarrayops_backends.jax._compiled")
RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(4, 6))


@pytest.fixture(autouse=True)
def double_precision():
    with jax.enable_x64(True):
        yield


@pytest.fixture
def compilations():
    """The number of times that a function was compiled in this test."""
    traced = []

    def counting(function):
        def counted(*args, **options):
            traced.append(args)
            return function(*args, **options)

        return compiled._compiled(counted)

    return traced, counting


OPTIONS = (
    ("trapezoid", (X,), "dx", (0.25, 0.5)),
    ("isclose", (X, X + 1e-3), "rtol", (0.0, 1e-2)),
    ("isclose", (X, X + 1e-3), "atol", (0.0, 1e-2)),
    ("nan_to_num", (np.where(X > 0, X, np.nan),), "nan", (-1.0, 2.5)),
    ("nan_to_num", (np.where(X > 0, X, np.inf),), "posinf", (1.0, 2.0)),
)


@pytest.mark.parametrize(("verb", "args", "option", "values"), OPTIONS)
def test_numbers_are_no_constants_of_the_code(compilations, verb, args, option, values):
    """A loop over numbers compiles once."""
    traced, counting = compilations
    function = counting(xo.backend("jax").functions[verb].__wrapped__)
    for value in values:
        got = function(*map(jax.numpy.asarray, args), **{option: value})
        np.testing.assert_allclose(got, getattr(np, verb)(*args, **{option: value}), rtol=1e-12)
    assert len(traced) == 1


def test_ranges_of_histograms_are_no_constants_of_the_code(compilations):
    traced, counting = compilations
    histogram = compiled._between_edges(counting(xo.backend("jax").functions["histogram"].__wrapped__.__wrapped__))
    for limits in ((-1, 1), (-2.5, 0.5), (0, 0), (np.float32(-1), np.int64(2))):
        counts, edges = histogram(jax.numpy.asarray(X), 5, range=limits)
        want = np.histogram(X, 5, limits)
        np.testing.assert_array_equal(counts, want[0])
        np.testing.assert_allclose(edges, want[1], rtol=1e-15, atol=1e-15)
    assert len(traced) == 1


def test_histograms_of_any_shape():
    for host in (np.asarray(0.5), np.zeros((0, 3)), X, X > 0, RANDOM.integers(-5, 5, (3, 4))):
        for args in ((), (3,), (np.asarray([-1.0, 0.0, 2.0]),)):
            got = xo.histogram(jax.numpy.asarray(host), *(jax.numpy.asarray(a) if np.ndim(a) else a for a in args))
            want = np.histogram(host.astype(float), *args)
            np.testing.assert_array_equal(got[0], want[0])
            np.testing.assert_allclose(got[1], want[1], rtol=1e-14, atol=1e-15)
    for wrong in (0, -1):
        with pytest.raises(ValueError, match="not positive"):
            xo.histogram(jax.numpy.asarray(X), wrong)
    with pytest.raises(TypeError, match="complex"):
        xo.histogram(jax.numpy.asarray(X + 1j), 3)


def test_a_constant_has_its_type():
    """True is equal to 1, and JAX compiles once for equal constants of one type."""
    x = jax.numpy.asarray(X)
    assert xo.nansum(x, axis=1).shape == (4,)
    with pytest.raises(TypeError, match="must be an integer"):
        xo.nansum(x, axis=True)
    assert xo.nansum(x, axis=[0, 1]).shape == ()


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int32"])
def test_numbers_beside_arrays(dtype):
    """A Python number takes the dtype of the array, and does not widen it."""
    x = jax.numpy.asarray([1, 2, 3], dtype=dtype)
    assert xo.isclose(x, 2.0).tolist() == xo.isclose(2.0, x).tolist() == [False, True, False]
    assert xo.isclose(x, 2).tolist() == [False, True, False]
    want = np.interp(1.5, [1, 2, 3], [1, 2, 3])
    found = xo.interp(1.5, x, x)
    assert float(found) == want
    assert found.dtype == (x.dtype if dtype != "int32" else xo.float64)


def test_interpolation_between_points_that_are_close():
    """jax.numpy.interp treats distances below about 1e-14 as zero in float32."""
    points = np.asarray([0.0, 1e-15, 3e-15], dtype="float32")
    found = xo.interp(jax.numpy.asarray(points[1:] / 2), jax.numpy.asarray(points), jax.numpy.asarray([0.0, 1.0, 3.0]))
    np.testing.assert_allclose(found, [0.5, 1.5], rtol=1e-6)


ON_THE_SECOND_DEVICE = """
import jax, numpy as np, xarrayops as xo
from xarrayops_backends.jax._compiled import _COMPILED
second = jax.devices()[1]
x, points = (jax.device_put(np.asarray(values), second) for values in ([0.5, np.nan, 2.0], [0.0, 1.0, 4.0]))
others = {"allclose": (points,), "digitize": (points,), "interp": (points, points), "isclose": (1.0,)}
others["kron"] = (points,)
calls = [(name, (x, *others.get(name, ()))) for name in _COMPILED]
calls += [("array_equal", (x, x[:2])), ("histogram", (points, 3)), ("histogram", (points, points))]
results = [(name, getattr(xo, name)(*args)) for name, args in calls] + [("range", xo.histogram(x, 3, range=(0, 1)))]
members = [(name, each) for name, found in results for each in (found if isinstance(found, tuple) else (found,))]
print(sorted({name for name, each in members if each.devices() != {second}}))
"""


def test_results_are_on_the_device_of_the_operands():
    """Also where the result depends on their shapes only."""
    environment = os.environ | {"XLA_FLAGS": "--xla_force_host_platform_device_count=2", "JAX_PLATFORMS": "cpu"}
    command = [sys.executable, "-c", ON_THE_SECOND_DEVICE]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.stdout == "[]\n", done.stdout + done.stderr


@pytest.fixture
def without_fusions(monkeypatch):
    """The calls that are compiled without the fusions of XLA's new kernels for CPUs."""
    calls, run = [], compiled._run_without_fusions
    monkeypatch.setattr(compiled, "_run_without_fusions", lambda *given: calls.append(given) or run(*given))
    return calls


@pytest.mark.parametrize("axis", [None, 0, 1, -1, (0, 1)])
def test_sums_of_uneven_matrices(axis, without_fusions):
    x = RANDOM.integers(-50, 50, (1050, 1001)).astype("float32")  # the sums are exact
    for keepdims in (False, True):
        found = xo.sum(jax.numpy.asarray(x), axis=axis, keepdims=keepdims)
        assert found.dtype == x.dtype
        np.testing.assert_array_equal(np.asarray(found), x.sum(axis=axis, keepdims=keepdims, dtype="float64"))
    x[5, 3], x[700, 8], x[701, 8], x[9, 9] = np.nan, np.inf, -np.inf, np.inf
    with np.errstate(invalid="ignore"):
        np.testing.assert_array_equal(np.asarray(xo.sum(jax.numpy.asarray(x), axis=axis)), x.sum(axis=axis))
    assert len(without_fusions) == 3


def test_uneven_sums_do_not_overflow_and_are_precise(without_fusions):
    x = np.full((1050, 1001), 1e38, np.float32)
    x[:, 500:] *= -1
    x[525:] *= -1
    x[:, 1000], x[7, 7] = 0, 2e38
    for axis in (None, 0, 1):
        error = np.abs(np.asarray(xo.sum(jax.numpy.asarray(x), axis=axis)) - x.sum(axis=axis, dtype="float64"))
        assert error.max() <= 1e31, axis
    positive = RANDOM.random((1050, 1001)).astype(np.float32)
    for axis in (None, 0, 1):
        exact = positive.sum(axis=axis, dtype="float64")
        error = np.abs(np.asarray(xo.sum(jax.numpy.asarray(positive), axis=axis)) / exact - 1)
        assert error.max() <= 16 * 2.0**-23
    assert len(without_fusions) == 6


def test_other_sums_keep_the_fusions(without_fusions):
    x = jax.numpy.asarray(RANDOM.integers(0, 9, (1050, 1001)), "float32")
    by_jit = jax.jit(lambda x: xo.sum(x, axis=0))(x)
    np.testing.assert_array_equal(by_jit, np.asarray(x).sum(axis=0, dtype="float64"))
    gradient = jax.grad(lambda x: xo.sum(x))(x)
    assert (gradient == 1).all()
    for other in (
        x[:500],
        jax.numpy.ones((1400, 768)),
        x.astype("int32"),
        x.astype("float64"),
        x.reshape(-1),
        x.astype("float16"),
    ):
        xo.sum(other, axis=0)
    assert without_fusions == []


@pytest.mark.parametrize("dtype", ["bfloat16", "float16", "float64"])
def test_a_dtype_of_an_uneven_sum_is_that_of_the_whole_sum(dtype):
    """Sums of columns that cancel would be rounded to the narrow dtype."""
    x = np.random.default_rng(0).standard_normal((1050, 1001)).astype("float32")
    with jax.enable_x64(True):
        found = xo.sum(jax.numpy.asarray(x), dtype=dtype)
    assert float(found) == pytest.approx(x.sum(dtype="float64"), rel=2**-7)


def test_a_compiler_without_the_fusions(monkeypatch):
    compiler = pytest.importorskip("xarrayops_backends.jax._compiler")
    monkeypatch.setattr(compiler, "_FUSION", "xla_no_such_option")
    doubled = compiler._jit(lambda x: 2 * x, has_fusions=False)
    assert doubled(jax.numpy.asarray(4.0)) == 8
