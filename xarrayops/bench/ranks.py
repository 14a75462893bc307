"""Whether values are larger than others by more than chance, whatever their distribution."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache


def chance(smaller: Sequence[float], larger: Sequence[float]) -> float:
    """How likely values of one distribution lie at least so much apart, with the smaller ones where they are.

    The one-sided test of Mann and Whitney (1947), exact: it counts the pairs in the wrong order. Equal values count as
    in the wrong order.

    >>> chance([1.0, 2.0], [3.0, 4.0]), chance([1.0, 3.0], [2.0, 4.0])
    (0.16666666666666666, 0.3333333333333333)
    """
    wrong = sum(a >= b for a in smaller for b in larger)
    return sum(_orders(len(smaller), len(larger))[: wrong + 1]) / math.comb(len(smaller) + len(larger), len(smaller))


@cache
def _orders(n: int, m: int) -> tuple[int, ...]:
    """In how many orders of n and m values 0, 1, 2 ... of the n times m pairs are wrong."""
    if not n or not m:
        return (1,)
    counts = [0] * (n * m + 1)
    for wrong, count in enumerate(_orders(n - 1, m)):  # the largest of all is one of the n: wrong with all m
        counts[wrong + m] += count
    for wrong, count in enumerate(_orders(n, m - 1)):
        counts[wrong] += count
    return tuple(counts)
