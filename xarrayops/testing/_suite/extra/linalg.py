"""Functions of numpy.linalg that the standard lacks."""

from __future__ import annotations

from typing import Any

import numpy as np

from xarrayops.testing._suite.samples import INEXACT, SIGNED, sample, well_conditioned
from xarrayops.testing._suite.table import call, row

VECTOR, MATRIX, CUBE = (sample("float64", shape) for shape in ((5,), (3, 4), (2, 3, 4)))
TALL, WIDE, SQUARE = (sample("float64", shape, seed=3) for shape in ((5, 3), (3, 5), (3, 3)))
DEFICIENT = np.concatenate([TALL, TALL[:, :1]], axis=1)


def _lstsq(a: Any, b: Any, *, rtol: Any = None) -> Any:
    found, _, rank, values = np.linalg.lstsq(a, b, rcond=rtol)
    errors = b - a @ found
    return found, np.sum(np.abs(errors[:, None] if b.ndim == 1 else errors) ** 2, axis=0), rank, values


ROWS = [
    row(
        "linalg.cond",
        np.linalg.cond,
        call(SQUARE),
        call(TALL),
        *(call(SQUARE, p=order) for order in (1, -1, 2, -2, np.inf, "fro")),
        call(sample("float32", (2, 3, 3))),
        *(call(well_conditioned(d)) for d in INEXACT),
        dtype="real",
        ulps=1024,
    ),
    row(
        "linalg.lstsq",
        _lstsq,
        call(TALL, sample("float64", (5,))),
        call(TALL, sample("float64", (5, 2))),
        call(WIDE, sample("float64", (3,))),
        call(DEFICIENT, sample("float64", (5, 2))),
        call(SQUARE, sample("float64", (3,)), rtol=0.5),
        *(call(well_conditioned(d), sample(d, (3,))) for d in INEXACT),
        dtype=("promoted", "real", "integral", "real"),
        normwise=True,
        ulps=1024,
    ),
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
