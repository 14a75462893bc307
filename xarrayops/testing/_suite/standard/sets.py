"""Distinct values, and membership."""

from functools import partial

import numpy as np

import xarrayops as xo
from xarrayops.testing._suite.operations.indexing import EVERY, TIED
from xarrayops.testing._suite.samples import INTEGERS, sample, shuffled
from xarrayops.testing._suite.table import call, row

UNSORTED = np.asarray([5, 3, 3, 0, 4, 1] * 3)
"""Integers that NumPy's own unique_values returns in another order."""
REPEATED = [call(x) for x in (UNSORTED, TIED, *EVERY)]

ROWS = [
    row(
        "isin",
        np.isin,
        call(shuffled("int64"), np.asarray([1, 3, 9])),
        call(shuffled("int64"), np.asarray([1, 3, 9]), invert=True),
        call(shuffled("int64"), sample("int64", (0,))),
        call(shuffled("int8"), 3),
        call(shuffled("int8"), 300),
        call(shuffled("uint8"), -255, invert=True),
        *(call(shuffled(d), np.asarray([1, 3, 9], dtype=d)) for d in INTEGERS),
        dtype="bool",
    ),
    row(
        "unique_all",
        partial(np.unique, return_index=True, return_inverse=True, return_counts=True),
        *REPEATED,
        dtype=("first", "indexing", "indexing", "indexing"),
        fields=("values", "indices", "inverse_indices", "counts"),
    ),
    row(
        "unique_counts",
        partial(np.unique, return_counts=True),
        *REPEATED,
        dtype=("first", "indexing"),
        fields=("values", "counts"),
    ),
    row(
        "unique_inverse",
        partial(np.unique, return_inverse=True),
        call(sample("int64", (2, 3), high=0)),
        *REPEATED,
        dtype=("first", "indexing"),
        fields=("values", "inverse_indices"),
    ),
    row(
        "unique",
        partial(np.unique, return_index=True, return_inverse=True, return_counts=True),
        call(UNSORTED),
        *(call(x) for x in EVERY),
        *(call(sample(d, (4, 2, 2), low=0, high=1), axis=0) for d in ("int8", "float64", "bool", "uint64")),
        call(sample("int32", (2, 5), low=0, high=1), axis=-1),
        dtype=("first", "indexing", "indexing", "indexing"),
        function=partial(xo.unique, return_index=True, return_inverse=True, return_counts=True),
    ),
    row("unique_values", np.unique, *REPEATED),
]
