"""Timing of calls, and the statistics of the readings."""

from __future__ import annotations

import gc
import math
import statistics
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from time import perf_counter
from typing import Any, NamedTuple

import xarrayops as xo

CONFIDENCE = 0.95
"""The confidence of the printed interval, where there are enough rounds."""
READING_S = 1e-3
"""Shorter calls are timed in batches of this duration, so that timer and synchronisation overhead does not matter."""
_MOST_READINGS = 1000


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


def calls_per_reading(function: Callable[..., Any], arguments: tuple[Any, ...]) -> int:
    """How many calls take `READING_S` together, found with growing batches: synchronisation counts once per batch."""
    calls = 1
    while (seconds := timed(function, arguments, calls)[0]) * calls < READING_S:
        calls = max(2 * calls, min(math.ceil(READING_S / seconds), 100 * calls))
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
