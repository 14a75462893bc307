"""Weights of quantiles, and named rules of histograms, against NumPy."""

import warnings

import numpy
import pytest

import xarrayops as xo
import xarrayops.numpy as ours
from tests.unit.numpy.conftest import as_numpy, with_64_bits

RANDOM = numpy.random.default_rng(11)
LIBRARIES = ("numpy", "torch", "jax", "dask")
X = RANDOM.normal(size=(4, 5, 6))
HOLES = numpy.where(RANDOM.random((4, 5, 6)) > 0.8, numpy.nan, X)
WEIGHTS = RANDOM.integers(0, 4, size=(4, 5, 6)) + 0.0
WEIGHTS[..., 0] = 1  # a weight in each slice
QS = (0.0, 1.0, 0.5, [0.25, 0.75], [[0.0, 0.1], [0.5, 1.0]])
AXES = (None, 0, -1, (0, 2), (2, 1))


def both(library, call, *arrays, **options):
    """The results of ours and of NumPy."""
    with warnings.catch_warnings(), with_64_bits(library):
        warnings.simplefilter("ignore")
        found = call(ours, *(xo.convert(x, library, copy=True) for x in arrays), **options)
        return [as_numpy(x) for x in (found if isinstance(found, tuple) else (found,))], call(numpy, *arrays, **options)


@pytest.mark.more_in_sweeps
@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("name", ["quantile", "percentile", "nanquantile", "nanpercentile"])
def test_quantiles_with_weights(name, library, sweeping):
    pytest.importorskip(library)
    scale = 100 if name.endswith("percentile") else 1
    cases = [
        (x, q, axis) for x in (X, HOLES, X.astype("float32"), (X * 10).astype("int64")) for q in QS for axis in AXES
    ]
    for x, q, axis in cases if sweeping or library == "numpy" else cases[:: 45 if library != "jax" else 90]:
        q = numpy.multiply(q, scale).tolist()
        for keepdims in (False, True):
            (found,), wanted = both(
                library,
                lambda np, x, w, q=q, axis=axis, k=keepdims: getattr(np, name)(
                    x, q, axis, method="inverted_cdf", weights=w, keepdims=k
                ),
                x,
                WEIGHTS,
            )
            assert found.dtype == wanted.dtype, (x.dtype, q, axis)
            assert found.shape == wanted.shape, (x.dtype, q, axis)
            numpy.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("library", LIBRARIES)
def test_weights_along_the_axes(library):
    pytest.importorskip(library)
    for weights, axis in ((WEIGHTS[0, 0], 2), (WEIGHTS[:, 0, :], (0, 2)), (WEIGHTS[:, 0, :].T, (2, 0))):
        (found,), wanted = both(
            library,
            lambda np, x, w, axis=axis: np.quantile(x, 0.4, axis, method="inverted_cdf", weights=w),
            X,
            weights,
        )
        numpy.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize(
    ("error", "options"),
    [
        (ValueError, {"method": "linear", "weights": [1, 2, 3]}),
        (ValueError, {"weights": [1, -2, 3]}),
        (ValueError, {"weights": [0, 0, 0]}),
        (ValueError, {"weights": [numpy.nan, 1, 1]}),
        (ValueError, {"weights": [1, 1, 1], "q": 1.5}),
        (TypeError, {"weights": [1, 1]}),
        (ValueError, {"weights": [1, 1], "axis": 0}),
    ],
)
def test_weights_that_numpy_refuses(error, options):
    options = {"q": 0.5, "method": "inverted_cdf", **options}
    for module in (numpy, ours):
        with numpy.errstate(all="ignore"), pytest.raises(error):
            module.quantile(numpy.asarray([1.0, 2.0, 3.0]), **options)


RULES = ("auto", "doane", "fd", "rice", "scott", "sqrt", "stone", "sturges")
SAMPLES = {
    "normal": RANDOM.normal(size=400),
    "two humps": numpy.concatenate([RANDOM.normal(size=60), RANDOM.normal(size=90) + 8]),
    "skewed": RANDOM.exponential(size=300),
    "integers": RANDOM.integers(-5, 30, size=200),
    "bytes": RANDOM.integers(0, 255, size=200).astype("uint8"),
    "constant": numpy.full(9, 3.5),
    "one": numpy.asarray([2.0]),
    "two": numpy.asarray([2.0, 5.0]),
    "empty": numpy.asarray([]),
    "outlier": numpy.asarray([*numpy.linspace(0, 1, 50), 40.0]),
    "matrix": RANDOM.normal(size=(12, 9)),
    "truths": numpy.asarray([True, False, True]),
}


@pytest.mark.more_in_sweeps
@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("rule", RULES)
def test_named_rules_of_bins(rule, library, sweeping):
    pytest.importorskip(library)
    cases = [(name, limits) for name in SAMPLES for limits in (None, (0.5, 3.0), (100.0, 101.0))]
    for name, limits in cases if sweeping or library == "numpy" else cases[RULES.index(rule) :: 20]:
        for call in (
            lambda np, x, limits=limits: np.histogram(x, rule, limits)[0],
            lambda np, x, limits=limits: np.histogram_bin_edges(x, rule, limits),
        ):
            (found,), wanted = both(library, call, SAMPLES[name])
            assert found.shape == wanted.shape, (name, limits)
            numpy.testing.assert_allclose(found, wanted, rtol=1e-12, err_msg=f"{name} {limits}")


def test_rules_that_numpy_refuses():
    x = numpy.asarray([1.0, 2.0])
    for module in (numpy, ours):
        with pytest.raises(ValueError, match="is not a valid estimator"):
            module.histogram(x, "mad")
        with pytest.raises(TypeError, match="weighted"):
            module.histogram(x, "auto", weights=x)
