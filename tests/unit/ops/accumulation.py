# Long: a line for each function of the surface.
"""The law of accumulation: which functions it covers, and a float64 oracle for each function."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

import xarrayops as xo
from tests.unit.ops.extreme_arrays import EPS, GREATEST, LEAST, arrays

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
    return xo.astype(
        xo.asarray(np.asarray(values, "float32"), backend=xo.backend(x).name), x.dtype if dtype is None else dtype
    )


def ids(n: int) -> Any:
    """Indices of 3 segments, the first of which has nearly all elements."""
    return np.where(np.arange(n) % 997 == 5, 2, 0)


def _ids(x: Any) -> Any:
    return xo.asarray(ids(x.shape[0]).astype("int32"), backend=xo.backend(x).name)


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
        lambda x: function(x, beside(x, q, _floating(x)) if isinstance(q, list) else q, axis=0, method=method),
        lambda w: want(w, q, axis=0, method=method),
        _of_greatest,
        rows=True,
    )


def _floating(x: Any) -> Any:
    """The dtype of x, or the default of its library for integers."""
    return x.dtype if xo.isdtype(x.dtype, "real floating") else xo.asarray(0.5, backend=xo.backend(x).name).dtype


CALLS: dict[str, list[Call]] = {
    "sum": [Call(lambda x: xo.sum(xo.astype(x, _floating(x)), axis=0), lambda w: w.sum(0), _terms_of_sum, rows=True)],
    "mean": [_reduction(xo.mean, lambda w: w.mean(0), _terms_of_mean)],
    "var": [_reduction(xo.var, lambda w: w.var(0), _terms_of_variance)],
    "std": [_reduction(xo.std, lambda w: w.std(0), _terms_of_deviation)],
    "cumulative_sum": [
        Call(
            lambda x: xo.cumulative_sum(xo.astype(x, _floating(x)), axis=0),
            lambda w: w.cumsum(0),
            lambda w, want: np.abs(w).cumsum(0),
            rows=True,
        )
    ],
    "nansum": [
        Call(
            lambda x: xo.nansum(xo.astype(x, _floating(x)), axis=0), lambda w: np.nansum(w, 0), _terms_of_sum, rows=True
        )
    ],
    "nanmean": [_reduction(xo.nanmean, lambda w: w.mean(0), _terms_of_mean)],
    "nanvar": [_reduction(xo.nanvar, lambda w: w.var(0), _terms_of_variance)],
    "nanstd": [_reduction(xo.nanstd, lambda w: w.std(0), _terms_of_deviation)],
    "average": [
        _reduction(xo.average, lambda w: w.mean(0), _terms_of_mean),
        Call(
            lambda x: xo.average(x, axis=0, weights=beside(x, weights(x.shape[0]), _floating(x))),
            _weighted,
            _terms_of_mean,
            rows=True,
        ),
    ],
    "softmax": [
        _reduction(xo.softmax, _softmax, lambda w, want: want * (1 + np.minimum(np.max(w, axis=0) - w, 200))),
    ],
    "logsumexp": [_reduction(xo.logsumexp, _log_sum, lambda w, want: np.abs(want) + np.max(np.abs(w), axis=0) + 1)],
    "segment_sum": [
        Call(
            lambda x: xo.segment_sum(xo.astype(x, _floating(x)), _ids(x), 3),
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
            lambda x: xo.bincount(_ids(x), xo.astype(x, _floating(x)), length=3),
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
            lambda x: xo.sum(xo.histogram(x, 5, weights=xo.ones_like(xo.astype(x, _floating(x))))[0]),
            lambda w: np.sum(np.histogram(w, 5)[0]),
            _of_result,
        ),
    ],
    "cov": [
        Call(lambda x: xo.cov(x), lambda w: np.cov(w), _terms_of_variance, least=2),
        Call(
            lambda x: xo.cov(x, aweights=beside(x, weights(x.shape[0]), _floating(x))),
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
            lambda x: xo.trapezoid(beside(x, np.ones(x.shape[0]) / 1024, _floating(x)), x),
            lambda w: np.trapezoid(np.ones(len(w)) / 1024, w),
            lambda w, want: np.sum(np.abs(np.diff(w))) / 1024,
        ),
    ],
    "convolve": [
        Call(
            lambda x: xo.convolve(xo.astype(x, _floating(x)), beside(x, np.full(3001, 2.0**-11), _floating(x))),
            lambda w: np.convolve(w, np.full(3001, 2.0**-11)),
            lambda w, want: np.convolve(np.abs(w), np.full(3001, 2.0**-11)),
            most=10_000,
            not_on=("dask",),
        )
    ],
    "correlate": [
        Call(
            lambda x: xo.correlate(
                xo.astype(x, _floating(x)), beside(x, np.full(3001, 2.0**-11), _floating(x)), "full"
            ),
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
            lambda x: xo.linalg.trace(_matrix(xo.astype(x, _floating(x)))),
            lambda w: np.trace(_square(w)),
            lambda w, want: np.sum(np.abs(np.diag(_square(w)))),
        )
    ],
    "vecdot": [
        Call(
            lambda x: xo.vecdot(xo.astype(x, _floating(x)), beside(x, np.full(x.shape[0], 2.0**-9), _floating(x))),
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
            lambda x: xo.pad(xo.astype(x, _floating(x)), 300, "linear_ramp"),
            lambda w: np.pad(w, 300, "linear_ramp"),
            _of_greatest,
        ),
        Call(
            lambda x: xo.pad(xo.astype(x, _floating(x)), 2, "median"),
            lambda w: np.pad(w, 2, "median"),
            _of_greatest,
        ),
    ],
}
"""The functions that sum, average, normalise, rank or count: their results are held to the law."""


def _of_one(function: Any, want: Any) -> Call:
    return Call(lambda x: function(xo.astype(x, _floating(x))), want)


def _of_pair(function: Any, want: Any) -> Call:
    """Of x and x reversed."""
    return Call(
        lambda x: function(xo.astype(x, _floating(x)), xo.flip(xo.astype(x, _floating(x)))), lambda w: want(w, w[::-1])
    )


def _well_conditioned(w: Any) -> Any:
    return w / max(1.0, np.abs(w).max()) * 0.25


def _diagonal(x: Any) -> Any:
    """A matrix whose diagonal is the greatest elements of x, and 0 elsewhere."""
    n = min(4, x.shape[0])
    x = xo.astype(x[:n], _floating(x))
    return xo.reshape(x, (n, 1)) * beside(x, np.eye(n))


def _solved(w: Any) -> Any:
    n = min(4, len(w))
    return np.where(w[:n] == 0, np.nan, 1.0)


FINITE: dict[str, list[Call]] = {
    **{
        name: [_of_one(getattr(xo, name), getattr(np, name))]
        for name in ("abs", "atan", "asinh", "ceil", "expm1", "floor", "negative", "positive", "round", "sign", "sin")
    },
    **{
        name: [_of_one(getattr(xo, name), getattr(np, name))]
        for name in ("cos", "exp", "tanh", "square", "trunc", "reciprocal", "sinh", "cosh")
    },
    **{
        name: [Call(lambda x, name=name: getattr(xo, name)(xo.abs(xo.astype(x, _floating(x)))), want)]
        for name, want in {
            "sqrt": lambda w: np.sqrt(np.abs(w)),
            "log": lambda w: np.log(np.abs(w)),
            "log1p": lambda w: np.log1p(np.abs(w)),
            "log2": lambda w: np.log2(np.abs(w)),
            "log10": lambda w: np.log10(np.abs(w)),
            "acosh": lambda w: np.arccosh(np.abs(w)),
            "cbrt": lambda w: np.cbrt(np.abs(w)),
        }.items()
    },
    **{
        name: [_of_pair(getattr(xo, name), getattr(np, name))]
        for name in ("add", "subtract", "multiply", "divide", "hypot", "logaddexp", "maximum", "minimum", "atan2")
    },
    **{name: [_of_pair(getattr(xo, name), getattr(np, name))] for name in ("copysign", "remainder", "floor_divide")},
    "pow": [Call(lambda x: xo.pow(xo.abs(xo.astype(x, _floating(x))), 0.5), lambda w: np.abs(w) ** 0.5)],
    "diff": [_of_one(xo.diff, np.diff), _of_one(lambda x: xo.diff(x, n=2), lambda w: np.diff(w, n=2))],
    "prod": [
        Call(lambda x: xo.prod(xo.astype(x, _floating(x)) / 2), lambda w: np.prod(w / 2), most=40),
        Call(
            lambda x: xo.prod(beside(x, [60_000.0, 60_000.0, 2.0**-15, 2.0**-15], _floating(x))),
            lambda w: np.asarray(60_000.0**2 / 2.0**30),
        ),
    ],
    "cumulative_prod": [
        Call(
            lambda x: xo.cumulative_prod(beside(x, [60_000.0, 60_000.0, 2.0**-15, 2.0**-15], _floating(x)))[-1],
            lambda w: np.asarray(60_000.0**2 / 2.0**30),
        )
    ],
    "linspace": [
        Call(
            lambda x: xo.linspace(float(-abs(float(x[0]))), abs(float(x[0])), 7, dtype=_floating(x), like=x),
            lambda w: np.linspace(-abs(w[0]), abs(w[0]), 7),
        ),
        Call(
            lambda x: xo.linspace(0.0, 1000.0, x.shape[0], dtype=_floating(x), like=x),
            lambda w: np.linspace(0.0, 1000.0, len(w)),
        ),
        Call(
            lambda x: xo.linspace(beside(x, 0.0, _floating(x)), beside(x, 1000.0, _floating(x)), x.shape[0]),
            lambda w: np.linspace(0.0, 1000.0, len(w)),
        ),
    ],
    "arange": [
        Call(lambda x: xo.arange(0.0, 1000.0, 200.0, dtype=_floating(x), like=x), lambda w: np.arange(0, 1000, 200.0))
    ],
    "geomspace": [
        Call(
            lambda x: xo.geomspace(1e-3, 6e4, x.shape[0], dtype=_floating(x), like=x),
            lambda w: np.geomspace(1e-3, 6e4, len(w)),
        )
    ],
    "logspace": [
        Call(
            lambda x: xo.logspace(-3, 4.5, x.shape[0], dtype=_floating(x), like=x),
            lambda w: np.logspace(-3, 4.5, len(w)),
        )
    ],
    **{
        name: [
            Call(
                lambda x, name=name, given=given: getattr(xo, name)(x.shape[0], *given, dtype=_floating(x), like=x),
                lambda w, name=name, given=given: getattr(np, name)(len(w), *given),
            )
        ]
        for name, given in {"bartlett": (), "blackman": (), "hamming": (), "hanning": (), "kaiser": (14.0,)}.items()
    },
    "gradient": [
        Call(lambda x: xo.gradient(x), np.gradient, least=3),
        Call(lambda x: xo.gradient(x, 0.5, edge_order=2), lambda w: np.gradient(w, 0.5, edge_order=2), least=3),
    ],
    "interp": [
        Call(
            lambda x: xo.interp(beside(x, [0.25, 0.5, 1.75], _floating(x)), beside(x, [0, 1, 2], _floating(x)), x[:3]),
            lambda w: np.interp([0.25, 0.5, 1.75], [0, 1, 2], w[:3]),
            least=3,
        ),
        Call(
            lambda x: xo.interp(beside(x, [0.5], _floating(x)), xo.stack([xo.min(x), xo.max(x)]), beside(x, [1, 3])),
            lambda w: np.interp([0.5], [w.min(), w.max()], [1.0, 3.0]),
        ),
    ],
    "polyval": [
        Call(
            lambda x: xo.polyval(xo.astype(x, _floating(x)), beside(x, [1.0, -1.0, 0.5], _floating(x))),
            lambda w: np.polyval(w, [1.0, -1.0, 0.5]),
            most=20,
        )
    ],
    "nan_to_num": [Call(xo.nan_to_num, np.nan_to_num)],
    "matmul": [
        Call(
            lambda x: xo.matmul(xo.astype(x, _floating(x)), beside(x, np.full(x.shape[0], 2.0**-9), _floating(x))),
            lambda w: np.sum(w) * 2.0**-9,
        )
    ],
    "tensordot": [
        Call(
            lambda x: xo.tensordot(
                xo.astype(x, _floating(x)), beside(x, np.full(x.shape[0], 2.0**-9), _floating(x)), axes=1
            ),
            lambda w: np.sum(w) * 2.0**-9,
        )
    ],
    "einsum": [
        Call(
            lambda x: xo.einsum(
                "i,i->", xo.astype(x, _floating(x)), beside(x, np.full(x.shape[0], 2.0**-9), _floating(x))
            ),
            lambda w: np.sum(w) * 2.0**-9,
        )
    ],
    "outer": [_of_pair(xo.outer, np.outer)._replace(most=50)],
    "kron": [Call(lambda x: xo.kron(x[:4], beside(x, [1, 0])), lambda w: np.kron(w[:4], [1, 0]))],
    "linalg.outer": [_of_pair(xo.linalg.outer, np.outer)._replace(most=50)],
    "linalg.cross": [
        Call(
            lambda x: xo.linalg.cross(xo.astype(x, _floating(x))[:3], beside(x, [0.5, 0.25, 1.0], _floating(x))),
            lambda w: np.cross(w[:3], [0.5, 0.25, 1.0]),
            least=3,
        )
    ],
    "linalg.cond": [
        Call(
            lambda x: xo.linalg.cond(_diagonal(x)),
            lambda w: np.abs(w[:4]).max() / np.abs(w[:4]).min() * _solved(w).max(),
            least=4,
        )
    ],
}
"""Other functions with a floating-point result: it is finite where the oracle's is."""

_EXACT = """
all allclose any apply_where argmax argmin argpartition argsort array_equal asarray astype atleast_nd bitwise_and
bitwise_invert bitwise_left_shift bitwise_or bitwise_right_shift bitwise_xor broadcast_arrays broadcast_shapes
broadcast_to can_cast clip compress concat conj count_nonzero delete diag digitize empty empty_like equal expand_dims
eye fft.fftshift fft.ifftshift fill_diagonal finfo flip from_dlpack full full_like greater greater_equal iinfo imag
insert intersect1d isclose isdtype isfinite isin isinf isnan less less_equal lexsort linalg.diagonal logical_and
logical_not logical_or logical_xor matrix_transpose max meshgrid min moveaxis nanmax nanmin nextafter nonzero
not_equal one_hot ones ones_like partition permute_dims real repeat reshape result_type roll searchsorted segment_max
segment_min setdiff1d setxor1d signbit sliding_window_view sort squeeze stack take take_along_axis tile topk tril triu
union1d unique_all unique_counts unique_inverse unique_values unstack where zeros zeros_like
"""
EXACT = frozenset(_EXACT.split())
"""Functions that compare, select or move elements: nothing is rounded on the way."""

_ELSEWHERE = """
acos asin atanh tan linalg.cholesky linalg.det linalg.eig linalg.eigh linalg.eigvals linalg.eigvalsh linalg.inv
linalg.lstsq linalg.matrix_power linalg.matrix_rank linalg.pinv linalg.qr linalg.slogdet linalg.solve linalg.svd
linalg.svdvals fft.fft fft.fftfreq fft.fftn fft.hfft fft.ifft fft.ifftn fft.ihfft fft.irfft fft.irfftn fft.rfft
fft.rfftfreq fft.rfftn
"""
ELSEWHERE = frozenset(_ELSEWHERE.split())
"""Factorisations and transforms, which the libraries have in no half type, and functions of small numbers only."""


def fault(call: Call, wide: Any, want: Any, got: Any, *, is_bounded: bool) -> str | None:
    """What of a result violates the law, or None."""
    got = xo.convert(xo.compute(got), "numpy")
    name = str(got.dtype)
    got = np.asarray(got, dtype=np.float64)
    is_bounded = is_bounded and call.terms is not None
    with np.errstate(all="ignore"):
        terms = np.broadcast_to(np.asarray(call.terms(wide, want), np.float64) if is_bounded else 0.0, want.shape)
    if got.shape != want.shape:
        return f"has the shape {got.shape}, not {want.shape}"
    bound = _bound(name, wide, want, terms) if is_bounded and name in EPS else 0.0
    limit = GREATEST.get(name, math.inf) * (1 - EPS.get(name, 0))
    should = np.isfinite(want) & (np.abs(want) + bound <= limit)
    if not np.all(np.isfinite(got[should])):
        at = np.argmax(should & ~np.isfinite(got))
        return f"is {got.flat[at]}, not {want.flat[at]:.6g}"
    if not is_bounded:
        return None
    if name not in EPS:
        limits = np.iinfo(name)
        is_held = (want >= limits.min) & (want <= limits.max)
        return None if np.all((np.abs(got - want) <= 0.5) | ~is_held) else "counts wrongly"
    error = np.abs(got - want)
    wrong = should & (error > bound)
    if not wrong.any():
        return None
    at = np.argmax(wrong)
    return f"is {got.flat[at]:.9g}, not {want.flat[at]:.9g}: {error.flat[at] / bound.flat[at]:.3g} times the bound"


def _bound(name: str, wide: Any, want: Any, terms: Any) -> Any:
    """The greatest error that the law allows."""
    steps = math.log2(max(2, wide.shape[0]))
    if EPS[name] > EPS["float32"]:
        return 4 * (EPS[name] * np.abs(want) + LEAST[name]) + 4 * EPS["float32"] * steps * terms
    return 4 * EPS[name] * steps * terms + LEAST[name]


def served(call: Call, library: str, x: Any) -> bool:
    """Whether a call takes an array of this shape."""
    return (x.ndim == 1 or call.rows) and call.least <= x.shape[0] <= call.most and library not in call.not_on


def faults(library: str, dtype: str, is_chosen: Callable[[int], bool] = lambda number: True) -> list[str]:
    """The faults of all chosen calls of one library, one line for each."""
    found = []
    number = 0
    for name, host in arrays(dtype):
        wide = host.astype(np.float64)
        x = xo.asarray(host, backend=library)
        for table, is_bounded in ((CALLS, True), (FINITE, False)):
            for function, calls in table.items():
                for place, call in enumerate(calls):
                    if not served(call, library, host):
                        continue
                    number += 1
                    if not is_chosen(number):
                        continue
                    try:
                        with np.errstate(all="ignore"):
                            want = np.asarray(call.want(wide), dtype=np.float64)
                    except ValueError:  # NumPy refuses the call in float64, too
                        continue
                    try:
                        problem = fault(call, wide, want, call.run(x), is_bounded=is_bounded)
                    except Exception as error:
                        problem = f"raises {type(error).__name__}: {str(error).splitlines()[0][:150]}"
                    if problem:
                        found.append(f"{library} {dtype} {name}: xo.{function} [{place}] {problem}")
    return found
