"""Cube roots, softmax and its logarithm, one-hot vectors, and functions of some elements."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import xarrayops as xo
from xarrayops.testing._suite.samples import FLOATS, INTEGERS, SIGNED, sample, specials
from xarrayops.testing._suite.table import call, row

ADD: Any = np.logaddexp
CUBE = sample("float64", (2, 3, 4))
HUGE = np.asarray([1e3, -1e3, 999.0])
CLASSES = np.asarray([[0, 2], [5, -1]])


def _softmax(x: Any, *, axis: Any = -1) -> Any:
    x = x.astype("float64")
    powers = np.exp(x - np.max(x, axis=axis, keepdims=True))
    return powers / np.sum(powers, axis=axis, keepdims=True)


def _log_softmax(x: Any, *, axis: Any = -1) -> Any:
    x = x.astype("float64")
    return x - ADD.reduce(x, axis=axis, keepdims=True)


def _sigmoid(x: Any) -> Any:
    return np.exp(-np.logaddexp(0, -x.astype("float64")))


def _erf(x: Any) -> Any:
    return np.vectorize(math.erf, otypes=["float64"])(x.astype("float64"))


def _logsumexp(x: Any, *, axis: Any = None, keepdims: bool = False) -> Any:
    return ADD.reduce(x.astype("float64"), axis=axis, keepdims=keepdims)


def _one_hot(x: Any, num_classes: int, *, dtype: Any = None, axis: int = -1) -> Any:
    return np.moveaxis((x[..., None] == np.arange(num_classes)).astype("float64"), -1, axis)


def _roots(x: Any) -> Any:
    return xo.apply_where(x > 0, x, xo.sqrt, xo.abs)


def _inverse(x: Any) -> Any:
    return xo.apply_where(x != 0, (x, 2 * x), lambda a, b: b / (a * a), fill_value=-7)


ROWS = [
    row("cbrt", np.cbrt, *(call(sample(d, (3, 4), low=-90, high=90)) for d in FLOATS), call(specials("float64"))),
    row(
        "softmax",
        _softmax,
        call(CUBE),
        call(CUBE, axis=(0, 2)),
        call(HUGE),
        *(call(sample(d)) for d in SIGNED),
        dtype="floating",
        ulps=64,
    ),
    row(
        "log_softmax",
        _log_softmax,
        call(CUBE),
        call(CUBE, axis=(0, 2)),
        call(HUGE),
        *(call(sample(d)) for d in SIGNED),
        dtype="floating",
        normwise=True,  # as in every library: near 0 it is the logarithm of a number near 1
    ),
    row("sigmoid", _sigmoid, call(HUGE), call(CUBE), *(call(sample(d)) for d in SIGNED), dtype="floating", ulps=64),
    row("erf", _erf, call(HUGE), call(CUBE), *(call(sample(d)) for d in SIGNED), dtype="floating", ulps=64),
    row(
        "logsumexp",
        _logsumexp,
        call(CUBE, axis=1),
        call(CUBE),
        call(HUGE),
        call(CUBE, axis=(0, 2), keepdims=True),
        call(specials("float64")[1:2]),
        call(specials("float64")[2:]),
        call(np.full(3, -np.inf)),
        call(CUBE[:0], axis=0),
        ulps=64,
    ),
    row("logsumexp", _logsumexp, *(call(sample(d)) for d in INTEGERS), dtype="floating", label="of integers", ulps=64),
    row(
        "one_hot",
        _one_hot,
        call(CLASSES, 4),
        call(CLASSES, 4, axis=0),
        call(CLASSES[:0], 2),
        call(CLASSES, 3, dtype="int64"),
        *(call(sample(d, (3,)), 5) for d in INTEGERS),
        dtype="real floating",
    ),
    row(
        "apply_where",
        lambda x: np.where(x > 0, np.sqrt(np.abs(x)), np.abs(x)),
        call(CUBE),
        call(specials("float64")[1:]),
        function=_roots,
    ),
    row(
        "apply_where",
        lambda x: np.where(x != 0, 2 / np.where(x == 0, 1, x), -7),
        call(CUBE),
        call(np.asarray([0.0, 2.0])),
        function=_inverse,
        label="with a number",
    ),
]
