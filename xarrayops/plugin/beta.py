"""Beta numbers from normal and exponential numbers, with the operations of any library.

As in `xarrayops.plugin.distributions`, all libraries return the same bits.
"""

from __future__ import annotations

from collections.abc import Callable
from math import factorial, log
from typing import Any

from xarrayops.plugin.arrays import Array
from xarrayops.plugin.distributions import FORMATS, Arithmetic, Format, minus_log, polynomial

PROPOSALS = 9
"""The proposals for one gamma number. The last one is accepted without a test, with a probability below 4e-11."""
# Below it, 1 + x / (3 * sqrt(d)) is rejected. The probability of acceptance is less than 1e-18 there.
_LEAST = 2.0**-20
# The interval in which the series of `minus_log` is the logarithm itself.
_NEAR = (2**-0.5, 2**0.5)
# From these numbers on, exp(-x) is 0 here; below, it is a normal number.
_LARGEST = {"float64": 708.0, "float32": 87.0}
_TERMS = {"float64": 18, "float32": 10}


def least_shape(dtype: str) -> float:
    """The least shape of which products with the inverse are finite."""
    return float(2.0 ** (7 - FORMATS[dtype].bias))


def beta(a: Arithmetic, dtype: str, shapes: Array, normals: Array, exponentials: Array) -> Array:
    """Beta numbers (...) as the quotient x / (x + y) of gamma numbers.

    Shapes, normals and exponentials are (..., 2, PROPOSALS) in the dtype: of x and of y. The shapes are repeated along
    the last axis. The number is NaN where a shape or its inverse is below `least_shape`.
    """
    form, least = FORMATS[dtype], least_shape(dtype)
    is_valid = (shapes >= least) & (shapes <= 1.0 / least)
    shapes = a.where(is_valid, shapes, 1.0)
    gammas = _gammas(a, form, shapes, normals, exponentials)
    x, y = gammas[..., 0], gammas[..., 1]
    # A gamma number of shape s < 1 is one of shape s + 1 times u**(1 / s) = exp(-e / s), for an exponential number e.
    # Only the ratio of x and y matters, so the larger of the two factors is divided out, and nothing underflows early.
    s = shapes[..., 0]
    e = a.where(s < 1.0, a.positive(exponentials[..., -1] * _inverse(a, s)), 0.0)
    difference = a.where(e[..., 0] == e[..., 1], 0.0, e[..., 0] - e[..., 1])
    factor = _exp_minus(a, dtype, a.where(difference < 0.0, -difference, difference))
    x = a.positive(a.where(difference > 0.0, x * factor, x))
    y = a.positive(a.where(difference < 0.0, y * factor, y))
    return a.where(is_valid[..., 0, 0] & is_valid[..., 1, 0], a.divide(x, x + y), float("nan"))


def _gammas(a: Arithmetic, form: Format, shapes: Array, x: Array, exponentials: Array) -> Array:
    """Gamma numbers (...), of shape s + 1 where the shape s is below 1: the first accepted proposal.

    Marsaglia and Tsang, A simple method for generating gamma variables (ACM TOMS 26, 2000).
    """
    d = a.where(shapes < 1.0, shapes + 2.0 / 3.0, shapes - 1.0 / 3.0)
    if a.places is not None:
        return d[..., 0] * (_first_accepted(a, form, a.places, d, x, exponentials) + 1.0)
    cube, is_accepted = _proposal(a, form, d, x, exponentials)
    found = cube[..., -1]
    for i in reversed(range(PROPOSALS - 1)):
        found = a.where(is_accepted[..., i], cube[..., i], found)
    return d[..., 0] * (found + 1.0)


def _first_accepted(a: Arithmetic, form: Format, places_of: Callable[..., Any], d: Array, *numbers: Array) -> Array:
    """As in `_gammas`, with each proposal only for the elements that have no accepted one."""
    d, x, exponentials = (each.reshape(-1, PROPOSALS) for each in (d, *numbers))
    found, places = x[:, 0].copy(), places_of(exponentials[:, 0] >= 0.0)  # all
    for i in range(PROPOSALS):
        cube, is_accepted = _proposal(a, form, d[places, i], x[places, i], exponentials[places, i])
        found[places] = cube
        places = places[places_of(~is_accepted)]
    return found.reshape(numbers[0].shape[:-1])


def _proposal(a: Arithmetic, form: Format, d: Array, x: Array, exponentials: Array) -> tuple[Array, Array]:
    """The number over d less 1, and whether it is accepted."""
    w = a.rounded(x * _inverse(a, 3.0 * a.sqrt(d)))
    is_positive = w + 1.0 > _LEAST
    w = a.where(is_positive, w, 0.0)
    # (1 + w)**3 - 1. It and the logarithm are accurate for small w too, so that large shapes do not cancel.
    cube = a.rounded(w * (a.rounded(w * (w + 3.0)) + 3.0))
    rest = a.rounded(d * (cube - a.rounded(3.0 * _log1p(a, form, w)))) - 0.5 * a.positive(x * x)
    return cube, is_positive & (exponentials > rest)


def _inverse(a: Arithmetic, x: Array) -> Array:
    """1 / x. XLA replaces the quotient y / x for an x of fewer elements by a product with it, which rounds twice."""
    return a.divide(x - x + 1.0, x)


def _log1p(a: Arithmetic, form: Format, w: Array) -> Array:
    """The logarithm of 1 + w, for 1 + w in [_LEAST, 8]."""
    s, t = a.divide(w, w + 2.0), w + 1.0
    far = 3.0 * log(2.0) - minus_log(a, form, t * 0.125)
    return a.where((t > _NEAR[0]) & (t < _NEAR[1]), s * polynomial(a, form.log, s * s), far)


def _exp_minus(a: Arithmetic, dtype: str, x: Array) -> Array:
    """exp(-x) for x >= 0."""
    form, is_small = FORMATS[dtype], x < _LARGEST[dtype]
    x = a.where(is_small, x, 0.0)
    n = a.astype(a.astype(x * (1.0 / log(2.0)), a.as_dtype("int32")), a.as_dtype(dtype)) + 1.0
    high, low = form.ln2
    # exp(-x) = 2**-n * exp(r), with r from 0 to log(2): the terms of the series are positive. n * high is exact.
    r = (n * high - x) + a.positive(n * low)
    terms: list[Any] = [1.0 / factorial(k) for k in reversed(range(_TERMS[dtype]))]
    value = polynomial(a, terms, a.where(r > 0.0, r, 0.0))
    for step in (512, 256, 128, 64, 32, 16, 8, 4, 2, 1):
        is_left = n >= step
        value = a.where(is_left, value * 2.0**-step, value)
        n = a.where(is_left, n - step, n)
    return a.where(is_small, value, 0.0)
