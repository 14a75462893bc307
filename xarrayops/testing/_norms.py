"""Functions of numpy.linalg that the standard lacks."""

from __future__ import annotations

import numpy as np

from xarrayops.testing._samples import INEXACT, SIGNED, sample
from xarrayops.testing._table import Row, call, cases, check_row, row
from xarrayops.testing._variant import Variant

VECTOR, MATRIX, CUBE = (sample("float64", shape) for shape in ((5,), (3, 4), (2, 3, 4)))
ROWS = [
    row(
        "linalg.norm",
        np.linalg.norm,
        call(VECTOR),
        call(CUBE),
        call(MATRIX, ord="fro"),
        call(CUBE, axis=-1),
        *(call(VECTOR, ord=order) for order in (0, 1, 2, 3, -1, np.inf, -np.inf)),
        *(call(MATRIX, ord=order) for order in ("nuc", 1, -1, 2, -2, np.inf, -np.inf)),
        call(CUBE, axis=(0, 2), ord=1, keepdims=True),
        call(CUBE, axis=(2, 0), ord=np.inf),
        call(CUBE, keepdims=True),
        call(CUBE, axis=1, ord=1, keepdims=True),
        *(call(sample(dtype, (3, 2)), axis=axis) for dtype in INEXACT for axis in (0, None)),
        dtype="real",
        ulps=64,
    ),
    row("linalg.norm", np.linalg.norm, *(call(sample(d, (3, 2))) for d in SIGNED), dtype="floating", label="integers"),
]


class NormSuite:
    """Functions of numpy.linalg that the standard lacks."""

    @cases(ROWS)
    def test_norms(self, variant: Variant, row: Row) -> None:
        """Class, dtype, device, shape and values match NumPy's."""
        check_row(variant, row)
