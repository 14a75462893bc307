"""The law of accumulation: which functions it covers, and a float64 oracle for each function."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

import xarrayops as xo
from tests.unit.ops.extreme_arrays import EPS

Oracle = Callable[[Any], Any]


class Call(NamedTuple):
    """A call of a function, and what it should give."""

    run: Callable[[Any], Any]
    """The call, of an array of any library."""
    want: Oracle
    """The result, of NumPy's float64."""
    terms: Callable[[Any, Any], Any] | None = lambda w, want: np.abs(want)
    """The sum of the absolute values of its terms, of NumPy's float64 and of the result. None: it must be finite."""
    rows: bool = False
    """Whether it also serves the columns of a matrix, by axis 0."""
    least: int = 1
    """The number of elements that it needs."""
    most: int = 1 << 30
    """The number of elements up to which the oracle is quick."""
    not_on: tuple[str, ...] = ()
    """Libraries on which the call takes too long."""


def beside(x: Any, values: Any, dtype: Any = None) -> Any:
    """NumPy's values as an array of the library of x, in a dtype by name, by default that of x."""
    return xo.astype(xo.asarray(np.asarray(values, "float32"), like=x), x.dtype if dtype is None else dtype)


def ids(n: int) -> Any:
    """Indices of 3 segments, the first of which has nearly all elements."""
    return np.where(np.arange(n) % 997 == 5, 2, 0)


def _ids(x: Any) -> Any:
    return xo.asarray(ids(x.shape[0]).astype("int32"), like=x)


def _segments(reduce: Any, w: Any) -> Any:
    return np.stack([reduce(w[ids(len(w)) == k], axis=0) if k != 1 else 0 * w[0] for k in range(3)])


def weights(n: int) -> Any:
    """Weights that all dtypes represent."""
    return np.arange(n) % 3 + 1.0


def _weighted(w: Any) -> Any:
    given = weights(len(w)).reshape(-1, *(1,) * (w.ndim - 1))
    return np.sum(w / given.sum() * given, axis=0)


def _terms_of_sum(w: Any, want: Any) -> Any:
    return np.sum(np.abs(w), axis=0)


def _terms_of_mean(w: Any, want: Any) -> Any:
    return np.mean(np.abs(w), axis=0) + np.abs(want)


def _terms_of_variance(w: Any, want: Any) -> Any:
    """The two-pass bound: the variance, and the square of the error of the mean."""
    return np.abs(want) + 4 * EPS["float32"] * np.log2(2 + len(w)) * np.mean(np.abs(w), axis=0) ** 2


def _terms_of_deviation(w: Any, want: Any) -> Any:
    return np.abs(want) + np.mean(np.abs(w), axis=0)


def _softmax(w: Any) -> Any:
    powers = np.exp(w - np.max(w, axis=0))
    return powers / np.sum(powers, axis=0)


def _log_sum(w: Any) -> Any:
    top = np.max(w, axis=0)
    return np.log(np.sum(np.exp(w - top), axis=0)) + top


def _log_softmax(w: Any) -> Any:
    below = w - np.max(w, axis=0)
    return below - _log_sum(below)


def _square(w: Any) -> Any:
    """A matrix, or the first elements of a vector as a square one."""
    if w.ndim == 2:
        return w
    n = math.isqrt(min(w.shape[0], 4096))
    return w[: n * n].reshape(n, n)


def _matrix(x: Any) -> Any:
    if x.ndim == 2:
        return x
    n = math.isqrt(min(x.shape[0], 4096))
    return xo.reshape(x[: n * n], (n, n))


def _halves(x: Any) -> tuple[Any, Any]:
    n = x.shape[0] // 2
    return x[:n], x[n : 2 * n]


def _reduction(function: Any, want: Any, terms: Any = _terms_of_sum, **options: Any) -> Call:
    return Call(lambda x: function(x, axis=0, **options), want, terms, rows=True)


def _of_norm(order: float) -> Oracle:
    return lambda w: np.linalg.norm(w / max(1.0, np.abs(w).max()), order, axis=0) * max(1.0, np.abs(w).max())


def _of_result(w: Any, want: Any) -> Any:
    return np.abs(want)


def _of_greatest(w: Any, want: Any) -> Any:
    """Steps on the way have the size of the greatest element."""
    return np.abs(want) + np.max(np.abs(w), axis=0)


def _quantiles(function: Any, want: Any, q: Any, method: str) -> Call:
    return Call(
        lambda x: function(x, beside(x, q, floating(x)) if isinstance(q, list) else q, axis=0, method=method),
        lambda w: want(w, q, axis=0, method=method),
        _of_greatest,
        rows=True,
    )


def floating(x: Any) -> Any:
    """The dtype of x, or the default of its library for integers."""
    return x.dtype if xo.isdtype(x.dtype, "real floating") else xo.asarray(0.5, like=x).dtype


CALLS: dict[str, list[Call]] = {
    "sum": [Call(lambda x: xo.sum(xo.astype(x, floating(x)), axis=0), lambda w: w.sum(0), _terms_of_sum, rows=True)],
    "mean": [_reduction(xo.mean, lambda w: w.mean(0), _terms_of_mean)],
    "var": [_reduction(xo.var, lambda w: w.var(0), _terms_of_variance)],
    "std": [_reduction(xo.std, lambda w: w.std(0), _terms_of_deviation)],
    "cumulative_sum": [
        Call(
            lambda x: xo.cumulative_sum(xo.astype(x, floating(x)), axis=0),
            lambda w: w.cumsum(0),
            lambda w, want: np.abs(w).cumsum(0),
            rows=True,
        )
    ],
    "nansum": [
        Call(
            lambda x: xo.nansum(xo.astype(x, floating(x)), axis=0), lambda w: np.nansum(w, 0), _terms_of_sum, rows=True
        )
    ],
    "nanmean": [_reduction(xo.nanmean, lambda w: w.mean(0), _terms_of_mean)],
    "nanvar": [_reduction(xo.nanvar, lambda w: w.var(0), _terms_of_variance)],
    "nanstd": [_reduction(xo.nanstd, lambda w: w.std(0), _terms_of_deviation)],
    "average": [
        _reduction(xo.average, lambda w: w.mean(0), _terms_of_mean),
        Call(
            lambda x: xo.average(x, axis=0, weights=beside(x, weights(x.shape[0]), floating(x))),
            _weighted,
            _terms_of_mean,
            rows=True,
        ),
    ],
    "softmax": [
        _reduction(xo.softmax, _softmax, lambda w, want: want * (1 + np.minimum(np.max(w, axis=0) - w, 200))),
    ],
    "log_softmax": [_reduction(xo.log_softmax, _log_softmax, lambda w, want: np.abs(want) + 1)],
    "logsumexp": [_reduction(xo.logsumexp, _log_sum, lambda w, want: np.abs(want) + np.max(np.abs(w), axis=0) + 1)],
    "segment_sum": [
        Call(
            lambda x: xo.segment_sum(xo.astype(x, floating(x)), _ids(x), 3),
            lambda w: _segments(np.sum, w),
            lambda w, want: _segments(np.sum, np.abs(w)),
            rows=True,
        )
    ],
    "segment_mean": [
        Call(
            lambda x: xo.segment_mean(x, _ids(x), 3)[::2],
            lambda w: _segments(np.mean, w)[::2],
            lambda w, want: _segments(np.mean, np.abs(w))[::2],
            rows=True,
            least=7,
        )
    ],
    "bincount": [
        Call(
            lambda x: xo.bincount(_ids(x), xo.astype(x, floating(x)), length=3),
            lambda w: _segments(np.sum, w),
            lambda w, want: _segments(np.sum, np.abs(w)),
        ),
        Call(
            lambda x: xo.bincount(_ids(x), length=3),
            lambda w: np.bincount(ids(len(w)), minlength=3),
        ),
    ],
    "histogram": [
        Call(lambda x: xo.histogram(x, 5)[0], lambda w: np.histogram(w, 5)[0], None),
        Call(lambda x: xo.histogram(x, 5)[1], lambda w: np.histogram(w, 5)[1], _of_greatest),
        Call(lambda x: xo.sum(xo.histogram(x, 5)[0]), lambda w: np.sum(np.histogram(w, 5)[0]), _of_result),
        Call(
            lambda x: xo.histogram(x, 5, density=True)[0],
            lambda w: np.histogram(w, 5, density=True)[0],
            None,
        ),
        Call(
            lambda x: xo.sum(xo.histogram(x, 5, weights=xo.ones_like(xo.astype(x, floating(x))))[0]),
            lambda w: np.sum(np.histogram(w, 5)[0]),
            _of_result,
        ),
    ],
    "cov": [
        Call(lambda x: xo.cov(x), lambda w: np.cov(w), _terms_of_variance, least=2),
        Call(
            lambda x: xo.cov(x, aweights=beside(x, weights(x.shape[0]), floating(x))),
            lambda w: np.cov(w, aweights=weights(len(w))),
            _terms_of_variance,
            least=2,
        ),
    ],
    "corrcoef": [
        Call(
            lambda x: xo.corrcoef(*_halves(x))[0, 1],
            lambda w: np.corrcoef(*_halves(w))[0, 1],
            lambda w, want: np.abs(want) + (1 + np.mean(w) ** 2 / np.var(w) if np.var(w) else np.inf),
            least=8,
        )
    ],
    "trapezoid": [
        Call(
            lambda x: xo.trapezoid(x, dx=0.001953125, axis=0),
            lambda w: np.trapezoid(w, dx=0.001953125, axis=0),
            lambda w, want: np.sum(np.abs(w), axis=0) * 0.001953125,
            rows=True,
        ),
        Call(
            lambda x: xo.trapezoid(beside(x, np.ones(x.shape[0]) / 1024, floating(x)), x),
            lambda w: np.trapezoid(np.ones(len(w)) / 1024, w),
            lambda w, want: np.sum(np.abs(np.diff(w))) / 1024,
        ),
    ],
    "convolve": [
        Call(
            lambda x: xo.convolve(xo.astype(x, floating(x)), beside(x, np.full(3001, 2.0**-11), floating(x))),
            lambda w: np.convolve(w, np.full(3001, 2.0**-11)),
            lambda w, want: np.convolve(np.abs(w), np.full(3001, 2.0**-11)),
            most=10_000,
            not_on=("dask",),
        )
    ],
    "correlate": [
        Call(
            lambda x: xo.correlate(xo.astype(x, floating(x)), beside(x, np.full(3001, 2.0**-11), floating(x)), "full"),
            lambda w: np.correlate(w, np.full(3001, 2.0**-11), "full"),
            lambda w, want: np.convolve(np.abs(w), np.full(3001, 2.0**-11)),
            most=10_000,
            not_on=("dask",),
        )
    ],
    "linalg.vector_norm": [
        _reduction(xo.linalg.vector_norm, _of_norm(2), _of_result),
        _reduction(xo.linalg.vector_norm, lambda w: np.abs(w).sum(0), _of_result, ord=1),
        _reduction(xo.linalg.vector_norm, lambda w: np.abs(w).max(0), _of_result, ord=math.inf),
        _reduction(xo.linalg.vector_norm, _of_norm(3), lambda w, want: 4 * want, ord=3),
        _reduction(xo.linalg.vector_norm, lambda w: (w != 0).sum(0) + 0.0, _of_result, ord=0),
    ],
    "linalg.matrix_norm": [
        Call(
            lambda x: xo.linalg.matrix_norm(_matrix(x)),
            lambda w: _of_norm(2)(_square(w).ravel()),
            _of_result,
            rows=True,
        ),
        *(
            Call(
                lambda x, ord=ord: xo.linalg.matrix_norm(_matrix(x), ord=ord),
                lambda w, ord=ord: np.linalg.norm(_square(w), ord),
                _of_result,
                rows=True,
            )
            for ord in (1, -1, math.inf, -math.inf)
        ),
    ],
    "linalg.norm": [
        _reduction(xo.linalg.norm, _of_norm(2), _of_result),
        Call(xo.linalg.norm, lambda w: _of_norm(2)(w.ravel()), _of_result, rows=True),
        _reduction(xo.linalg.norm, _of_norm(1), _of_result, ord=1),
        Call(lambda x: xo.linalg.norm(x, ord=1), lambda w: np.linalg.norm(w, 1), _of_result, rows=True),
        _reduction(xo.linalg.norm, _of_norm(3), lambda w, want: 4 * want, ord=3),
    ],
    "linalg.trace": [
        Call(
            lambda x: xo.linalg.trace(_matrix(xo.astype(x, floating(x)))),
            lambda w: np.trace(_square(w)),
            lambda w, want: np.sum(np.abs(np.diag(_square(w)))),
        )
    ],
    "vecdot": [
        Call(
            lambda x: xo.vecdot(xo.astype(x, floating(x)), beside(x, np.full(x.shape[0], 2.0**-9), floating(x))),
            lambda w: np.sum(w) * 2.0**-9,
            lambda w, want: np.sum(np.abs(w)) * 2.0**-9,
        )
    ],
    "median": [_reduction(xo.median, lambda w: np.quantile(w, 0.5, axis=0), _of_greatest)],
    "nanmedian": [_reduction(xo.nanmedian, lambda w: np.quantile(w, 0.5, axis=0), _of_greatest)],
    **{
        name: [
            _quantiles(getattr(xo, name), np.quantile, 0.3, "linear"),
            _quantiles(getattr(xo, name), np.quantile, [0.25, 0.9375], "linear"),
            _quantiles(getattr(xo, name), np.quantile, [0.25, 0.9375], "hazen"),
            _quantiles(getattr(xo, name), np.quantile, [0.25, 0.9375], "midpoint"),
            _quantiles(getattr(xo, name), np.quantile, [0.25, 0.9375], "lower"),
        ]
        for name in ("quantile", "nanquantile")
    },
    **{
        name: [
            _quantiles(getattr(xo, name), np.percentile, 30, "linear"),
            _quantiles(getattr(xo, name), np.percentile, [25.0, 93.75], "linear"),
        ]
        for name in ("percentile", "nanpercentile")
    },
    "ptp": [_reduction(lambda x, axis: xo.ptp(x, axis=axis), lambda w: np.ptp(w, axis=0), _of_result)],
    "pad": [
        Call(lambda x: xo.pad(x, 2, "mean"), lambda w: np.pad(w, 2, "mean"), _of_greatest),
        Call(
            lambda x: xo.pad(xo.astype(x, floating(x)), 300, "linear_ramp"),
            lambda w: np.pad(w, 300, "linear_ramp"),
            _of_greatest,
        ),
        Call(
            lambda x: xo.pad(xo.astype(x, floating(x)), 2, "median"),
            lambda w: np.pad(w, 2, "median"),
            _of_greatest,
        ),
    ],
}
"""The functions that sum, average, normalise, rank or count: their results are held to the law."""
