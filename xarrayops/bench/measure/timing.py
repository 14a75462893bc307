"""Timing of calls, the check that it waits for asynchronous work, and the statistics of the readings.

If `xarrayops.synchronize` did not wait for a library, its times would be launch times, whatever the size of the work.
So the work is scaled 1x, 2x and 4x.
"""

from __future__ import annotations

import gc
import math
import statistics
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

import xarrayops as xo

CONFIDENCE = 0.95
"""The confidence of the printed interval, where there are enough rounds."""
READING_S = 1e-3
"""Shorter calls are timed in batches of this duration, so that timer and synchronisation overhead does not matter."""
_MOST_READINGS = 1000
_LADDER = tuple(4**level for level in range(7, 14))
"""The elements of the smallest of three sorts. The largest sort of the last level has 1 GiB of float32."""
_LONG_ENOUGH_S = 0.005
"""A sort of this duration dominates the overhead. Waiting and reading take about 0.2 ms on accelerators."""
_TOO_LONG_S = 1.0
"""No larger sort is tried beyond this duration."""
_ATTEMPTS = 3
"""The check fails only after this many levels that take long enough: other programs can disturb a level."""
_TRIALS = 3
_SMALLEST_S = 0.02
_MIN_GROWTH, _MIN_SHARE = 2.0, 0.5
"""The ideal values are 4 and 1. On a disturbed machine they are smaller."""


class Interval(NamedTuple):
    """A median and an interval around it, in the unit of the samples.

    ``confidence`` is the probability that the interval contains the true median. A single sample has no interval.
    """

    median: float
    low: float | None
    high: float | None
    confidence: float | None


class Round(NamedTuple):
    """The seconds per call of each reading, the total number of calls, and the results of the last call."""

    samples: list[float]
    calls: int
    results: tuple[Any, ...]


def finished(results: Any) -> tuple[Any, ...]:
    """The results as a tuple of finished arrays: lazy ones are computed, asynchronous ones are awaited."""
    results = results if isinstance(results, tuple) else (results,)
    computed = xo.compute(*results)
    results = computed if isinstance(computed, tuple) else (computed,)
    xo.synchronize(*results)
    return results


def timed(function: Callable[..., Any], arguments: tuple[Any, ...], calls: int = 1) -> tuple[float, tuple[Any, ...]]:
    """The mean seconds of a call, and the last results. Timing ends when the last results are finished.

    Calls follow each other without synchronisation, as they do in programs. Earlier results are released at once.
    """
    before = range(calls - 1)
    start = perf_counter()
    for _ in before:
        function(*arguments)
    results = finished(function(*arguments))
    return (perf_counter() - start) / calls, results


def calls_per_reading(function: Callable[..., Any], arguments: tuple[Any, ...], reading_s: float = READING_S) -> int:
    """How many calls take so long together, found with growing batches: synchronisation counts once per batch."""
    calls = 1
    while (seconds := timed(function, arguments, calls)[0]) * calls < reading_s:
        calls = max(2 * calls, min(math.ceil(reading_s / seconds), 100 * calls))
    return calls


def timed_round(
    function: Callable[..., Any], arguments: tuple[Any, ...], seconds: float, *, lazy: bool = False
) -> Round:
    """Take readings until this many seconds have passed, at least one. Warm-up calls do not count.

    A reading holds one call, or a batch of short calls that takes `READING_S`; for lazy libraries always one call. The
    garbage collector is disabled meanwhile, and the results of a reading are freed before the next.
    """
    samples: list[float] = []
    with _disabled_collector():
        calls = 1 if lazy else calls_per_reading(function, arguments)
        results: tuple[Any, ...] = ()
        start = perf_counter()
        while not samples or (perf_counter() - start < seconds and len(samples) < _MOST_READINGS):
            results = ()
            elapsed, results = timed(function, arguments, calls)
            samples.append(elapsed)
    return Round(samples, calls * len(samples), results)


@contextmanager
def _disabled_collector() -> Iterator[None]:
    was_enabled = gc.isenabled()
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


class NotSynchronised(Exception):
    """The time does not grow with the work."""


def smallest_call(backend: str, device: str) -> float:
    """The median seconds of the library's smallest call, timed in the same way as the calls of cells."""
    x = xo.convert(np.ones(1, dtype="float32"), backend, device=device)
    return statistics.median(timed_round(xo.add, (x, x), _SMALLEST_S, lazy=xo.is_lazy(x)).samples)


def check_synchronisation(backend: str, device: str) -> dict[str, Any]:
    """Time 1x, 2x and 4x the same work, and return these times with the time of the smallest call.

    The work is a sort that takes long enough until its first element can be read, and longer the more elements it has:
    while threads start, more work may take the same time. If a level fails the check, larger sorts are tried: a
    disturbance delays small and large work by the same time. Sorts compile quickly: for each product of matrices XLA
    tries many kernels on a GPU, which takes 5 to 10 s.

    Raises
    ------
    NotSynchronised
        At several levels, 4x the work takes less than twice as long, or the timer misses more than half of the time
        until an element can be read.
    """
    attempts, last = 0, len(_LADDER) - 1
    long = (i for i, count in enumerate(_LADDER) if _seconds(backend, device, count)[1] >= _LONG_ENOUGH_S)
    level = next(long, last)
    while attempts < _ATTEMPTS:
        found = [_seconds(backend, device, times * _LADDER[level]) for times in (1, 2, 4)]
        scaling, until_read = zip(*found, strict=True)
        can_grow = level < last and until_read[2] < _TOO_LONG_S
        if until_read[2] >= _MIN_GROWTH * until_read[0] or not can_grow:  # otherwise the overhead dominates
            if scaling[2] >= max(_MIN_GROWTH * scaling[0], _MIN_SHARE * until_read[2]):
                return {"launch_s": smallest_call(backend, device), "scaling_s": scaling}
            attempts += 1
        level += can_grow
    times = ", ".join(f"{seconds * 1e6:.0f}" for seconds in scaling)
    raise NotSynchronised(
        f"sorts of 1x, 2x and 4x the work took {times} us, and the last could be read after "
        f"{until_read[2] * 1e6:.0f} us: timing does not wait for the work"
    )


def _seconds(backend: str, device: str, count: int) -> tuple[float, float]:
    """The shortest times of a sort: by the timer, and until an element was read. Sorts do not overlap."""
    x = xo.arange(count, 0, -1, dtype="float32", backend=backend, device=device)
    trials = []
    for _ in range(_TRIALS):
        start = perf_counter()
        seconds, (found,) = timed(xo.sort, (x,))
        xo.convert(found[0], "numpy")
        trials.append((seconds, perf_counter() - start))
    by_timer, until_read = zip(*trials, strict=True)
    return min(by_timer), min(until_read)


def median_of_rounds(medians: Sequence[float]) -> Interval:
    """The median over the medians of rounds, and an interval from order statistics.

    Calls within a round are correlated, so a round counts as one sample. No distribution is assumed. The interval is
    the narrowest symmetric pair of order statistics with a confidence of at least `CONFIDENCE`. With fewer than six
    rounds it is the range of the samples, with a lower confidence (David and Nagaraja, Order Statistics, 7.1).

    >>> median_of_rounds([3.0, 2.0])
    Interval(median=2.5, low=2.0, high=3.0, confidence=0.5)
    """
    medians = sorted(medians)
    median = statistics.median(medians)
    if len(medians) < 2:
        return Interval(median, None, None, None)
    rank = max((r for r in range(len(medians) // 2) if coverage(len(medians), r) >= CONFIDENCE), default=0)
    return Interval(median, medians[rank], medians[-1 - rank], coverage(len(medians), rank))


def coverage(n: int, rank: int) -> float:
    """The probability that the median lies between the samples of that rank, counted from 0 at either end of n samples.

    >>> coverage(6, 0)
    0.96875
    """
    return 1.0 - 2.0 * sum(math.comb(n, i) for i in range(rank + 1)) / 2.0**n
