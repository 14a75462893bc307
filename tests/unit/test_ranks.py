"""The test of Mann and Whitney, against all orders there are, and against SciPy."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

from xarrayops.bench.ranks import chance


@pytest.mark.parametrize(("n", "m"), [(1, 1), (2, 3), (4, 3), (1, 6)])
def test_every_order_of_few_values(n, m):
    orders = list(permutations(range(n + m)))
    wrong = [sum(a > b for a in order[:n] for b in order[n:]) for order in orders]
    for order, own in zip(orders[::7], wrong[::7], strict=True):
        as_far = sum(other <= own for other in wrong) / len(orders)
        assert chance(order[:n], order[n:]) == pytest.approx(as_far)


def test_against_scipy():
    stats = pytest.importorskip("scipy.stats")
    random = np.random.default_rng(3)
    for n, m, shift in ((8, 8, 0.0), (8, 8, 1.5), (16, 16, 0.7), (3, 16, -1.0)):
        a, b = random.standard_normal(n), random.standard_normal(m) + shift
        right = stats.mannwhitneyu(a, b, alternative="less", method="exact").pvalue
        assert chance(a.tolist(), b.tolist()) == pytest.approx(right, rel=1e-9)


def test_equal_values_are_in_the_wrong_order():
    assert chance([1.0] * 5, [1.0] * 5) == 1.0
    assert chance([], [1.0]) == chance([1.0], []) == 1.0
