"""Reading the clock, and what the readings allow to say."""

from __future__ import annotations

import gc
import math
import statistics
from collections.abc import Callable, Sequence
from time import perf_counter
from typing import Any, NamedTuple

import xarrayops as xo

CONFIDENCE = 0.95
"""How likely the printed interval is to contain the true median, when there are rounds enough for it."""
_MOST_CALLS = 1000


class Interval(NamedTuple):
    """A median and an interval around it, in the unit of the samples.

    ``confidence`` is how likely the interval contains the true median; it has no bounds where there is one sample.
    """

    median: float
    low: float | None
    high: float | None
    confidence: float | None


def timed(function: Callable[..., Any], arguments: tuple[Any, ...]) -> tuple[float, tuple[Any, ...]]:
    """Seconds until the values of the results are there, and the results.

    Lazy results are computed and asynchronous ones awaited inside the timed region.
    """
    start = perf_counter()
    results = function(*arguments)
    results = results if isinstance(results, tuple) else (results,)
    computed = xo.compute(*results)
    results = computed if isinstance(computed, tuple) else (computed,)
    xo.synchronize(*results)
    return perf_counter() - start, results


def timed_round(
    function: Callable[..., Any], arguments: tuple[Any, ...], seconds: float
) -> tuple[list[float], tuple[Any, ...]]:
    """Timed calls, one by one, until so many seconds have passed, at least one; and the results of the last.

    The garbage collector rests meanwhile, and the results of a call are freed before the next.
    """
    samples: list[float] = []
    results: tuple[Any, ...] = ()
    collecting = gc.isenabled()
    gc.collect()
    gc.disable()
    try:
        start = perf_counter()
        while not samples or (perf_counter() - start < seconds and len(samples) < _MOST_CALLS):
            results = ()
            elapsed, results = timed(function, arguments)
            samples.append(elapsed)
    finally:
        if collecting:
            gc.enable()
    return samples, results


def median_of_rounds(rounds: Sequence[Sequence[float]]) -> Interval:
    """The median over rounds of each round's median, and an interval from order statistics.

    Calls within a round resemble each other more than calls of different rounds do, so a round counts as one sample.
    Nothing is assumed of their distribution. The interval is the narrowest symmetric pair of order statistics with at
    least `CONFIDENCE`; with fewer than six rounds none has that much, and the smallest and largest serve with the
    confidence that they have (David and Nagaraja, Order Statistics, 7.1).

    >>> median_of_rounds([[3.0], [1.0, 2.0, 9.0]])
    Interval(median=2.5, low=2.0, high=3.0, confidence=0.5)
    """
    medians = sorted(statistics.median(samples) for samples in rounds)
    median = statistics.median(medians)
    if len(medians) < 2:
        return Interval(median, None, None, None)
    rank = max((r for r in range(len(medians) // 2) if coverage(len(medians), r) >= CONFIDENCE), default=0)
    return Interval(median, medians[rank], medians[-1 - rank], coverage(len(medians), rank))


def coverage(n: int, rank: int) -> float:
    """How likely the median lies between the samples of that rank, counted from 0 from either end, among n.

    >>> coverage(6, 0)
    0.96875
    """
    return 1.0 - 2.0 * sum(math.comb(n, i) for i in range(rank + 1)) / 2.0**n
