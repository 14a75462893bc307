"""pad, in all modes."""

from __future__ import annotations

from typing import Any

import numpy as np

from xarrayops.testing._suite.samples import ALL, sample, specials
from xarrayops.testing._suite.table import call, row

VECTOR, MATRIX, CUBE = (sample("float64", shape) for shape in ((5,), (3, 4), (2, 1, 3)))
WHOLE = sample("int64", (4,), low=0, high=9)
WIDTHS: tuple[Any, ...] = (2, (1, 3), ((0, 2), (7, 0)), 9, {-1: (2, 1)})
STATISTICS = ("maximum", "mean", "median", "minimum")


def _pad(x: Any, pad_width: Any, mode: str = "constant", **options: Any) -> Any:
    if isinstance(pad_width, dict):
        pad_width = [pad_width.get(axis - x.ndim, (0, 0)) for axis in range(x.ndim)]
    return np.pad(x, pad_width, mode, **options)  # type: ignore[call-overload]


ROWS = [
    row(
        "pad",
        _pad,
        call(MATRIX, 1, "reflect"),
        call(MATRIX, (1, 2)),
        call(VECTOR, 2, "edge"),
        call(VECTOR, (2, 3), "wrap"),
        *(call(MATRIX, width, "symmetric") for width in WIDTHS),
        *(call(MATRIX, width, "reflect") for width in WIDTHS),
        *(call(x, (2, 6), mode, reflect_type="odd") for x in (VECTOR, CUBE) for mode in ("reflect", "symmetric")),
        *(call(CUBE, 7, mode) for mode in ("edge", "wrap", "linear_ramp", *STATISTICS)),
        *(call(x, (0, 2), mode, stat_length=2) for x in (WHOLE, MATRIX) for mode in STATISTICS),
        *(call(x, 3, "linear_ramp", end_values=(2, 7)) for x in (WHOLE, MATRIX)),
        call(MATRIX, 1, constant_values=((1, 2), (3, 4))),
        call(WHOLE, 1, constant_values=2.5),
        call(specials("float32"), 2, "mean"),
        call(specials("float32"), 9, "reflect"),
        call(sample("float32", (0, 3)), 2),
        call(sample("float32", (0, 3)), ((0, 0), (1, 1)), "edge"),
        call(sample("float32", ()), 3),
        call(sample("float32", (1,)), 3, "reflect"),
        call(VECTOR, 0, "wrap"),
        *(
            call(sample(dtype, (3,)), 2, mode)
            for dtype in ALL
            for mode in ("constant", "edge", "wrap", "linear_ramp")
            if (dtype, mode) != ("bool", "linear_ramp")
        ),
        dtype="first",
        normwise=True,
    ),
]
