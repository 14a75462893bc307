"""The number of bins of a histogram by a named rule, with NumPy's formulas. The values are read."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any

import xarrayops as xo
from xarrayops.numpy import _axes, _promotion


def number_of_bins(x: Any, rule: str, limits: Any, weights: Any) -> int:
    """The number of bins of equal width for a vector of numbers."""
    if rule not in RULES:
        raise ValueError(f"{rule!r} is not a valid estimator for `bins`")
    if weights is not None:
        raise TypeError("Automated estimation of the number of bins is not supported for weighted data")
    x = _axes.raveled(x)
    if limits is not None:
        x = xo.compute(xo.compress(xo.logical_and(x >= limits[0], x <= limits[1]), x))  # Dask knows no sizes
    if not _axes.size_of(x):
        return 1
    low, high = (xo.min(x), xo.max(x)) if limits is None else limits
    low, high = _axes.plain_number(low), _axes.plain_number(high)
    if low == high:
        low, high = low - 0.5, high + 0.5
    if not math.isfinite(low) or not math.isfinite(high):
        return 1  # the histogram raises
    width = float(RULES[rule](x, (low, high)))
    if width and xo.isdtype(x.dtype, "integral"):
        width = max(width, 1.0)
    return math.ceil((high - low) / width) if width else 1


def _extent(x: Any) -> float:
    """The largest value minus the smallest."""
    return _axes.plain_number(xo.max(x)) - _axes.plain_number(xo.min(x))


def _spread(x: Any) -> float:
    return float(xo.std(_promotion.inexact(x)))


def _sqrt(x: Any, limits: Any) -> float:
    return _extent(x) / math.sqrt(_axes.size_of(x))


def _sturges(x: Any, limits: Any) -> float:
    return _extent(x) / (math.log2(_axes.size_of(x)) + 1.0)


def _rice(x: Any, limits: Any) -> float:
    return _extent(x) / (2.0 * _axes.size_of(x) ** (1.0 / 3))


def _scott(x: Any, limits: Any) -> float:
    """Scott, On optimal and data-based histograms, Biometrika 66 (1979)."""
    return (24.0 * math.pi**0.5 / _axes.size_of(x)) ** (1.0 / 3.0) * _spread(x)


def _fd(x: Any, limits: Any) -> float:
    """Freedman and Diaconis, On the histogram as a density estimator (1981)."""
    quarters = xo.percentile(_promotion.inexact(x), xo.asarray([75.0, 25.0], like=_promotion.inexact(x)))
    return 2.0 * float(quarters[0] - quarters[1]) * _axes.size_of(x) ** (-1.0 / 3.0)


def _doane(x: Any, limits: Any) -> float:
    """Doane, Aesthetic frequency classifications, The American Statistician 30 (1976)."""
    n, spread = _axes.size_of(x), _spread(x)
    if n <= 2 or spread <= 0:
        return 0.0
    x = _promotion.inexact(x)
    skewness = float(xo.mean(xo.pow((x - xo.mean(x)) / spread, 3)))
    error = math.sqrt(6.0 * (n - 2) / ((n + 1.0) * (n + 3)))
    return _extent(x) / (1.0 + math.log2(n) + math.log2(1.0 + abs(skewness) / error))


def _stone(x: Any, limits: Any) -> float:
    """Stone, An asymptotically optimal histogram selection rule (1984): the least estimate of the squared error."""
    n, extent = _axes.size_of(x), _extent(x)
    if n <= 1 or extent == 0:
        return 0.0

    def loss(bins: int) -> float:
        counts = xo.histogram(_promotion.floating(x), bins, range=limits)[0]
        shares = xo.astype(counts, float) / n
        return (2 - (n + 1) * float(xo.sum(shares * shares))) / (extent / bins)

    most = max(100, int(math.sqrt(n)))
    best = min(range(1, most + 1), key=loss)
    if best == most:
        warnings.warn("The number of bins estimated may be suboptimal.", RuntimeWarning, stacklevel=5)
    return extent / best


def _auto(x: Any, limits: Any) -> float:
    """The rule of Freedman and Diaconis, limited by half of the rule "sqrt", or Sturges' if that gives more bins."""
    return min(max(_fd(x, limits), _sqrt(x, limits) / 2), _sturges(x, limits))


RULES: dict[str, Callable[[Any, Any], float]] = {
    "auto": _auto,
    "doane": _doane,
    "fd": _fd,
    "rice": _rice,
    "scott": _scott,
    "sqrt": _sqrt,
    "stone": _stone,
    "sturges": _sturges,
}
"""The width of the bins by each rule, from the values and the range."""
