"""The blocks of measured choice: what serves, what never does, pins, the sentinel."""

from __future__ import annotations

import json
import threading

import numpy as np
import pytest

import xarrayops as xo
from tests.unit.ops.choices.records import call, pinned, proved
from xarrayops._ops.choices import machine, measurements as found, sentinel
from xarrayops._ops.choices.store import Store

torch = pytest.importorskip("torch", exc_type=ImportError)
X = np.random.default_rng(0).standard_normal((128, 128))
SORT = call(128, 128)


@pytest.fixture
def served(monkeypatch):
    """The names of the torch functions that were called."""
    names = []
    sort = torch.sort
    monkeypatch.setattr(torch, "sort", lambda *args, **kwargs: names.append("sort") or sort(*args, **kwargs))
    return names


def test_the_proved_candidate_serves(monkeypatch, served):
    with pinned(monkeypatch, proved(SORT)):
        y = xo.sort(X)
    assert served
    assert type(y) is np.ndarray
    assert np.array_equal(y, np.sort(X))


def test_nothing_changes_without_a_block_or_without_measurements(monkeypatch, served):
    xo.sort(X)
    with pinned(monkeypatch, []):
        xo.sort(X)
    with pinned(monkeypatch, proved(SORT)):
        xo.sort(X, axis=0)  # another kind of call
        xo.sort(X[:8])  # small
        xo.sort(X.astype("float32"))
    assert not served


def test_blocks_are_local_to_their_thread(monkeypatch, served):
    with pinned(monkeypatch, proved(SORT)):
        thread = threading.Thread(target=xo.sort, args=(X,))
        thread.start()
        thread.join()
    assert not served


def test_tensors_that_require_a_gradient_have_the_default(monkeypatch):
    pytest.importorskip("jax", exc_type=ImportError)
    records = proved(call(128, 128, library="torch"), candidate="numpy:sort", default="torch:sort")
    x = torch.tensor(X, requires_grad=True)
    with pinned(monkeypatch, records):
        assert xo.explain("sort", x.detach()).chosen == "numpy:sort"
        y = xo.sort(x)
    y.sum().backward()
    assert torch.equal(x.grad, torch.ones(128, 128, dtype=torch.float64))


def test_traced_code_has_the_default(monkeypatch):
    jax = pytest.importorskip("jax", exc_type=ImportError)
    x = jax.numpy.asarray(X, dtype="float32")
    description = call(128, 128, library="jax", dtype="float32", layout="C")
    with pinned(monkeypatch, proved(description, candidate="numpy:sort", default="jax:sort")):
        assert np.array_equal(jax.jit(xo.sort)(x), np.sort(np.asarray(x)))


def test_torch_compile_has_the_default(monkeypatch):
    x = torch.tensor(X)
    records = proved(call(128, 128, library="torch"), candidate="numpy:sort", default="torch:sort")
    with pinned(monkeypatch, records):
        compiled = torch.compile(xo.sort, backend="eager", fullgraph=True)
        assert torch.equal(compiled(x), torch.sort(x).values)


def test_errors_are_those_of_the_own_library(monkeypatch):
    with pinned(monkeypatch, proved(call(128, 128, axis=7))), pytest.raises(np.exceptions.AxisError):
        xo.sort(X, axis=7)


def test_a_candidate_that_fails_is_replaced_by_the_default(monkeypatch):
    monkeypatch.setattr(torch, "sort", lambda *args, **kwargs: 1 / 0)
    with pinned(monkeypatch, proved(SORT)):
        assert np.array_equal(xo.sort(X), np.sort(X))


def test_explain_shows_the_gain_and_the_date(monkeypatch):
    with pinned(monkeypatch, proved(SORT)):
        explained = xo.explain("sort", X)
        other = xo.explain("sort", X, axis=0)
    assert explained.chosen == "torch:sort"
    assert explained.candidates[0].reason == (
        "2 times as fast as numpy:sort (2 processes, 18 rounds interleaved, 2026-11-20); same values"
    )
    assert [each.name for each in explained.candidates] == ["torch:sort", "numpy:sort"]
    assert other.chosen == "numpy:sort"


def test_a_recorded_file_pins_the_choices(monkeypatch, tmp_path, served):
    file = tmp_path / "choices.jsonl"
    with pinned(monkeypatch, proved(SORT)):
        pass
    with xo.choices(file):
        xo.sort(X)
        xo.sort(X, axis=0)
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    assert [line["candidate"] for line in lines] == ["torch:sort", "numpy:sort"]
    served.clear()
    with pinned(monkeypatch, []), xo.choices(file):
        xo.sort(X)
    assert served
    assert xo.choices(file).digest == xo.choices(file).digest != xo.choices().digest
    assert "sort(float64[128, 128]) on numpy: torch:sort" in str(xo.choices(file))


def test_a_file_that_has_no_choices_is_refused(tmp_path):
    file = tmp_path / "choices.jsonl"
    file.write_text('{"verb": "sort"}\n')
    with pytest.raises(ValueError, match=r"xo\.choices: line 1 of .*choices\.jsonl is not a choice"):
        xo.choices(file)


@pytest.mark.parametrize("block", [xo.measured, xo.choices])
def test_numerics_are_checked(block):
    with pytest.raises(ValueError, match='numerics must be "exact" or "tolerance"'):
        block(numerics="fast")


def test_the_sentinel_demotes_a_choice_that_became_slow(monkeypatch, tmp_path):
    store = Store(tmp_path / "store.jsonl")
    monkeypatch.setattr(machine, "store", lambda: store)
    for record in proved(SORT):
        store.append(record)
    choice = found.decided(store.records(), only_exact=True).choices[0]
    times = iter(range(10**6))
    clock = [0.0]
    monkeypatch.setattr(sentinel, "perf_counter", lambda: clock[0])

    def slow():
        clock[0] += 2.0
        return next(times)

    def quick():
        clock[0] += 1.0
        return next(times)

    call = sentinel.watched(slow, quick, choice)
    for _ in range(sentinel.EVERY * sentinel.PAIRS):
        call()
    assert found.decided(store.records(), only_exact=True).choices[0].candidate == "torch:sort"
    for _ in range(2):
        call()
    assert found.decided(store.records(), only_exact=True).choices[0].candidate == "numpy:sort"
    assert next(times) == sentinel.EVERY * sentinel.PAIRS + 2  # each call of the program ran once


def test_the_sentinel_keeps_a_choice_that_is_faster(monkeypatch, tmp_path):
    store = Store(tmp_path / "store.jsonl")
    monkeypatch.setattr(machine, "store", lambda: store)
    choice = found.decided(proved(SORT), only_exact=True).choices[0]
    clock = [0.0]
    monkeypatch.setattr(sentinel, "perf_counter", lambda: clock[0])

    def taking(seconds):
        def call():
            clock[0] += seconds

        return call

    call = sentinel.watched(taking(1.0), taking(2.0), choice)
    for _ in range(sentinel.EVERY * (sentinel.PAIRS + 2)):
        call()
    assert store.records() == []
