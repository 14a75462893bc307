"""Weighted means, covariances and histograms."""

from __future__ import annotations

from typing import Any

import numpy as np

from xarrayops.testing._suite.samples import COMPLEX, INEXACT, INTEGERS, REAL, sample
from xarrayops.testing._suite.table import call, row

MATRIX, OTHER = sample("float64", (3, 5)), sample("float64", (2, 5), seed=1)
CUBE = sample("float64", (2, 3, 4))
WEIGHTS = np.abs(sample("float64", (5,))) + 0.5
COUNTS = np.asarray([1, 2, 1, 3, 1])
EDGES = np.asarray([-3.0, -1.0, 0.5, 2.0])
PEAKS = [call(sample(d)) for d in ("int8", *COMPLEX)]
VALUES = np.concatenate([sample("float64", (20,)), EDGES, [np.nan]])


def _cov(x: Any, y: Any = None, *, correction: Any = 1, **options: Any) -> Any:
    return np.cov(x, y, ddof=correction, **options)


def _histogram(x: Any, bins: Any = 10, **options: Any) -> Any:
    return np.histogram(x if "weights" in options else x[~np.isnan(x)], bins, **options)


ROWS = [
    row(
        "average",
        np.average,
        call(MATRIX, axis=1, weights=WEIGHTS),
        call(CUBE, weights=np.abs(CUBE) + 1),
        call(CUBE, axis=(0, 2), weights=np.abs(CUBE) + 1, keepdims=True),
        call(MATRIX),
        call(MATRIX, axis=0),
        call(MATRIX, axis=-1, weights=COUNTS),
        *(call(sample(d, (3, 2)), axis=0) for d in INTEGERS),
        dtype="floating",
        ulps=64,
    ),
    row(
        "cov",
        _cov,
        call(MATRIX),
        call(MATRIX, OTHER),
        call(MATRIX, correction=0),
        call(MATRIX, rowvar=False),
        call(MATRIX[0]),
        call(MATRIX, fweights=COUNTS),
        call(MATRIX, aweights=WEIGHTS),
        call(MATRIX, OTHER, fweights=COUNTS, aweights=WEIGHTS, correction=2),
        *(call(sample(d, (2, 4))) for d in (*INEXACT, *INTEGERS)),
        dtype="floating",
        normwise=True,
        ulps=64,
    ),
    row(
        "corrcoef",
        np.corrcoef,
        call(MATRIX),
        call(MATRIX, OTHER),
        call(MATRIX, rowvar=False),
        call(MATRIX[0]),
        *(call(sample(d, (2, 4))) for d in (*INEXACT, *INTEGERS)),
        dtype="floating",
        normwise=True,
        ulps=64,
    ),
    row(
        "digitize",
        np.digitize,
        call(CUBE, EDGES),
        call(CUBE, EDGES[::-1].copy(), right=True),
        call(EDGES, EDGES, right=True),
        call(EDGES, EDGES[::-1].copy()),
        call(sample("float64", ()), EDGES[:1]),
        call(sample("float64", (0,)), EDGES),
        call(sample("int64", (9,)), np.asarray([-2, 0, 3])),
        dtype="integral",
    ),
    row(
        "histogram",
        _histogram,
        call(VALUES, EDGES),
        call(VALUES, 7, range=(-2, 2)),
        call(CUBE),
        call(CUBE, 4),
        call(CUBE[:0], 3),
        call(np.ones(3), 2),
        call(sample("float32", (9,)), 3, range=(-1, 1)),
        call(CUBE, 3, range=(1, 1)),
        *(call(sample(d, (30,)), 5) for d in REAL),
        *(call(sample(d, (30,)), 4, range=(0, 3)) for d in INTEGERS),
        dtype=("integral", "floating"),
        normwise=True,
    ),
    row(
        "histogram",
        _histogram,
        call(CUBE, EDGES, density=True),
        call(CUBE, 5, range=(-4, 4), density=True, weights=np.abs(CUBE)),
        call(CUBE, 5, weights=CUBE),
        dtype=None,
        normwise=True,
        ulps=64,
        label="weighted",
    ),
    row(
        "ptp",
        np.ptp,
        call(CUBE, axis=1),
        call(CUBE),
        call(CUBE, axis=(0, 2), keepdims=True),
        call(sample("int8")),
        *(call(sample(d)) for d in COMPLEX),
    ),
]
