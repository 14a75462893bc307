"""NumPy's warnings: about empty slices on every library, about slices of NaN and divisions for NumPy's arrays."""

import re
import warnings

import numpy
import pytest

import xarrayops as xo
import xarrayops.numpy as ours

LIBRARIES = ("numpy", "torch", "jax", "dask")
EMPTY = numpy.zeros((0, 3), "float32")
OF_EMPTY = {
    **dict.fromkeys(("mean", "median", "nanmean", "nanmedian"), "Mean of empty slice"),
    **dict.fromkeys(("var", "std", "nanvar", "nanstd"), "Degrees of freedom <= 0 for slice"),
}
"""The warning of each function about slices without elements."""
OF_NANS = {
    **dict.fromkeys(("nanmax", "nanmin", "nanmedian", "nanquantile", "nanpercentile"), "All-NaN slice encountered"),
    "nanmean": "Mean of empty slice",
    **dict.fromkeys(("nanvar", "nanstd"), "Degrees of freedom <= 0 for slice"),
}
"""The warning of each function about slices of NaN."""


def messages(call):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call()
    return [str(each.message) for each in caught if issubclass(each.category, RuntimeWarning)]


def count(message, call):
    return sum(bool(re.search(message, each)) for each in messages(call))


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("name", OF_EMPTY)
def test_empty_slices_warn_once(name, library):
    pytest.importorskip(library)
    x = xo.convert(EMPTY.copy(), library, copy=True)
    for module, value in ((numpy, EMPTY), (ours, x)):
        function = getattr(module, name)
        assert count(OF_EMPTY[name], lambda f=function, v=value: f(v, axis=0)) == 1, module
        assert not count(OF_EMPTY[name], lambda f=function, v=value: f(v, axis=1)), module


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("name", ["var", "std"])
def test_too_few_degrees_of_freedom_warn(name, library):
    pytest.importorskip(library)
    x = xo.convert(numpy.ones((2, 1), "float32"), library, copy=True)
    function = getattr(ours, name)
    assert count("Degrees of freedom", lambda: function(x, axis=1, ddof=1)) == 1
    assert not count("Degrees of freedom", lambda: function(x, axis=0, ddof=1))


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("name", OF_NANS)
def test_slices_of_nan_warn_for_arrays_of_numpy(name, dtype):
    x = numpy.asarray([[1, numpy.nan], [numpy.nan, numpy.nan]], dtype)
    q = (0.5,) if name.endswith("ile") else ()
    for module in (numpy, ours):
        function = getattr(module, name)
        assert count(OF_NANS[name], lambda f=function: f(x, *q, axis=1)) == 1, module
        assert not count(OF_NANS[name], lambda f=function: f(x[:1], *q, axis=1)), module


@pytest.mark.parametrize("name", ["nanmean", "nanvar", "nanstd"])
def test_slices_of_complex_nan_warn(name):
    x = numpy.full((2, 2), numpy.nan + 0j)
    assert messages(lambda: getattr(numpy, name)(x, axis=1))[0] in messages(lambda: getattr(ours, name)(x, axis=1))


def test_divisions_follow_errstate():
    x = numpy.asarray([1.0, 0.0])
    for module in (numpy, ours):
        assert count("divide by zero", lambda m=module: m.divide(1.0, x)) == 1
        with ours.errstate(divide="ignore"):
            assert not messages(lambda m=module: m.divide(1.0, x))


def test_truths_in_histograms_and_sizes_without_axes_warn():
    for module in (numpy, ours):
        assert count("from bool", lambda m=module: m.histogram(numpy.asarray([True, False]))) == 1
        with pytest.warns(DeprecationWarning, match="axes"):
            module.fft.fftn(numpy.ones((2, 2)), (2, 2))
