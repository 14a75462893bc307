"""Random rounding: the spread is that of the true rounding errors, and exact steps stay exact."""

from fractions import Fraction

import numpy as np
import pytest

from xarrayops._host.compare import FACTOR, difference, spread_of
from xarrayops.testing._verify._rounding import Rounded, rounding
from xarrayops.testing._verify._values import value

EPS = float(np.finfo(np.float64).eps)


def samples(function, *args, count=5):
    found = []
    for seed in range(count):
        with rounding(seed):
            found.append(value(function(*map(np.asarray, args))))
    return found


def spread(function, *args):
    return spread_of(value(function(*args)), samples(function, *args))


def test_names_of_numpy_are_restored():
    before = np.zeros, np.array, np.asarray
    samples(np.sin, np.ones(2))
    assert (np.zeros, np.array, np.asarray) == before
    assert type(np.zeros(2)) is np.ndarray


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x + 1,
        lambda x: x * 0.5 - 4,
        lambda x: x.sum() + (x @ x),
        lambda x: np.sort(x)[::-1].cumsum(),
        lambda x: np.where(x > 3, x, -x).max(),
        lambda x: np.sqrt(x * x),
        lambda x: np.concatenate([x, x]).reshape(2, -1).T.copy(),
        lambda x: (x == x.max()) | np.isclose(x, 3),
        lambda x: np.floor_divide(x, 2).astype(int),
    ],
)
def test_exact_steps_have_no_spread(function):
    assert np.all(spread(function, np.arange(7.0)) == 0)


def test_out_keeps_its_elements_where_a_mask_is_false():
    """np.percentile interpolates in this way, and the other values were unwritten memory."""

    def divided(x):
        out = x * 3
        return np.divide(x, 7, out=out, where=x > 3)

    assert np.all(np.asarray(samples(divided, np.arange(7.0))[0].data)[:4] == [0, 3, 6, 9])
    for function in (divided, lambda x: np.percentile(x / 7, 90)):
        assert np.all(spread(function, np.arange(7.0)) < 20 * EPS)


@pytest.mark.parametrize(
    ("function", "least", "most"),
    [
        (lambda x: np.exp(x), EPS / 4, 8 * EPS),
        (lambda x: (x + 1e6) - 1e6, 1e6 * EPS / 4, 8e6 * EPS),
        (lambda x: x / 3 + x / 7, EPS / 50, 8 * EPS),
        (lambda x: (x * 0.1).sum(), EPS, 100 * EPS),
        (lambda x: x @ (x * 0.1), EPS, 100 * EPS),
        (lambda x: np.fft.fft(x * 0.1).real, EPS / 100, 200 * EPS),
        (lambda x: np.linalg.solve(np.diag(x + 0.1), x), EPS / 100, 1000 * EPS),
        (lambda x: np.einsum("i,i->", x, x * 0.1), EPS / 10, 200 * EPS),
        (lambda x: x.astype(complex) * (0.1 + 0.3j), EPS / 100, 16 * EPS),
        (lambda x: np.var(x * 0.1), EPS / 1000, 100 * EPS),
    ],
)
def test_the_size_of_the_spread(function, least, most):
    x = np.linspace(0.7, 1.9, 11)
    found = np.max(spread(function, x))
    assert least <= found <= most


def test_the_condition_of_a_system_is_measured():
    n = np.arange(8)
    hilbert = 1.0 / (n[:, None] + n + 1.0)
    good = np.max(spread(lambda a: np.linalg.solve(a, np.ones(8)), np.eye(8) + 0.1))
    bad = np.max(spread(lambda a: np.linalg.solve(a, np.ones(8)), hilbert))
    assert bad > 1e6 * good


@pytest.mark.parametrize("seed", range(3))
def test_the_budget_holds_the_exact_sum(seed):
    """The oracle is exact arithmetic: each order of summation is within the budget of any other."""
    x = np.random.default_rng(seed).normal(size=500) * 10.0 ** np.random.default_rng(seed).integers(-3, 4, size=500)
    exact = float(sum(map(Fraction, x.tolist())))
    forwards = np.add.accumulate(x)[-1]
    found = spread(np.sum, x)
    for total in (exact, forwards, np.add.accumulate(x[::-1])[-1], np.sort(x).sum()):
        assert difference(value(np.sum(x)), value(np.float64(total)), found) is None
    beyond = value(np.sum(x) + 2 * FACTOR * (found + EPS * abs(np.sum(x))))
    assert difference(value(np.sum(x)), beyond, found) is not None


def test_in_place_operations_and_out_round():
    def function(x):
        y = np.zeros(3)
        y += x / 3
        np.multiply(y, x, out=y)
        np.add.at(y, np.asarray([0, 0, 2]), x / 7)
        return y

    assert np.all(spread(function, np.asarray([1.1, 1.3, 1.7])) > 0)


def test_arrays_keep_the_behaviour_of_numpy():
    with rounding(0):
        x = np.arange(6.0).reshape(2, 3)
        assert isinstance(x, Rounded)
        assert type(x.sum()) is np.float64
        assert x[0].base is not None
        assert np.shares_memory(x[0], x)
        assert isinstance(x.T @ x, Rounded)
        assert x.dot(x.T).shape == (2, 2)
        assert float(x.mean()) == 2.5
        assert [float(each) for each in x.cumsum()] == [0, 1, 3, 6, 10, 15]
        assert x.cumprod(axis=1).tolist() == [[0, 0, 0], [3, 12, 60]]


@pytest.mark.parametrize("function", [np.cov, np.corrcoef, lambda x: np.cov(x[0], x[1])])
def test_functions_that_compute_on_plain_arrays_have_the_error_of_their_sums(function):
    """Sums in another order are within the spread, and a difference of a millionth is not."""
    x = np.random.default_rng(0).random((4, 300))
    order = np.random.default_rng(1).permutation(300)
    want, found = value(function(x)), value(function(x[:, order]))
    allowed = spread(function, x)
    assert np.any(want.data != found.data)
    assert not difference(want, found, allowed)
    assert difference(want, value(want.data * (1 + 1e-6)), allowed)


@pytest.mark.parametrize("function", [np.copy, np.sort, np.unique, lambda x: np.pad(x, 2), np.nan_to_num, np.diag])
def test_selected_elements_have_no_spread(function):
    assert np.all(spread(function, np.random.default_rng(0).random(9)) == 0)
