"""Maximum and minimum of an array and a number, vectorised and on all cores.

NumPy vectorises `numpy.clip`, but not the maximum and minimum of an array and a number, which take three times as long.
These functions raise no errors or warnings, so threads of a pool, which lack the caller's `numpy.errstate`, may compute
them.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import Any

import numpy as np

from xarrayops._host import threads

Array = np.ndarray[Any, Any]
# The number of elements from which `numpy.clip` is faster.
LARGE = 1 << 14
# The number of elements from which several threads are faster.
SPREAD_ELEMENTS = 1 << 21


def is_served(x: Array) -> bool:
    """Whether `extremum` is faster for this array than NumPy's function."""
    return x.size >= LARGE and x.dtype.kind in "fiu"


def extremum(ufunc: np.ufunc, x: Array, value: float, out: Array) -> Array:
    """`numpy.maximum` or `numpy.minimum` of an array (see `is_served`) and a number, into ``out``."""
    kind = x.dtype.type
    # The other bound is the limit of the dtype, which changes nothing. NaN passes through clip, as through maximum.
    least, most = (-np.inf, np.inf) if x.dtype.kind == "f" else (np.iinfo(kind).min, np.iinfo(kind).max)
    bounds = (kind(value), kind(most)) if ufunc is np.maximum else (kind(least), kind(value))
    if x.size < SPREAD_ELEMENTS or x.shape[0] < 2:
        np.clip(x, *bounds, out=out)
        return out

    def work(parts: Iterable[slice]) -> None:
        for part in parts:
            np.clip(x[part], *bounds, out=out[part])

    count = min(threads.thread_count(), x.shape[0])
    # Python integers: the product could overflow the index type of NumPy. Parts differ by one row at most.
    rows = [x.shape[0] * i // count for i in range(count + 1)]
    threads.run(work, [slice(*pair) for pair in pairwise(rows)])
    return out
