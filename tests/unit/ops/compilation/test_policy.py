"""When compiled code serves: the total time compared with the better choice, on simulated machines."""

from __future__ import annotations

import numpy as np
import pytest

from xarrayops._ops.compilation.ledger import PATIENCE, Choice

COUNTS = [1, 2, 3, 5, 10, 30, 100, 1000, 10_000, 100_000]


def total(count, eager, compiled, compilation, expected):
    """The seconds of this many calls by the choice "pays"."""
    choice, spent = Choice("pays", expected), 0.0
    for done in range(count):
        if not choice.compiles:
            if not choice.may_compile:
                return spent + (count - done) * eager
            choice.ran_eagerly(eager)
            spent += eager
        elif choice.compilation_s is None:
            choice.compiled(compilation)
            spent += compilation + compiled
        elif not choice.is_timed:
            return spent + (count - done) * compiled
        else:
            choice.ran_compiled(compiled)
            spent += compiled
    return spent


def machines():
    random = np.random.default_rng(0)
    for _ in range(1000):
        eager = 10 ** random.uniform(-6, 0)
        yield eager, eager * 10 ** random.uniform(-3, 0.5), 10 ** random.uniform(-3, 1.5)


@pytest.mark.parametrize("count", COUNTS)
def test_the_total_is_at_most_twice_that_of_the_better_choice(count):
    ratios = []
    for eager, compiled, compilation in machines():
        best = min(count * eager, compilation + count * compiled)
        found = total(count, eager, compiled, compilation, compilation)
        timed = (PATIENCE + 1) * max(
            compiled - eager, 0.0
        ) + eager  # calls that find out, and the one that passes the limit
        assert found <= 2 * best + timed
        ratios.append(found / best)
    assert np.exp(np.mean(np.log(ratios))) <= 1.5


def test_it_is_more_as_far_as_the_expectation_is_wrong():
    for eager, compiled, compilation in machines():
        for wrong in (0.25, 4.0):
            for count in COUNTS:
                best = min(count * eager, compilation + count * compiled)
                found = total(count, eager, compiled, compilation, compilation * wrong)
                assert found <= (1 + max(wrong, 1 / wrong)) * best + eager + (PATIENCE + 1) * max(compiled - eager, 0.0)


def test_a_disturbance_of_the_first_compiled_calls_does_not_decide():
    choice = Choice("pays", 0.0)
    choice.ran_eagerly(1.0)
    choice.compiled(1.0)
    for seconds in (*[5.0] * 4, *[0.5] * 5):
        assert choice.is_timed
        choice.ran_compiled(seconds)
    assert not choice.is_timed
    assert choice.compiles


def test_the_shortest_of_many_eager_calls_does_not_decide():
    choice = Choice("pays", 20.0)
    for seconds in (0.1, *[1.0] * 20):
        choice.ran_eagerly(seconds)
    choice.compiled(1.0)
    for _ in range(PATIENCE):
        choice.ran_compiled(0.5)
    assert choice.compiles


def test_now_and_never():
    assert Choice("now", 1.0).compiles
    assert not Choice("never", 0.0).compiles
    assert not Choice("never", 0.0).may_compile


def test_compiled_code_that_is_slower_is_given_up():
    choice = Choice("pays", 0.0)
    choice.ran_eagerly(1.0)
    choice.compiled(1.0)
    for _ in range(PATIENCE):
        assert choice.compiles
        choice.ran_compiled(2.0)
    assert not choice.compiles
    assert not choice.may_compile
