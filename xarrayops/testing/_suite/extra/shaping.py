"""Functions that build arrays from the elements of others."""

from __future__ import annotations

from typing import Any

import numpy as np

from xarrayops.testing._suite.samples import ALL, NUMERIC, sample
from xarrayops.testing._suite.table import call, row

VECTOR, MATRIX, CUBE = (sample("float32", shape) for shape in ((4,), (3, 4), (2, 3, 4)))
EMPTY, POINT = sample("float32", (0, 3)), sample("float32", ())
EACH = [sample(d, (3,)) for d in ALL]
MASK = np.asarray([True, False, True])


def _fill_diagonal(x: Any, value: Any, *, wrap: bool = False) -> Any:
    filled = x.copy()
    np.fill_diagonal(filled, value, wrap)
    return filled


def _atleast_nd(x: Any, ndim: int) -> Any:
    return np.array(x, ndmin=ndim)


def _windows(x: Any, window_shape: Any, axis: Any = None, step: Any = 1) -> Any:
    """The slice of all windows."""
    windows, slices = np.lib.stride_tricks.sliding_window_view(x, window_shape, axis), [slice(None)] * x.ndim
    axes = axis if isinstance(axis, tuple) else range(x.ndim) if axis is None else (axis,)
    for a, each in zip(axes, step if isinstance(step, tuple) else (step,) * len(axes), strict=True):
        slices[a] = slice(None, None, each)
    return windows[tuple(slices)]


ROWS = [
    row("atleast_nd", _atleast_nd, call(POINT, 1), call(VECTOR, 3), call(CUBE, 2), call(EMPTY, 3), dtype="first"),
    row("diag", np.diag, call(VECTOR), call(MATRIX), *(call(x, k) for x in (VECTOR, MATRIX) for k in (1, -2, 7)[:2])),
    row("diag", np.diag, call(VECTOR[:0]), call(EMPTY), *(call(x, -1) for x in EACH), label="of each dtype"),
    row(
        "fill_diagonal",
        _fill_diagonal,
        call(MATRIX, 2.5),
        call(sample("float32", (7, 3)), 2.5, wrap=True),
        call(sample("float32", (7, 3)), 2.5),
        call(MATRIX, sample("float32", (3,))),
        call(MATRIX, sample("float32", (2,))),
        call(sample("float32", (3, 3, 3)), 1.0),
        *(call(sample(d, (2, 3)), 1) for d in NUMERIC),
        dtype="first",
    ),
    row("outer", np.outer, call(VECTOR, VECTOR), call(MATRIX, VECTOR), call(EMPTY, VECTOR), call(POINT, POINT)),
    row(
        "kron",
        np.kron,
        call(VECTOR, MATRIX),
        call(CUBE, MATRIX),
        call(POINT, VECTOR),
        call(EMPTY, MATRIX),
        *(call(sample(d, (2, 2)), sample(d, (3,))) for d in NUMERIC),
    ),
    row(
        "insert",
        np.insert,
        call(VECTOR, 1, 5.0),
        call(MATRIX, 1, 5.0),
        call(MATRIX, 1, sample("float32", (4,)), axis=0),
        call(MATRIX, [0, 3], sample("float32", (2, 4)), axis=0),
        call(MATRIX, (4, 1, 1), sample("float32", (3, 3)), axis=1),
        call(MATRIX, [1], sample("float32", (3, 1)), axis=1),
        call(MATRIX, -1, sample("float64", (2, 3)), axis=1),
        call(VECTOR, slice(0, 4, 2), 1.5),
        call(VECTOR, [], sample("float32", (0,))),
        call(EMPTY, 0, 1.0, axis=0),
        *(call(x, 3, 1) for x in EACH if x.dtype != bool),
        dtype="first",
    ),
    row(
        "delete",
        np.delete,
        call(VECTOR, 1),
        call(MATRIX, -1, axis=1),
        call(MATRIX, slice(None, None, 2), axis=1),
        call(MATRIX, [0, 2, 0]),
        call(sample("float32", (40,)), slice(3, None, 2)),
        call(VECTOR, [0, 1, 2, 3]),
        call(VECTOR, slice(0, 0)),
        call(EMPTY, [], axis=0),
        call(VECTOR, [True, False, False, True]),
        *(call(x, 0) for x in EACH),
        dtype="first",
    ),
    row(
        "compress",
        np.compress,
        call(MASK, sample("float32", (3,))),
        call(MASK, MATRIX, axis=1),
        call(MASK, MATRIX),
        call(MASK, MATRIX, axis=0),
        call(MASK[:0], MATRIX, axis=0),
        *(call(MASK, x) for x in EACH),
        dtype=lambda mask, x: x.name,
    ),
    row(
        "argwhere", np.argwhere, call(MATRIX), call(EMPTY), call(VECTOR > 1), *(call(x) for x in EACH), dtype="indexing"
    ),
    row(
        "split",
        lambda x, parts, axis=0: tuple(np.split(x, parts, axis)),
        call(VECTOR, 2),
        call(VECTOR, [1, 3]),
        call(MATRIX, (2,), axis=1),
        call(MATRIX, [9, 1, -1]),
        call(EMPTY, [1], axis=1),
        *(call(x, [2]) for x in EACH),
        dtype="first",
    ),
    row(
        "sliding_window_view",
        _windows,
        call(VECTOR, 3),
        call(VECTOR, 2, step=2),
        call(MATRIX, 2, 1, step=3),
        call(CUBE, (2, 1), (2, 0), step=(1, 2)),
        call(CUBE, 1, 0, step=9),
        call(MATRIX, (2, 2)),
        call(CUBE, 3, -1),
        call(CUBE, (2, 2), (0, 2)),
        call(CUBE, (2, 2), (2, 2)),
        call(VECTOR, 4),
        call(VECTOR, 1),
        *(call(x, 2) for x in EACH),
        dtype="first",
    ),
]
