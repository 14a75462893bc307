"""Elementwise functions and reductions: the logarithm of a sum of exponentials, row by row."""

from __future__ import annotations

import math

import numpy as np

import xarrayops as xo
from xarrayops.bench.workloads._contract import Case, Shapes, Workload
from xarrayops.plugin import Array

_SHAPE = {"toy": (30, 40), "default": (4096, 2048), "large": (16384, 8192)}
_OPERATIONS_PER_ELEMENT = 4.0  # max, subtract, exp, add


def shapes(size: str) -> Shapes:
    """One matrix."""
    return (_SHAPE[size],)


def logsumexp(x: Array, /) -> Array:
    """``log(sum(exp(x)))`` of every row, without overflow."""
    highest = xo.max(x, axis=1, keepdims=True)
    total = xo.sum(xo.exp(xo.subtract(x, highest)), axis=1, keepdims=True)
    return xo.add(xo.log(total), highest)


def prepare(dtype: str, size: str) -> Case:
    """The bytes are those of a single pass; a library that runs function by function moves several times as many."""
    x = (8 * np.random.default_rng(seed=3).standard_normal(_SHAPE[size])).astype(dtype)
    expected = np.logaddexp.reduce(x.astype(np.float64), axis=1, keepdims=True)
    tolerance = 4 * math.sqrt(x.shape[1]) * float(np.finfo(dtype).eps)
    operations = _OPERATIONS_PER_ELEMENT * x.size
    return Case((x,), (expected,), tolerance, operations, nbytes=float(x.nbytes + x.shape[0] * x.itemsize))


WORKLOAD = Workload(
    "elementwise",
    "log-sum-exp of each row, function by function: max, subtract, exp, sum, log, add",
    logsumexp,
    shapes,
    prepare,
    "B/s",
)
