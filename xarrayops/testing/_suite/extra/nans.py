"""Reductions that ignore NaN."""

from typing import Any

import numpy as np

from xarrayops.testing._suite.samples import COMPLEX, DISCRETE, FLOATS, HOLES, INTEGERS, sample, specials
from xarrayops.testing._suite.table import call, row

CUBE = sample("float64", (2, 3, 4))
COMPLEX_HOLES = (HOLES + 1j * HOLES[::-1]).astype("complex64")
REAL = (
    call(HOLES, axis=0),
    call(HOLES, axis=1, keepdims=True),
    call(CUBE, axis=(0, 2)),
    call(HOLES),
    call(specials("float32")),
    call(sample("float64", ())),
    *(call(sample(dtype, (3, 2)), axis=0) for dtype in FLOATS),
)
OTHERS = tuple(call(sample(dtype, (3, 2)), axis=0) for dtype in INTEGERS)
OF_COMPLEX = (call(COMPLEX_HOLES, axis=0), *(call(sample(dtype, (3, 2))) for dtype in COMPLEX))
NONE = (call(sample("float32", (0, 3)), axis=0), call(sample("float64", (0,))))
PLACES = (
    call(HOLES, axis=0),
    call(HOLES, axis=1, keepdims=True),
    call(HOLES),
    call(CUBE, axis=-1),
    call(specials("float32")),
    call(np.full((2, 3), np.nan, "float32"), axis=0),
    call(np.asarray([np.nan, -np.inf, np.nan])),
    call(np.asarray([[np.nan, np.inf], [np.nan, np.nan]]), axis=1),
    call(sample("float64", ())),
    *(call(sample(dtype, (3, 2)), axis=0) for dtype in FLOATS),
)
INTEGER_PLACES = tuple(call(sample(dtype, (3, 2)), axis=0) for dtype in INTEGERS)


def _place(choose: Any) -> Any:
    """The place of the greatest or least number of each vector, -1 for only NaN. NumPy's may be that of a NaN."""

    def of_vector(v: Any) -> int:
        places = np.flatnonzero(~np.isnan(v))
        return int(choose(places, key=lambda i: v[i])) if places.size else -1

    def place(x: Any, *, axis: int | None = None, keepdims: bool = False) -> Any:
        if axis is None:
            return np.reshape(of_vector(x.reshape(-1)), (1,) * x.ndim if keepdims else ())
        found = np.apply_along_axis(of_vector, axis, x)
        return np.expand_dims(found, axis) if keepdims else found

    return place


ROWS = [
    row("nansum", np.nansum, *REAL, *OF_COMPLEX, *NONE, call(HOLES, dtype="float32"), *OTHERS, dtype="accumulator"),
    row("nanmean", np.nanmean, *REAL, *OF_COMPLEX, *NONE, *OTHERS, dtype="floating"),
    row("nanvar", np.nanvar, *REAL, call(HOLES, axis=0, correction=1), *NONE, *OTHERS, dtype="floating", ulps=64),
    row("nanvar", np.nanvar, *OF_COMPLEX, dtype="real", ulps=64, label="of complex numbers"),
    row("nanstd", np.nanstd, *REAL, call(HOLES, axis=0, correction=1), *OTHERS, dtype="floating", ulps=64),
    row("nanmax", np.nanmax, *REAL, *OF_COMPLEX, *OTHERS, dtype="first"),
    row("nanmin", np.nanmin, *REAL, *OF_COMPLEX, *OTHERS, dtype="first"),
    row("nanargmax", _place(max), *PLACES, *INTEGER_PLACES, dtype="indexing"),
    row("nanargmin", _place(min), *PLACES, *INTEGER_PLACES, dtype="indexing"),
    row(
        "nan_to_num",
        np.nan_to_num,
        call(HOLES),
        call(HOLES, nan=3.0),
        call(specials("float64"), posinf=7.0, neginf=-8.0),
        call(np.asarray([1 + 1j * np.nan, np.nan - 2j]), nan=1.5),
        call(sample("float32", (0, 2))),
        *(call(sample(dtype, (3,))) for dtype in DISCRETE),
        dtype="first",
    ),
]
