"""Elementwise functions: a chain, a single function, and one that overwrites its input.

The bytes are counted for a single pass. A library that runs one function after the other moves several times as many.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

import xarrayops as xo
from xarrayops.bench.workload import Arrays, Workload, exactly
from xarrayops.plugin import Array

_COLUMNS = 1024
_ROWS = {"toy": (7,), "default": (512,), "large": (65536,)}


def _rows(random: Any, n: int) -> Arrays:
    return (random.standard_normal((n, _COLUMNS)),)


def logsumexp(x: Array, /) -> Array:
    """``log(sum(exp(x)))`` of each row, without overflow."""
    highest = xo.max(x, axis=1, keepdims=True)
    total = xo.sum(xo.exp(xo.subtract(x, highest)), axis=1, keepdims=True)
    return xo.add(xo.log(total), highest)


def relu(x: Array, /) -> Array:
    """``max(x, 0)`` in a new array."""
    return xo.maximum(x, 0.0)


def relu_in_place(x: Array, /) -> Array:
    """``max(x, 0)`` in the memory of x, where the library has mutable arrays. Later calls do not change x."""
    return xo.at(x)[...].max(0.0, copy=None)


def axpy(x: Array, y: Array, /) -> Array:
    """``2.5 * x + y``."""
    return xo.add(xo.multiply(x, 2.5), y)


_relu = partial(Workload, inputs=_rows, expected=lambda x: np.maximum(x, 0), sizes=_ROWS, tolerance=exactly)

WORKLOADS = (
    Workload(
        "elementwise",
        logsumexp,
        inputs=lambda random, n: (8 * random.standard_normal((n, _COLUMNS)),),
        expected=lambda x: np.logaddexp.reduce(x, axis=1, keepdims=True),
        sizes={"toy": (7,), "default": (256, 1024, 4096), "large": (4096, 65536)},
        timed="log-sum-exp of each row as separate functions: max, subtract, exp, sum, log, add",
        tolerance=lambda n: 4.0,
    ),
    _relu("relu", relu, timed="xo.maximum(x, 0.0), into a new array"),
    _relu(
        "relu in place",
        relu_in_place,
        timed="xo.at(x)[...].max(0.0), which overwrites x; libraries with immutable arrays (JAX, Dask) copy",
    ),
    Workload(
        "axpy",
        axpy,
        inputs=lambda random, n: (*_rows(random, n), *_rows(random, n)),
        expected=lambda x, y: 2.5 * x + y,
        sizes=_ROWS,
        timed="xo.add(xo.multiply(x, 2.5), y), not compiled",
        tolerance=lambda n: 2.0,
    ),
)
