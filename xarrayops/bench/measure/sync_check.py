"""Whether the clock waits for a library: work that takes four times as long must be seen to take longer.

A library that returns before its work is done, and whose waiting does not wait, shows the time of the launch alone,
however large the work is.
"""

from __future__ import annotations

import statistics
from time import perf_counter
from typing import Any

import numpy as np

import xarrayops as xo
from xarrayops.bench.measure.timing import timed, timed_round

_LADDER = (
    *((128, 512), (512, 512), (2048, 512), (8192, 512)),
    *((8192, 1024), (8192, 2048), (8192, 4096), (8192, 8192)),
)
"""Rows and order of the smallest of three products, each level with four times the operations of the one before.

The last takes some 5 ms at 200 TFLOP/s, and its largest product 1 GiB for each of two arrays."""
_LONG_ENOUGH_S = 0.005
"""From here on a product dwarfs what surrounds it, on accelerators too: their waiting and reading take some 0.2 ms."""
_TOO_LONG_S = 1.0
"""From here on no larger product is tried."""
_ATTEMPTS = 3
"""So many levels that take long enough must prove nothing: a disturbed machine delays any of them."""
_TRIALS = 3
_SMALLEST_S = 0.02
_LEAST_GROWTH, _LEAST_SHARE = 2.0, 0.5
"""Four times the work takes four times as long, and all of it is seen; but on a disturbed machine not quite."""


class NotSynchronised(Exception):
    """The time does not grow with the work."""


def smallest_call(backend: str, device: str) -> float:
    """Seconds that the library's smallest call takes, timed as the calls of cells are: a median."""
    x = xo.convert(np.ones(1, dtype="float32"), backend, device=device)
    return statistics.median(timed_round(xo.add, (x, x), _SMALLEST_S, lazy=xo.is_lazy(x)).samples)


def prove(backend: str, device: str) -> dict[str, Any]:
    """The smallest call, and the times of one, two and four times the same work.

    The work is a product of matrices, so large that it takes long by the clock or until its first element can be read.
    Where that proves nothing, larger products are tried: a disturbed machine delays small work by as much as large.

    Raises
    ------
    NotSynchronised
        Four times the work takes less than twice as long, or half of its time passes behind the clock's back, at
        several sizes.
    """
    level = attempts = 0
    while attempts < _ATTEMPTS:
        rows, order = _LADDER[level]
        found = [_seconds(backend, device, (rows * times, order)) for times in (1, 2, 4)]
        scaling, until_read = zip(*found, strict=True)
        is_last = level == len(_LADDER) - 1
        if until_read[0] >= _LONG_ENOUGH_S or is_last:  # before, what surrounds the work may still be most of it
            if scaling[2] >= max(_LEAST_GROWTH * scaling[0], _LEAST_SHARE * until_read[2]):
                return {"launch_s": smallest_call(backend, device), "scaling_s": scaling}
            attempts += 1
        level += not is_last and until_read[2] < _TOO_LONG_S
    told = ", ".join(f"{seconds * 1e6:.0f}" for seconds in scaling)
    raise NotSynchronised(
        f"1, 2 and 4 times the same product took {told} us, and the last could be read after "
        f"{until_read[2] * 1e6:.0f}: the clock does not wait for the work"
    )


def _seconds(backend: str, device: str, shape: tuple[int, int]) -> tuple[float, float]:
    """The shortest of some products by the clock, and with the reading of an element; each is over before the next."""
    order = shape[1]
    x, y = (xo.ones(shape, dtype="float32", backend=backend, device=device) for shape in (shape, (order, order)))
    trials = []
    for _ in range(_TRIALS):
        start = perf_counter()
        seconds, (product,) = timed(xo.matmul, (x, y))
        xo.convert(product[0, 0], "numpy")
        trials.append((seconds, perf_counter() - start))
    by_clock, until_read = zip(*trials, strict=True)
    return min(by_clock), min(until_read)
