"""Random rounding and functions of SciPy: they get plain arrays, and their inputs and results are rounded."""

import numpy as np
import pytest

from xarrayops.testing import verify
from xarrayops.testing._verify._rounding import Rounded, rounding

scipy = pytest.importorskip("scipy")
fft = pytest.importorskip("scipy.fft")
linalg = pytest.importorskip("scipy.linalg")
signal = pytest.importorskip("scipy.signal")
filtfilt = signal.filtfilt


def filtered(x):
    numerator, denominator = signal.butter(3, 0.2)
    return np.fft.rfft(filtfilt(numerator, denominator, x))


@pytest.mark.parametrize("function", [filtered, lambda x: scipy.fft.rfft(x), lambda x: linalg.inv(x[:9].reshape(3, 3))])
def test_functions_of_scipy_get_plain_arrays(function):
    """A note would say that a run failed: in `butter`, poles that were changed are no conjugate pairs."""
    x = np.random.default_rng(0).normal(size=300)
    report = verify(function, x, libraries=["numpy"])
    assert report.ok
    assert not report.notes
    with rounding(0, [globals()]):
        found = function(np.asarray(x))
    assert isinstance(found, Rounded)
    assert found.dtype == function(x).dtype
    assert 0 < np.max(np.abs(np.asarray(found) - function(x))) < 1e-11
    assert filtfilt is signal.filtfilt


def test_another_order_of_the_sums_of_scipy_is_within_the_budget():
    x = np.random.default_rng(0).normal(size=300)
    poles = lambda x: filtfilt(*signal.butter(3, 0.2), x) / 3
    steps = lambda x: filtfilt(*[each * (1 + 2e-16) for each in signal.butter(3, 0.2)], x) / 3
    assert verify(steps, x, expected=poles, libraries=["numpy"]).ok
    wrong = lambda x: filtfilt(*signal.butter(3, 0.2 + 1e-9), x) / 3
    assert not verify(wrong, x, expected=poles, libraries=["numpy"]).ok


def test_functions_that_scipy_calls_do_not_round():
    optimize = pytest.importorskip("scipy.optimize")
    names, seen = {"minimize": optimize.minimize}, []

    def distance(p):
        seen.append(type(p))
        return np.sum((p - 1 / 3) ** 2)

    with rounding(0, [names]):
        found = names["minimize"](distance, np.asarray([0.1, 0.7]))
    assert {*seen} == {np.ndarray}
    assert np.allclose(found.x, 1 / 3, atol=1e-6)
