"""Checks that timing waits for asynchronous work, by scaling the work 1x, 2x and 4x.

If `xarrayops.synchronize` did not wait for a library, its times would be launch times, whatever the size of the work.
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
"""Rows and order of the smallest of three products. Each level has four times the operations of the previous one.

The last level takes about 5 ms at 200 TFLOP/s; its largest product needs 1 GiB for each of two arrays."""
_LONG_ENOUGH_S = 0.005
"""A product of this duration dominates the overhead. Waiting and reading take about 0.2 ms on accelerators."""
_TOO_LONG_S = 1.0
"""No larger product is tried beyond this duration."""
_ATTEMPTS = 3
"""The check fails only after this many levels that take long enough: other programs can disturb a level."""
_TRIALS = 3
_SMALLEST_S = 0.02
_MIN_GROWTH, _MIN_SHARE = 2.0, 0.5
"""The ideal values are 4 and 1. On a disturbed machine they are smaller."""


class NotSynchronised(Exception):
    """The time does not grow with the work."""


def smallest_call(backend: str, device: str) -> float:
    """The median seconds of the library's smallest call, timed in the same way as the calls of cells."""
    x = xo.convert(np.ones(1, dtype="float32"), backend, device=device)
    return statistics.median(timed_round(xo.add, (x, x), _SMALLEST_S, lazy=xo.is_lazy(x)).samples)


def check_synchronisation(backend: str, device: str) -> dict[str, Any]:
    """Time 1x, 2x and 4x the same work, and return these times with the time of the smallest call.

    The work is a matrix product that takes long enough, by the timer or until its first element can be read. If a level
    fails the check, larger products are tried: a disturbance delays small and large work by the same time.

    Raises
    ------
    NotSynchronised
        At several levels, 4x the work takes less than twice as long, or the timer misses more than half of the time
        until an element can be read.
    """
    level = attempts = 0
    while attempts < _ATTEMPTS:
        rows, order = _LADDER[level]
        found = [_seconds(backend, device, (rows * times, order)) for times in (1, 2, 4)]
        scaling, until_read = zip(*found, strict=True)
        is_last = level == len(_LADDER) - 1
        if until_read[0] >= _LONG_ENOUGH_S or is_last:  # otherwise the overhead may dominate
            if scaling[2] >= max(_MIN_GROWTH * scaling[0], _MIN_SHARE * until_read[2]):
                return {"launch_s": smallest_call(backend, device), "scaling_s": scaling}
            attempts += 1
        level += not is_last and until_read[2] < _TOO_LONG_S
    times = ", ".join(f"{seconds * 1e6:.0f}" for seconds in scaling)
    raise NotSynchronised(
        f"products of 1x, 2x and 4x the work took {times} us, and the last could be read after "
        f"{until_read[2] * 1e6:.0f} us: timing does not wait for the work"
    )


def _seconds(backend: str, device: str, shape: tuple[int, int]) -> tuple[float, float]:
    """The shortest times of a product: by the timer, and until an element was read. Products do not overlap."""
    order = shape[1]
    x, y = (xo.ones(shape, dtype="float32", backend=backend, device=device) for shape in (shape, (order, order)))
    trials = []
    for _ in range(_TRIALS):
        start = perf_counter()
        seconds, (product,) = timed(xo.matmul, (x, y))
        xo.convert(product[0, 0], "numpy")
        trials.append((seconds, perf_counter() - start))
    by_timer, until_read = zip(*trials, strict=True)
    return min(by_timer), min(until_read)
