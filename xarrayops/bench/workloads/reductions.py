"""Reductions over a whole matrix or along one axis."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np

import xarrayops as xo
from xarrayops.bench.workload import Arrays, Workload, exactly
from xarrayops.plugin import Array

_ORDER = {"toy": (40,), "default": (1500,), "large": (10000,)}


def _positive(random: Any, n: int) -> Arrays:
    """Positive numbers, so that nothing cancels, and small enough for float16 to hold their sum."""
    return (random.random((n, n)) / n,)


def _tolerance(n: int) -> float:
    """The tolerance of sequential sums in SIMD lanes, whose rounding errors grow as a random walk."""
    return 4 + 2 * math.sqrt(n)


def sum_along_columns(x: Array, /) -> Array:
    """The sum of each column, whose elements are a row apart in memory."""
    return xo.sum(x, axis=0)


def argmax_of_rows(x: Array, /) -> Array:
    """The position of the maximum of each row."""
    return xo.argmax(x, axis=1)


_sum = partial(Workload, inputs=_positive, sizes=_ORDER, tolerance=_tolerance)

WORKLOADS = (
    _sum("sum", xo.sum, expected=np.sum, timed="xo.sum(x) of a matrix"),
    _sum(
        "sum along columns",
        sum_along_columns,
        expected=partial(np.sum, axis=0),
        timed="xo.sum(x, axis=0) of a matrix in C order",
    ),
    Workload(
        "argmax",
        argmax_of_rows,
        inputs=lambda random, n: (random.standard_normal((n, n)),),
        expected=partial(np.argmax, axis=1),
        sizes=_ORDER,
        timed="xo.argmax(x, axis=1) of a matrix in C order",
        tolerance=exactly,
    ),
)
