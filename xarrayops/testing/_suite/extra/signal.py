"""Interpolation, differences, integrals, convolution and polynomials."""

import numpy as np

from xarrayops.testing._suite.samples import COMPLEX, INEXACT, INTEGERS, NUMERIC, sample, specials
from xarrayops.testing._suite.table import call, row

VECTOR, MATRIX, CUBE = (sample("float64", shape) for shape in ((6,), (3, 4), (2, 3, 4)))
POINTS = np.asarray([-2.0, -0.5, 0.0, 2.5])
HEIGHTS = sample("float64", (4,))
PLACES = np.concatenate([sample("float64", (9,)), POINTS, specials("float64")])
MODES = ("full", "same", "valid")
LENGTHS = ((6, 3), (3, 6), (5, 5), (7, 2), (2, 7), (4, 1), (1, 1))
GRID = np.asarray([0.0, 0.5, 2.0])

ROWS = [
    row(
        "interp",
        np.interp,
        call(PLACES, POINTS, HEIGHTS),
        call(PLACES.reshape(4, 5), POINTS, HEIGHTS, left=-9.0, right=9.0),
        call(PLACES[:13], np.asarray([3.5, 0.5, 1.0, 2.5]), HEIGHTS, period=4.0),
        call(0.25, POINTS, HEIGHTS),
        call(PLACES[:9], POINTS[:1], HEIGHTS[:1]),
        call(PLACES[:0], POINTS, HEIGHTS),
        call(PLACES, np.asarray([-np.inf, -0.5, 0.0, np.inf]), HEIGHTS),
        call(np.asarray([1, 0]), np.asarray([0, 2]), np.asarray([3, 4])),
        call(PLACES[:9].astype("float32"), POINTS.astype("float32"), HEIGHTS.astype("float32")),
        call(PLACES[:9], POINTS, HEIGHTS + 1j * HEIGHTS[::-1]),
        dtype="floating",
        normwise=True,
    ),
    row(
        "gradient",
        np.gradient,
        call(VECTOR),
        call(MATRIX),
        call(MATRIX, 0.5),
        call(CUBE, axis=1, edge_order=2),
        call(MATRIX, GRID, axis=0, edge_order=2),
        call(MATRIX, GRID, 2.0),
        call(CUBE, axis=(2, 0)),
        call(VECTOR, 0.25, edge_order=2),
        *(call(sample(d, (4,))) for d in (*INEXACT, *INTEGERS)),
        dtype=None,
        normwise=True,
    ),
    row(
        "trapezoid",
        np.trapezoid,
        call(VECTOR),
        call(MATRIX, GRID, axis=0),
        call(MATRIX, dx=0.5, axis=1),
        call(MATRIX, np.cumsum(np.abs(MATRIX), axis=1)),
        *(call(sample(d, (4,))) for d in (*INEXACT, *INTEGERS)),
        dtype="floating",
        normwise=True,
    ),
    *(
        row(
            verb,
            getattr(np, verb),
            *(call(VECTOR, POINTS, mode) for mode in MODES),
            *(call(sample("float64", (n,)), sample("float64", (m,)), mode) for n, m in LENGTHS for mode in MODES),
            *(call(sample(d, (5,)), sample(d, (3,)), mode) for d in NUMERIC for mode in MODES[:2]),
            *(call(sample(d, (3,)), sample(d, (4,)), mode) for d in COMPLEX for mode in MODES),
            normwise=True,
            ulps=64,
        )
        for verb in ("convolve", "correlate")
    ),
    row(
        "polyval",
        np.polyval,
        call(VECTOR, MATRIX),
        call(VECTOR, 2.0),
        call(VECTOR[:0], MATRIX),
        call(np.asarray([1, 2]), VECTOR),
        *(call(sample(d, (3,)), sample(d, (4,))) for d in NUMERIC),
        normwise=True,
        ulps=64,
    ),
]
