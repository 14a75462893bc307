"""Operations of sets."""

import numpy as np

from xarrayops.testing._suite.samples import COMPLEX, REAL, sample
from xarrayops.testing._suite.table import call, row

X, Y = sample("int64", (3, 4)), sample("int64", (5,), seed=1)
SETS = (np.asarray([5, 1, 3]), np.asarray([3, 9, 5, 2]))
PAIRS = (
    call(X, Y),
    call(X, Y[:0]),
    call(X[:0], Y),
    call(X.astype("float64"), Y.astype("float64")),
    *(call(sample(d, (6,)), sample(d, (4,), seed=2)) for d in REAL),
    *(call((X + 1j).astype(d), (Y + 1j).astype(d)) for d in COMPLEX),
)
HOLES = (call(np.asarray([1.0, np.nan, 2.0, np.nan]), np.asarray([np.nan, 2.0])),)


ROWS = [
    row("intersect1d", np.intersect1d, *PAIRS, *HOLES, call(*SETS, assume_unique=True)),
    row("intersect1d", np.intersect1d, call(X, Y, return_indices=True), dtype=None, label="with indices"),
    row("setdiff1d", np.setdiff1d, *PAIRS, call(*SETS, assume_unique=True), dtype="first"),
    row("setxor1d", np.setxor1d, *PAIRS, call(*SETS, assume_unique=True)),
    row("union1d", np.union1d, *PAIRS, *HOLES),
]
