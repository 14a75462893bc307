"""Windows and scales."""

from __future__ import annotations

from typing import Any

import numpy as np

from xarrayops.testing._suite.table import Case, call, created

LENGTHS = (8, 5, 1, 2, 0)


def _window(name: str) -> Any:
    """NumPy's window; the first n values of n + 1 are periodic."""
    return lambda n, *args, periodic=False, dtype=None: getattr(np, name)(n + (periodic and n > 1), *args)[:n]


def calls(*args: float) -> list[Case]:
    """Calls with the parameters of a window."""
    periodic = [call(n, *args, periodic=True) for n in LENGTHS]
    return [*(call(n, *args) for n in LENGTHS), *periodic, call(6, *args, dtype="float64")]


ROWS = [
    *(
        created(name, _window(name), *calls(*args), normwise=True)
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
