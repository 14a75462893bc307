"""The times of compilations: recorded in blocks of measured choice, and expected by later processes."""

from __future__ import annotations

import numpy as np
import pytest

import xarrayops as xo
from tests.unit.ops.choices.records import call, pinned, proved
from xarrayops._ops.choices import compilations, machine
from xarrayops._ops.choices.store import Store
from xarrayops._ops.choices.verdicts import decided

pytest.importorskip("jax")
X = np.linspace(0.0, 1.0, 8, dtype="float32")


@pytest.fixture
def store(tmp_path, monkeypatch):
    """An empty store, of which nothing was read yet."""
    found = Store(tmp_path / "choices.jsonl")
    monkeypatch.setattr(machine, "store", lambda: found)
    compilations._recorded.cache_clear()
    yield found
    compilations._recorded.cache_clear()


def compiled(when="now"):
    function = xo.jit(lambda x: xo.sum(x * x), engine="jax", when=when, check=False)
    function(X)
    return function


def test_a_block_records_the_times_of_compilations(monkeypatch, store):
    compiled()
    assert store.records() == []
    with pinned(monkeypatch, []):
        function = compiled()
    assert store.records() == [{"call": {"compilation": "jax"}, "seconds": function.ledger[0].compilation_s}]
    assert decided(store.records(), only_exact=True).choices == [], "no choice of a kernel"


def test_the_latest_compilations_are_expected(monkeypatch, store):
    for seconds in (100.0, *[1e-9] * compilations.LATEST, "long", -1.0):
        store.append({"call": {"compilation": "jax"}, "seconds": seconds})
    assert compilations.expected_s("jax") is None
    with pinned(monkeypatch, []):
        assert compilations.expected_s("jax") == 1e-9
        assert compilations.expected_s("torch") is None
        function = compiled("pays")
        assert function.ledger[0].compilation_s is None
        function(X)
        assert function.ledger[0].compilation_s > 0, "one eager call took longer than the expected compilation"
    other = compiled("pays")
    other(X)
    assert other.ledger[0].compilation_s is None


def test_a_file_of_choices_says_nothing_about_compilations(monkeypatch, store, tmp_path):
    store.append({"call": {"compilation": "jax"}, "seconds": 1e-9})
    file = tmp_path / "pinned.jsonl"
    with pinned(monkeypatch, proved(call(128, 128))), xo.choices(file):
        xo.sort(np.ones((128, 128)))
    with xo.choices(file):
        assert compilations.expected_s("jax") is None
        compiled()
    assert len(store.records()) == 1
