"""The statistics of measured choice, on records and on simulated machines."""

from __future__ import annotations

import numpy as np
import pytest

from tests.unit.ops.choices.records import call, checked, measurements, proved, record
from xarrayops._ops.choices.calls import half_octave, key_of, least_size
from xarrayops._ops.choices.verdicts import GAIN, ROUNDS, decided

X = call(1000, 1000)


def chosen(records, description=X, *, only_exact=True):
    choice = measurements(records, only_exact=only_exact).table.choice(key_of(description))
    return None if choice is None else choice.candidate


def test_two_processes_and_a_check_prove_a_gain():
    first, second, check = proved(X)
    assert chosen([first, check, second]) == "torch:sort"
    assert chosen([first, check]) == "numpy:sort"
    assert chosen([first, check, first]) == "numpy:sort"
    assert chosen([first, second]) == "numpy:sort"


def test_a_gain_below_the_threshold_or_in_one_process_is_not_proved():
    assert chosen(proved(X, 1.09)) == "numpy:sort"
    assert chosen([proved(X, 3.0)[0], *proved(X, 1.0)[1:]]) == "numpy:sort"
    mixed = [2.0] * 10 + [0.9] * 5
    assert chosen([checked(X), *(record(X, mixed, process) for process in "ab")]) == "numpy:sort"


@pytest.mark.parametrize(("ratio", "candidate"), [(0.96, "torch:sort"), (0.94, "numpy:sort"), (2.0, "torch:sort")])
def test_a_candidate_must_not_be_slower_in_a_check(ratio, candidate):
    first, second, check = proved(X)
    assert chosen([first, checked(X, ratio), second]) == candidate
    assert chosen([first, checked(X, ratio), second, check]) == "torch:sort"
    assert chosen([first, check, second, checked(X, ratio)]) == candidate


def test_few_rounds_prove_nothing():
    assert chosen([checked(X), *(record(X, [2.0] * (ROUNDS - 1), process) for process in "ab")]) == "numpy:sort"


def test_the_last_two_processes_decide():
    old, new = proved(X, 2.0), [record(X, np.full(15, 1.0), process) for process in ("c", "d")]
    assert chosen([*old, *new]) == "numpy:sort"
    assert chosen([*new, *old]) == "torch:sort"


def test_the_greatest_gain_is_chosen():
    assert chosen([*proved(X, 1.5), *proved(X, 2.5, candidate="jax:sort")]) == "jax:sort"


def test_values_that_differ_need_tolerance():
    records = proved(X, exact=False)
    assert chosen(records) == "numpy:sort"
    assert chosen(records, only_exact=False) == "torch:sort"
    assert chosen([*proved(X), records[0]]) == "numpy:sort"


def test_a_demotion_forgets_what_was_measured_before_it():
    demoted = record(X, [], "", demoted=True)
    assert chosen([*proved(X), demoted]) == "numpy:sort"
    assert chosen([*proved(X), demoted, *proved(X)]) == "torch:sort"


def test_a_candidate_that_was_measured_against_another_default_is_not_chosen():
    old, new = proved(X, default="numpy:old"), [{**each, "date": "2026-11-21"} for each in proved(X, 1.0)]
    assert chosen([*old, *[{**each, "candidate": "jax:sort"} for each in new]]) == "numpy:sort"


@pytest.mark.parametrize("extent", [0, 1, 2, 3, 5, 7, 100, 4096, 10**9])
def test_half_octaves(extent):
    same = [n for n in range(extent, extent + 10**4) if half_octave(n) == half_octave(extent)]
    assert extent < 2 or max(same) / extent < 2**0.5 + 1e-9
    assert half_octave(2 * extent) == half_octave(extent) + 2 or extent < 2


def test_between_two_sizes_a_kernel_must_be_proved_for_both():
    small, large = proved(call(100, 100)), proved(call(10_000, 10_000))
    assert chosen([*small, *large]) == "torch:sort"
    other = proved(call(10_000, 10_000), candidate="jax:sort")
    assert chosen([*small, *other]) is None
    nothing = proved(call(10_000, 10_000), 1.0)
    assert chosen([*small, *nothing]) is None
    second = proved(call(100, 100), 1.5, candidate="jax:sort")
    assert chosen([*small, *second, *other]) == "jax:sort"
    both = [*proved(call(10_000, 10_000), 1.2), *proved(call(10_000, 10_000), 1.4, candidate="jax:sort")]
    assert chosen([*small, *second, *both]) == "jax:sort"


def test_beyond_the_measured_sizes_the_default_serves():
    records = [*proved(call(100, 100)), *proved(call(1000, 1000))]
    assert chosen(records, call(5000, 5000)) is None
    assert chosen(records, call(10, 10)) is None
    assert chosen(records, call(300, 5000)) is None


@pytest.mark.parametrize("other", [call(1000, 1000, dtype="float32"), call(1000, 1000, axis=0), call(10**6)])
def test_other_kinds_of_calls_have_the_default(other):
    assert chosen(proved(X), other) is None


def test_equal_choices_have_equal_digests():
    first = decided(proved(X, 2.0), only_exact=True)
    assert first.digest == decided(proved(X, 3.0), only_exact=True).digest
    assert first.digest != decided(proved(X, 1.0), only_exact=True).digest


NOISE_OF_PROCESS, NOISE_OF_ROUND = 0.10, 0.10
"""Standard deviations of logarithms: 10 % between processes of the same code, as measured, and between rounds."""


def simulated(random, gains, in_program=None):
    """The choice on a simulated machine: the index of a candidate, or None for the default.

    By default the product of a check takes as long as the default.
    """
    records = []
    for index, gain in enumerate(gains):
        with_product = in_program or 2 / (1 + 1 / gain)
        for process, ratio in {"a": gain, "b": gain, "check": with_product}.items():
            level = np.log(ratio) + NOISE_OF_PROCESS * random.standard_normal()
            rounds = np.exp(level + NOISE_OF_ROUND * random.standard_normal(15))
            more = {"check": True} if process == "check" else {}
            records.append(record(X, rounds, process, candidate=str(index), **more))
    candidate = chosen(records)
    return None if candidate == "numpy:sort" else int(candidate)


def test_equal_candidates_do_not_displace_the_default():
    """With the noise of the sizes that interleaved rounds leave: 0 of 200."""
    random = np.random.default_rng(1)
    level = 0.02
    records = lambda: [
        record(X, np.exp(level * random.standard_normal() + 0.05 * random.standard_normal(15)), p) for p in "ab"
    ]
    assert [chosen([checked(X), *records()]) for _ in range(200)] == ["numpy:sort"] * 200


def test_true_gains_are_found():
    random = np.random.default_rng(2)
    found = [simulated(random, [1.5]) == 0 for _ in range(500)]
    assert np.mean(found) >= 0.9


@pytest.mark.parametrize(("in_program", "least", "most"), [(1.0, 0.6, 0.8), (0.85, 0.0, 0.2), (0.7, 0.0, 0.02)])
def test_kernels_that_are_fast_alone_and_slow_in_a_program(in_program, least, most):
    """How many of them are chosen, with heavy noise: a check has one process."""
    random = np.random.default_rng(4)
    found = [simulated(random, [1.5], in_program=in_program) == 0 for _ in range(500)]
    assert least <= np.mean(found) <= most


def test_the_bound_on_regret_holds_on_simulated_machines():
    """On 10,000 machines with three candidates and heavy noise, a choice loses more than 5 % in less than 1 of 500."""
    random = np.random.default_rng(3)
    losses = []
    for _ in range(10_000):
        gains = np.exp(0.25 * random.standard_normal(3))
        index = simulated(random, gains)
        losses.append(1.0 if index is None else 1 / gains[index])
    losses = np.asarray(losses)
    assert np.mean(losses > 1.05) < 1 / 500
    assert np.mean(losses) < 1.0 < GAIN


@pytest.mark.parametrize("extent", [0, 1, 2, 3, 181, 182, 1000, 10**6])
def test_least_size(extent):
    least = least_size(call(extent))
    assert half_octave(least) == half_octave(extent)
    assert least == 0 or half_octave(least - 1) < half_octave(extent)
    assert least_size(call(extent, 182)) == 182 * least
