"""Medians and quantiles, with NumPy's methods."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from xarrayops.testing._suite.samples import COMPLEX, FLOATS, HOLES, INTEGERS, sample, specials
from xarrayops.testing._suite.table import call, row

METHODS = (
    *("linear", "inverted_cdf", "averaged_inverted_cdf", "closest_observation", "interpolated_inverted_cdf", "hazen"),
    *("weibull", "median_unbiased", "normal_unbiased", "lower", "higher", "midpoint", "nearest"),
)
CUBE = sample("float64", (2, 3, 4))
EMPTY = sample("float64", (0, 3))
Q = np.asarray([0.0, 0.3, 0.5, 1.0])
REDUCTIONS = (
    call(CUBE, axis=1),
    call(HOLES, axis=0),
    call(CUBE),
    call(CUBE, axis=(0, -1), keepdims=True),
    call(HOLES, axis=-1, keepdims=True),
    call(EMPTY, axis=0),
    call(EMPTY, axis=1),
    call(specials("float32")[1:]),
    call(sample("float64", ())),
    call(sample("float64", (1,))),
    *(call(sample(dtype, (5, 4)), axis=0) for dtype in (*FLOATS, *INTEGERS, "bool")),
)


OF_COMPLEX = (
    *(call(sample(dtype, (5, 4)), axis=axis) for dtype in COMPLEX for axis in (0, 1)),
    call(np.asarray([1 + 2j, complex(1, np.nan), 1 - 2j])),
)


def _empty(function: Callable[..., Any]) -> Callable[..., Any]:
    """NumPy's function, with NaN for no elements."""

    @functools.wraps(function)
    def oracle(x: Any, q: Any, **options: Any) -> Any:
        x = x.astype("float64") if x.dtype.kind == "b" else x
        if x.size:
            return function(x, q, **options)
        options.pop("method", None)
        shape = np.median(x, **options).shape
        return np.full((*np.shape(q), *shape), np.nan)

    return oracle


def _calls(scale: float) -> tuple[Any, ...]:
    return (
        call(CUBE, 0.25 * scale, axis=1),
        call(HOLES, Q * scale, axis=1, keepdims=True),
        call(HOLES, 0.7 * scale, axis=0),
        *(call(HOLES, Q * scale, axis=0, method=method) for method in METHODS[:: 1 if scale == 1 else 5]),
        *(call(sample("float32", (6,)), 0.4 * scale, method=method) for method in METHODS[:: 1 if scale == 1 else 5]),
        call(CUBE, Q[1] * scale),
        call(CUBE, 1 * int(scale), axis=(0, 2)),
        call(EMPTY, 0.5 * scale),
        call(EMPTY, Q * scale, axis=0),
        call(sample("float32", (7,)), (Q * scale).astype("float32")),
        *(call(sample(dtype, (5,)), 0.5 * scale) for dtype in (*INTEGERS, "bool")),
    )


ROWS = [
    row("median", np.median, *REDUCTIONS, *OF_COMPLEX, dtype="floating"),
    row("nanmedian", np.nanmedian, *REDUCTIONS, *OF_COMPLEX, dtype="floating"),
    row("quantile", _empty(np.quantile), *_calls(1), dtype="floating", ulps=64),
    row("nanquantile", _empty(np.nanquantile), *_calls(1), dtype="floating", ulps=64),
    row("percentile", _empty(np.percentile), *_calls(100), dtype="floating", ulps=64),
    row("nanpercentile", _empty(np.nanpercentile), *_calls(100), dtype="floating", ulps=64),
    row(
        "quantile",
        np.quantile,
        *(call(sample(d, (5, 3)), 0.4, axis=0, method=m) for d in INTEGERS for m in ("lower", "nearest")),
        dtype="first",
        label="that is an element",
    ),
]
