"""The larger and the smaller of the elements of an array and a number, by vectors and on all cores.

NumPy vectorises the maximum and minimum of two arrays, and not those of an array and a number: a row of equal numbers
takes half the time. These functions raise and warn of nothing, so threads of a pool, which do not know the settings of
`numpy.errstate`, may compute them.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import Any

import numpy as np

from xarrayops._host import threads

Array = np.ndarray[Any, Any]
LARGE = 1 << 14
"""The number of elements from which a row of equal numbers is faster."""
ROWS = range(1 << 7, 1 << 17)
"""The lengths of such rows: long enough for vectors, and short enough for a cache."""
SPREAD = 1 << 18
"""The number of elements from which several threads are faster."""


def is_served(x: Array) -> bool:
    """Whether a row of equal numbers is faster for this array."""
    return x.size >= LARGE and x.shape[-1] in ROWS


def extremum(ufunc: np.ufunc, x: Array, value: Any, out: Array) -> Array:
    """`numpy.maximum` or `numpy.minimum` of an array that is served and a number, of x's dtype, into ``out``."""
    row = np.full(x.shape[-1], value, x.dtype)
    if x.size < SPREAD or x.ndim < 2:
        ufunc(x, row, out=out)
        return out

    def work(parts: Iterable[slice]) -> None:
        for part in parts:
            ufunc(x[part], row, out=out[part])

    count = min(threads.thread_count(), x.shape[0])
    bounds = [x.shape[0] * i // count for i in range(count + 1)]
    threads.run(work, [slice(*pair) for pair in pairwise(bounds)])
    return out
