"""Reading the clock, and what the readings allow to say."""

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
"""How likely the printed interval is to contain the true median, when there are rounds enough for it."""
READING_S = 1e-3
"""Calls shorter than this are timed several at a time, so that the clock and the waiting are no part of them."""
_MOST_READINGS = 1000


class Interval(NamedTuple):
    """A median and an interval around it, in the unit of the samples.

    ``confidence`` is how likely the interval contains the true median; it has no bounds where there is one sample.
    """

    median: float
    low: float | None
    high: float | None
    confidence: float | None


class Round(NamedTuple):
    """The seconds of a call in each reading, how many calls a reading holds, and the results of the last."""

    samples: list[float]
    calls: int
    results: tuple[Any, ...]


def finished(results: Any) -> tuple[Any, ...]:
    """The results as a tuple of arrays whose values are there: lazy ones are computed, asynchronous ones awaited."""
    results = results if isinstance(results, tuple) else (results,)
    computed = xo.compute(*results)
    results = computed if isinstance(computed, tuple) else (computed,)
    xo.synchronize(*results)
    return results


def timed(function: Callable[..., Any], arguments: tuple[Any, ...], calls: int = 1) -> tuple[float, tuple[Any, ...]]:
    """Seconds of a call until the values of its results are there, the mean of so many, and the last results.

    Calls follow each other without a wait in between, as they do in programs; the results of all but the last are let
    go of at once.
    """
    before = range(calls - 1)
    start = perf_counter()
    for _ in before:
        function(*arguments)
    results = finished(function(*arguments))
    return (perf_counter() - start) / calls, results


def calls_per_reading(function: Callable[..., Any], arguments: tuple[Any, ...]) -> int:
    """How many calls last for `READING_S`: tried with ever more of them, because the waiting at the end counts once."""
    calls = 1
    while (seconds := timed(function, arguments, calls)[0]) * calls < READING_S:
        calls = max(2 * calls, min(math.ceil(READING_S / seconds), 100 * calls))
    return calls


def timed_round(
    function: Callable[..., Any], arguments: tuple[Any, ...], seconds: float, *, lazy: bool = False
) -> Round:
    """Readings, one by one, until so many seconds have passed, at least one; calls before them are not counted.

    A reading holds one call, or as many short ones as fill `READING_S`, unless a call of the library only says what is
    to be done. The garbage collector rests meanwhile, and the results of a reading are freed before the next.
    """
    samples: list[float] = []
    with _resting_collector():
        calls = 1 if lazy else calls_per_reading(function, arguments)
        results: tuple[Any, ...] = ()
        start = perf_counter()
        while not samples or (perf_counter() - start < seconds and len(samples) < _MOST_READINGS):
            results = ()
            elapsed, results = timed(function, arguments, calls)
            samples.append(elapsed)
    return Round(samples, calls * len(samples), results)


@contextmanager
def _resting_collector() -> Iterator[None]:
    collecting = gc.isenabled()
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()


def median_of_rounds(medians: Sequence[float]) -> Interval:
    """The median over the medians of rounds, and an interval from order statistics.

    Calls within a round resemble each other more than calls of different rounds do, so a round counts as one sample.
    Nothing is assumed of their distribution. The interval is the narrowest symmetric pair of order statistics with at
    least `CONFIDENCE`; with fewer than six rounds none has that much, and the smallest and largest serve with the
    confidence that they have (David and Nagaraja, Order Statistics, 7.1).

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
    """How likely the median lies between the samples of that rank, counted from 0 from either end, among n.

    >>> coverage(6, 0)
    0.96875
    """
    return 1.0 - 2.0 * sum(math.comb(n, i) for i in range(rank + 1)) / 2.0**n
