"""Equality of arrays, exact and within a tolerance."""

import numpy as np

from xarrayops.testing._suite.samples import ALL, FLOATS, sample, specials
from xarrayops.testing._suite.table import call, row

X = sample("float64", (3, 4))
NEAR = X * (1 + 1e-6)
PAIRS = (
    (X, NEAR),
    (X, X[:, ::-1].copy()),
    (specials("float64"), specials("float64")[::-1].copy()),
    (specials("float32"), specials("float32")),
    (X, sample("float64", (4,))),
    (sample("float32", (0, 2)), sample("float32", (2,))),
    (sample("float64", ()), sample("float64", ())),
    *((sample(d, (5,)), sample(d, (5,), seed=1)) for d in ALL),
)
EQUAL = (*((x, y) for x, y in PAIRS if x.shape == y.shape), (X, X), (X, X[:2]), (X[:0], X[:0]), (X[:0], X[0, :0]))
ROWS = [
    row(
        "isclose",
        np.isclose,
        *(call(*pair, equal_nan=nan) for pair in PAIRS for nan in (True, False)[: 2 if pair[0].dtype in FLOATS else 1]),
        call(X, 0.5, rtol=0.1, atol=1.0),
        call(1, sample("int64", (4,))),
        call(sample("uint8", (4,)), np.asarray([255, 0, 3, 1], dtype="uint8"), atol=2.5),
        dtype="bool",
    ),
    row(
        "allclose", np.allclose, *(call(*pair, equal_nan=True) for pair in PAIRS), call(X, 0.5, atol=9.0), dtype="bool"
    ),
    row(
        "array_equal",
        np.array_equal,
        *(call(*p) for p in EQUAL),
        *(call(specials("float64"), x, equal_nan=True) for x in (specials("float64"), X[0])),
        dtype="bool",
    ),
]
