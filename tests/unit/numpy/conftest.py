"""Shared by the tests of NumPy's names: expressions that NumPy and our module evaluate on the same values."""

import warnings
from contextlib import contextmanager

import numpy
import pytest

import xarrayops as xo
import xarrayops.numpy as ours

LIBRARIES = ("numpy", "torch", "jax", "dask")
RANDOM = numpy.random.default_rng(7)
VALUES = {
    "a": RANDOM.normal(size=(3, 3)) + 3 * numpy.eye(3),
    "b": RANDOM.random((3, 4)) > 0.5,
    "f": RANDOM.normal(size=(3, 4)),
    "g": RANDOM.normal(size=(3, 4)) + 3.0,
    "h": numpy.asarray([2.0, -1.5, 0.5]),
    "i": numpy.asarray([3, 0, 2, 2, 1]),
    "k": numpy.asarray([[1, -2, 3, 4], [5, 6, -7, 8], [9, 0, 11, 12]]),
    "n": numpy.where(RANDOM.random((3, 4)) > 0.7, numpy.nan, RANDOM.normal(size=(3, 4))),
    "o": numpy.asarray([-1.0, 0.5, 2.0, 2.0, 7.0]),
    "r": RANDOM.normal(size=(3, 4)).astype("float32"),
    "t": RANDOM.normal(size=(2, 3, 4)),
    "u": numpy.asarray([0.25, 0.75, 0.5, 0.1, 0.9]),
    "v": RANDOM.normal(size=5),
    "w": RANDOM.normal(size=5) + 2.0,
    "z": RANDOM.normal(size=(3, 4)) + 1j * RANDOM.normal(size=(3, 4)),
}
VALUES["s"] = VALUES["a"] @ VALUES["a"].T
VALUES["q"] = VALUES["k"][:, :3] % 3


def of_library(library):
    """The values as arrays of a library."""
    return {name: xo.convert(x.copy(), library, copy=True) for name, x in VALUES.items()}


@contextmanager
def with_64_bits(library):
    """JAX with its 64-bit types; other libraries always have them."""
    if library != "jax":
        yield
        return
    import jax

    with jax.enable_x64(True):
        yield


def leaves(result):
    return [leaf for member in result for leaf in leaves(member)] if isinstance(result, (tuple, list)) else [result]


def as_numpy(x):
    """A result as NumPy's array."""
    return numpy.asarray(xo.convert(xo.compute(x), "numpy")) if hasattr(x, "dtype") else numpy.asarray(x)


def require_same(expression, library, *, rtol=1e-9):
    """Evaluate an expression with NumPy and with our module; values, shapes and the dtypes of both must agree."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        wanted = leaves(eval(expression, {"np": numpy, **{name: x.copy() for name, x in VALUES.items()}}))
        with with_64_bits(library):
            arrays = of_library(library)
            found = leaves(eval(expression, {"np": ours, **arrays}))
            found = [(x, as_numpy(x)) for x in found]
    assert len(found) == len(wanted), expression
    for (native, x), y in zip(found, wanted, strict=True):
        if any(name in arrays for name in compile(expression, "", "eval").co_names) and hasattr(native, "dtype"):
            assert xo.backend(native).name == library or library == "dask", expression
        y = numpy.asarray(y)
        assert x.shape == y.shape, f"{expression}: {x.shape}, NumPy {y.shape}"
        exact = hasattr(native, "dtype")
        assert (x.dtype == y.dtype) if exact else (x.dtype.kind == y.dtype.kind), f"{expression}: {x.dtype}, {y.dtype}"
        tolerance = 1e-5 if y.dtype in ("float32", "complex64") else rtol
        numpy.testing.assert_allclose(x, y, rtol=tolerance, atol=tolerance, err_msg=expression)


@pytest.fixture(params=LIBRARIES)
def library(request):
    pytest.importorskip(request.param)
    return request.param


@pytest.fixture
def same(library):
    """Require that every expression of a list agrees with NumPy; all failures are reported."""

    def check(expressions):
        failed = []
        for expression in expressions:
            try:
                require_same(expression, library)
            except Exception as error:
                failed.append(f"{expression}\n    {type(error).__name__}: {str(error).strip()[:300]}")
        assert not failed, "\n".join(failed)

    return check
