"""Windows and scales."""

from __future__ import annotations

from typing import Any

import numpy as np

from xarrayops.testing._suite.table import call, created

LENGTHS = (8, 5, 1, 2, 0)


def _window(name: str) -> Any:
    return lambda n, *args, dtype=None: getattr(np, name)(n, *args)


ROWS = [
    *(
        created(name, _window(name), *(call(n, *args) for n in LENGTHS), call(6, *args, dtype="float64"), normwise=True)
        for name, args in (("bartlett", ()), ("blackman", ()), ("hamming", ()), ("hanning", ()), ("kaiser", (8.6,)))
    ),
    created("kaiser", _window("kaiser"), call(9, 0.0), call(9, 40.0), label="narrow"),
    created(
        "geomspace",
        np.geomspace,
        call(1.0, 1000.0, 4),
        call(-8.0, -2.0, 3),
        call(1.0, 256.0, 8, endpoint=False),
        call(2, 5, 1),
        call(2, 5, 2, dtype="float64"),
        call(2, 5, 0),
        ulps=64,
    ),
    created(
        "logspace",
        np.logspace,
        call(0.0, 3.0, 4),
        call(0, 3, 4, base=2.0),
        call(-1.0, 1.0, 5, endpoint=False),
        call(2, 3, 0),
        call(0, 1, 3, dtype="float64"),
        ulps=64,
    ),
]
