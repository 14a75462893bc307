"""dtype= and casting= of ufuncs choose the loop: every ufunc against NumPy, with dtypes of operands and of the loop."""

import re
import warnings
from functools import partial

import numpy
import pytest

import xarrayops as xo
import xarrayops.numpy as ours
from tests.unit.numpy.conftest import as_numpy, leaves, with_64_bits
from xarrayops.numpy._elementwise import UFUNCS

OPERANDS = ("bool", "int64", "uint8", "float32", "float64", "complex128")
DTYPES = ("bool", "int64", "int8", "float32", "float64", "complex64")
VALUES = numpy.asarray([[1, 2, 1], [2, 1, 1], [1, 1, 2]])
PRODUCTS = ("matmul", "matvec", "vecmat", "vecdot")
LIBRARIES_ROUND = 3e-5
"""Kernels of single precision differ by library."""


ANSWERED = re.compile("would drop the imaginary part|not implemented for '(Bool|Complex)|complex numbers have no")
"""What NumPy does and we refuse: casts of complex numbers to real ones, and what PyTorch has no kernel for."""


def operand(dtype, library):
    x = VALUES.astype(dtype)
    return xo.convert(x, library, copy=True) if library else x


def outcome(call):
    """The results as NumPy's arrays, or the error."""
    try:
        return [as_numpy(x) for x in leaves(call())], None
    except Exception as error:
        return None, error


def require_same(label, found, wanted, failed):
    (results, error), (expected, theirs) = found, wanted
    if error is not None and ANSWERED.search(str(error)):
        return
    if (error is None) != (theirs is None):
        failed.append(f"{label}: {error or [x.dtype for x in results]}, NumPy {theirs or [x.dtype for x in expected]}")
        return
    for x, y in zip(results or (), expected or (), strict=True):
        if x.dtype != y.dtype or x.shape != y.shape:
            failed.append(f"{label}: {x.dtype} {x.shape}, NumPy {y.dtype} {y.shape}")
        elif not numpy.allclose(x, y, rtol=LIBRARIES_ROUND, atol=1e-6, equal_nan=True):
            failed.append(f"{label}: {x.ravel()[:3]}, NumPy {y.ravel()[:3]}")


def calls_of_loops(library):
    """Calls of every ufunc with a dtype: a label, ours and NumPy's."""
    for name, function in UFUNCS.items():
        theirs = getattr(numpy, name)
        for kind in OPERANDS:
            for dtype in DTYPES:
                given = [operand(kind, library) for _ in range(function.nin)], [operand(kind, None)] * function.nin
                if name in ("matvec", "vecmat"):
                    given = [[x[0], y] if name == "vecmat" else [x, y[0]] for x, y in given]
                options = {"dtype": dtype}
                yield (
                    f"np.{name}({kind}, dtype={dtype}) on {library}",
                    lambda f=function, a=given[0], k=options: f(*a, **k),
                    lambda f=theirs, a=given[1], k=options: f(*a, **k),
                )


def calls_of_reductions(library):
    """Reductions and accumulations with a dtype."""
    for name, function in UFUNCS.items():
        if function.nin != 2 or function.nout != 1 or name in (*PRODUCTS, "ldexp"):  # x1 and x2 have two dtypes
            continue
        theirs = getattr(numpy, name)
        for kind in OPERANDS:
            for dtype in (*DTYPES, None):
                for method in ("reduce", "accumulate"):
                    x, y = operand(kind, library), operand(kind, None)
                    yield (
                        f"np.{name}.{method}({kind}, dtype={dtype}) on {library}",
                        lambda f=function, m=method, x=x, d=dtype: getattr(f, m)(x, dtype=d),
                        lambda f=theirs, m=method, y=y, d=dtype: getattr(f, m)(y, dtype=d),
                    )


@pytest.mark.more_in_sweeps
@pytest.mark.parametrize("calls", [calls_of_loops, calls_of_reductions])
@pytest.mark.parametrize("library", ["numpy", "torch", "jax", "dask"])
def test_dtypes_choose_the_loop(calls, library, sweeping):
    pytest.importorskip(library)
    failed, step = [], 1 if sweeping or library == "numpy" else {"jax": 60}.get(library, 15)
    with warnings.catch_warnings(), with_64_bits(library):
        warnings.simplefilter("ignore")
        for label, call, theirs in [*calls(library)][::step]:
            require_same(label, outcome(call), outcome(theirs), failed)
    assert not failed, f"{len(failed)} calls\n" + "\n".join(failed)


@pytest.mark.parametrize("casting", ["no", "equiv", "safe", "same_kind", "unsafe"])
def test_casting_limits_the_casts_of_operands(casting):
    failed = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in ("add", "sqrt", "equal", "hypot", "matmul", "divmod"):
            for kinds in (("float64", "int64"), ("float32", "float32"), ("float64", "float32"), ("int8", "int64")):
                for dtype in (None, "float32", "int32"):
                    given = [VALUES.astype(kind) for kind in kinds][: UFUNCS[name].nin]
                    options = {"casting": casting, "dtype": dtype}
                    found, wanted = (
                        outcome(partial(getattr(module, name), *given, **options)) for module in (ours, numpy)
                    )
                    require_same(f"{name}{kinds}, {dtype}, {casting}", found, wanted, failed)
    assert not failed, "\n".join(failed)


@pytest.mark.parametrize("library", ["numpy", "torch", "jax", "dask"])
@pytest.mark.parametrize("is_compiled", [False, True])
def test_absolute_values_of_complex64_in_double_precision(library, is_compiled):
    """They neither overflow nor underflow, and an infinite part counts even next to NaN."""
    pytest.importorskip(library, exc_type=ImportError)
    parts = numpy.asarray([0.0, -0.0, 2e-38, 1.5, -7.25, 3e38, numpy.inf, -numpy.inf, numpy.nan], "float32")
    z = numpy.empty((parts.size, parts.size), "complex64")
    z.real, z.imag = parts[:, None], parts
    wide = numpy.hypot(z.real.astype(numpy.longdouble), z.imag.astype(numpy.longdouble)).astype("float64")
    function = partial(ours.abs, dtype="float64")
    function = xo.jit(function) if is_compiled else function
    with with_64_bits(library), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # NumPy of NaN
        found = function(xo.convert(z, library, copy=True))
        assert found.dtype.name == "float64" if library != "torch" else str(found.dtype) == "torch.float64"
        numpy.testing.assert_allclose(as_numpy(found), wide, rtol=5e-16)


@pytest.mark.parametrize("library", ["torch", "jax"])
@pytest.mark.parametrize("is_compiled", [False, True])
def test_gradients_of_absolute_values_in_double_precision(library, is_compiled):
    """They are 0 at 0, as those of the libraries."""
    pytest.importorskip(library, exc_type=ImportError)

    def function(x):
        z = xo.astype(x[0], "complex64") + 1j * xo.astype(x[1], "complex64")
        return xo.sum(ours.abs(z, dtype="float64"))

    with with_64_bits(library):
        x = xo.convert(numpy.asarray([[0.0, 3.0, -1e-30], [0.0, 4.0, 0.0]], "float32"), library)
        found = xo.grad(xo.jit(function) if is_compiled else function)(x)
        numpy.testing.assert_allclose(as_numpy(found), [[0.0, 0.6, -1.0], [0.0, 0.8, 0.0]], rtol=1e-6)
