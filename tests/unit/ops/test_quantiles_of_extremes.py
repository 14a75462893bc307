"""Medians and quantiles next to the greatest and least numbers: results that a dtype has do not overflow."""

from fractions import Fraction
from functools import partial

import numpy as np
import pytest

import xarrayops as xo

GREATEST = float(np.finfo("float64").max)
FUNCTIONS = {
    "median": (0.5, xo.median),
    "nanmedian": (0.5, xo.nanmedian),
    "quantile": (0.25, lambda x: xo.quantile(x, 0.25)),
    "upper": (0.75, lambda x: xo.quantile(x, 0.75)),
    "nanquantile": (0.25, lambda x: xo.nanquantile(x, 0.25)),
    "midpoint": (0.5, lambda x: xo.quantile(x, 0.3, method="midpoint")),
    "vector": (0.25, lambda x: xo.quantile(x, xo.asarray([0.25], like=x))[0]),
}


def exact(values, q):
    """The quantile in rational numbers, rounded once."""
    low, high = (Fraction(float(value)) for value in sorted(values))
    return float(low + (high - low) * Fraction(q))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_of_two_numbers(library, name):
    if library.name == "numpy":
        pytest.skip("NumPy's own functions serve NumPy, and overflow")
    q, function = FUNCTIONS[name]
    compiled = [function]
    if library.name == "jax":
        compiled.append(pytest.importorskip("jax").jit(function))
    for dtype in ("float32", "float64"):
        m = float(np.finfo(dtype).max)
        for host in np.asarray([[m, m], [-m, -m], [-m, m], [m / 2, m], [3.0, 5.0]], dtype=dtype):
            for each in compiled:
                np.testing.assert_allclose(library.host(each(library.array(host))), exact(host, q), rtol=4e-7)


@pytest.mark.parametrize("verb", ["median", "nanmedian"])
def test_of_the_least_numbers(library, verb):
    """Half of the least number is 0. JAX has no subnormal numbers on CPUs."""
    if library.name == "jax":
        pytest.skip("XLA gives 0 for subnormal numbers")
    for dtype in ("float32", "float64"):
        least = np.finfo(dtype).smallest_subnormal
        assert library.host(getattr(xo, verb)(library.array([least, least]))) == least


def test_of_the_greatest_numbers_in_a_compiled_function():
    torch = pytest.importorskip("torch", exc_type=ImportError)
    x = torch.asarray([GREATEST, -GREATEST, GREATEST, GREATEST], dtype=torch.float64)
    compiled = partial(torch.compile, backend="aot_eager", fullgraph=True)
    assert float(compiled(lambda x: xo.median(x))(x)) == GREATEST
    assert float(compiled(lambda x: xo.quantile(x, 0.25))(x)) == GREATEST / 2


@pytest.mark.parametrize("verb", ["median", "nanmedian"])
def test_of_infinity(library, verb):
    for host, want in ([np.inf, np.inf], np.inf), ([-np.inf, np.inf], np.nan), ([-3.0, np.inf], np.inf):
        with np.errstate(invalid="ignore"):
            np.testing.assert_array_equal(library.host(getattr(xo, verb)(library.array(host))), want)
