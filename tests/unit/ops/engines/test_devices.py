"""Engines on device arrays, with two stand-in libraries that record all copies and exports."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

import xarrayops as xo
from tests.entered import entered
from xarrayops._ops.engines import passing
from xarrayops._ops.exchange import convert, plan

NAMES = ("mutable_devices", "frozen_devices")
PAIRS = [NAMES, NAMES[::-1]]


@pytest.fixture
def libraries(entries, claim, monkeypatch):
    monkeypatch.syspath_prepend(str(Path(__file__).parents[3] / "standins" / "devices"))
    entries(*(claim(name, f"{name}_xarrayops", "doubles") for name in NAMES))
    yield {name: xo.backend(name).namespace for name in NAMES}
    for name in list(sys.modules):
        if name.startswith((*NAMES, "two_devices", "backend_of_devices")):
            del sys.modules[name]


@pytest.fixture
def plans(monkeypatch):
    """The targets of all plans that are made."""
    made = []

    def recording(x, to, **options):
        made.append(to)
        return plan.plan_convert(x, to, **options)

    for module in (passing, convert):
        monkeypatch.setattr(module, "plan_convert", recording)
    return made


@pytest.mark.parametrize("device", ["gpu:0", "gpu:1"])
@pytest.mark.parametrize(("own", "engine"), PAIRS)
def test_calls_make_no_plan(libraries, plans, own, engine, device):
    from two_devices import recorded

    library = libraries[own]
    x = library.asarray([[1.0, 2.0], [3.0, 4.0]], device=device)
    with xo.engines(engine):
        xo.matmul(x, x)
        plans.clear()
        with recorded() as events:
            found = xo.matmul(x, x)
    assert plans == []
    assert type(found) is type(x)
    assert found.device == device
    assert found.values.tolist() == [[7.0, 10.0], [15.0, 22.0]]
    copies = [event for event in events if event.what == "copy"]
    # The result of an immutable library is copied on its device, because users may write to results.
    assert [(copy.source, copy.target) for copy in copies] == [(device, device)] * (engine == "frozen_devices")
    assert len(events) - len(copies) == 3, "two arguments and a result are exported"


def test_the_engine_serves(libraries, monkeypatch):
    """The previous test would pass if the array's own library served, except for the exports."""
    x = libraries[NAMES[0]].asarray([1.0], device="gpu:1")
    with xo.engines(NAMES[1]):
        assert xo.explain("exp", x).chosen == "frozen_devices:exp"


@pytest.mark.parametrize(("own", "engine"), PAIRS)
def test_memory_that_the_engine_refuses_needs_a_plan(libraries, plans, own, engine):
    """Strides that the immutable library lacks are copied on the device; the others never."""
    x = libraries["mutable_devices"].asarray(np.arange(6.0).reshape(2, 3).tolist(), device="gpu:1").T
    x = x if own == "mutable_devices" else xo.convert(x, own)
    with xo.engines(engine):
        for _ in range(2):
            plans.clear()
            found = xo.add(x, x)
    assert (plans == []) == (own == "frozen_devices")
    assert found.device == "gpu:1"
    assert found.values.tolist() == (2 * np.arange(6.0).reshape(2, 3).T).tolist()


def test_owners_are_kept_for_the_other_queue(libraries, plans):
    """The quick path keeps memory alive like a conversion: until work in the queue of the engine has ended."""
    from xarrayops._ops.exchange import loans

    own = libraries["mutable_devices"]
    running = xo.backend("frozen_devices").module.running
    x = own.asarray([1.0, 2.0], device="gpu:0")
    with xo.engines("frozen_devices"):
        xo.exp(x)
        loans._ended.clear()
        running["gpu:0"].append("exp")
        plans.clear()
        xo.exp(x)
        assert plans == []
        kept = [each.owner for each in loans._ended]
        assert any(owner is x for owner in kept)
        running["gpu:0"].clear()
        loans.settle()
        assert not loans._ended


def test_a_result_on_another_device_is_moved_by_a_plan(libraries):
    own, engine = (xo.backend(name) for name in NAMES)
    give = passing.quick_return(own, engine)
    x = libraries[NAMES[0]].asarray([1.0], device="gpu:0")
    result = libraries[NAMES[1]].asarray([1.0], device="gpu:1")
    assert give(result, (x,)) is None
    assert passing.back(result, own, engine, (x,)).device == "gpu:0"


def test_fewer_functions_than_with_a_plan(libraries):
    """The functions of the core that one argument enters."""
    own, engine = (xo.backend(name) for name in NAMES)
    x = libraries[NAMES[0]].asarray([1.0], device="gpu:0")
    give = passing.quick_passing(own, engine)

    def count(call):
        call()
        return sum(each.module.partition(".")[0] == "xarrayops" for each in entered(call))

    assert 3 * count(lambda: give(x)) <= count(lambda: passing.passed(x, engine))
