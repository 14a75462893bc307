"""What a block of measured choice changes: only the functions that have choices, and only above the least size."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import threading
from types import SimpleNamespace

import numpy as np
import pytest

import xarrayops as xo
from tests.entered import entered
from tests.unit.ops.choices.records import call, pinned, proved
from xarrayops import standard
from xarrayops._core.backends.resolved import resolved
from xarrayops._core.dispatch.arguments import signature
from xarrayops._core.modes import tables as modes
from xarrayops._ops.choices import serving as choices
from xarrayops._ops.engines import chosen, functions, serving
from xarrayops._surface import EXTRA, SURFACE

pytest.importorskip("torch", exc_type=ImportError)
X = np.random.default_rng(0).random((128, 128))
SMALL = X[:8, :8].copy()


@pytest.fixture
def looked_up(monkeypatch):
    """The verbs of the calls whose form is looked up for the first time."""
    verbs = []
    choice = choices.Chooser.choice
    monkeypatch.setattr(
        choices.Chooser, "choice", lambda self, *given: verbs.append(self._verb) or choice(self, *given)
    )
    return verbs


@pytest.fixture
def routes(monkeypatch):
    """The verbs of the calls that an engine or a choice serves."""
    verbs = []
    served = serving.Route._served
    monkeypatch.setattr(serving.Route, "_served", lambda *given: verbs.append(given[0].verb) or served(*given))
    return verbs


def names_of(function):
    """The functions of xarrayops that a call enters, the third time."""
    for _ in range(2):
        function()
    return [each.code.co_name for each in entered(function) if each.module.startswith("xarrayops")]


def test_functions_without_choices_are_those_of_outside(monkeypatch):
    xo.sqrt(X)
    outside, names = standard._sqrt, names_of(lambda: xo.sqrt(X))
    with pinned(monkeypatch, proved(call(128, 128))):
        assert standard._sqrt is outside
        assert names_of(lambda: xo.sqrt(X)) == names
        assert modes.state_of("sort") == modes.IN_CHOICES
        assert modes.state_of("sqrt") == modes.PLAIN
    assert modes.state_of("sort") == modes.PLAIN


def test_arrays_of_other_libraries_have_the_functions_of_outside(monkeypatch, looked_up):
    torch = pytest.importorskip("torch")
    y = torch.rand(128, 128)
    xo.sort(y)
    names = names_of(lambda: xo.sort(y))
    with pinned(monkeypatch, proved(call(128, 128))):
        assert names_of(lambda: xo.sort(y)) == names
        of_torch = call(128, 128, dtype="float32", library="torch")
        with pinned(monkeypatch, proved(of_torch, candidate="numpy:sort", default="torch:sort")):
            assert np.array_equal(xo.sort(y), np.sort(y))
            assert looked_up == ["sort"]
        assert np.array_equal(xo.sort(X), np.sort(X))
    assert looked_up == ["sort", "sort"]
    assert names_of(lambda: xo.sort(y)) == names


def test_a_call_below_the_limit_enters_one_more_function(monkeypatch):
    outside = names_of(lambda: xo.sort(SMALL, axis=0))
    with pinned(monkeypatch, proved(call(128, 128))):
        inside = names_of(lambda: xo.sort(SMALL, axis=0))
    assert len(inside) <= len(outside) + 1


def test_limits_are_those_of_the_open_blocks(monkeypatch, looked_up):
    with pinned(monkeypatch, proved(call(512, 512))):
        xo.sort(X)
        assert looked_up == []
        with pinned(monkeypatch, proved(call(128, 128))):
            assert np.array_equal(xo.sort(X), np.sort(X))
        assert looked_up == ["sort"]
        xo.sort(X)
    xo.sort(X)
    assert looked_up == ["sort"]


def test_a_block_of_another_thread_changes_nothing_here(monkeypatch, routes):
    opened, closed = threading.Event(), threading.Event()
    block = pinned(monkeypatch, proved(call(128, 128)))

    def hold():
        with block:
            opened.set()
            closed.wait(30)

    thread = threading.Thread(target=hold)
    thread.start()
    try:
        opened.wait(30)
        assert np.array_equal(xo.sort(X), np.sort(X))
        assert routes == []
        with block:
            xo.sort(X)
        assert routes == ["sort"]
    finally:
        closed.set()
        thread.join()


def test_a_block_is_for_its_own_task(monkeypatch, routes):
    block = pinned(monkeypatch, proved(call(128, 128)))

    async def inside(entered, left):
        with block:
            entered.set()
            await left.wait()
            xo.sort(X)

    async def run():
        entered, left = asyncio.Event(), asyncio.Event()
        task = asyncio.ensure_future(inside(entered, left))
        await entered.wait()
        xo.sort(X)
        before = len(routes)
        left.set()
        await task
        return before

    assert asyncio.run(run()) == 0
    assert routes == ["sort"]


def test_a_recording_block_looks_up_all_functions(monkeypatch, tmp_path, looked_up):
    with pinned(monkeypatch, []), xo.choices(tmp_path / "choices.jsonl"):
        xo.sqrt(X)
        xo.sqrt(SMALL)
        assert np.array_equal(xo.sort(X, axis=0), np.sort(X, axis=0))
    assert looked_up == ["sqrt", "sort"]
    assert modes.state_of("sqrt") == modes.PLAIN


@pytest.mark.parametrize("order", [0, 1])
def test_choices_and_engines_at_once(monkeypatch, routes, order):
    """The choice serves its calls, and the engine the others, whichever block is the outer one."""
    blocks = [pinned(monkeypatch, proved(call(128, 128))), xo.engines("torch")]
    with blocks[order], blocks[1 - order]:
        for y in (X, SMALL):
            assert np.array_equal(xo.sort(y), np.sort(y))
        assert np.array_equal(xo.abs(X), np.abs(X))
    assert routes == ["sort", "sort", "abs"]


@pytest.mark.parametrize("limit", [0, 10])
def test_every_function_can_be_limited(limit):
    """The compiled test has the parameters of the function, and passes them on as the public functions do."""

    def given(*args, **kwargs):
        return args, kwargs

    of_limit = {"plain": np.ndarray, "size": np.size, "resolved": resolved, "limit": SimpleNamespace(size=limit)}
    of_calls = {"otherwise": given, "choose": lambda args, kwargs: 1, "serve": lambda chosen, *found: found}
    for verb in sorted(functions.SERVED & (SURFACE | EXTRA).keys()):
        parameters = signature(verb).parameters.values()
        required = [each for each in parameters if each.default is each.empty and each.kind is not each.VAR_POSITIONAL]
        options = {each.name: each.default for each in parameters if each.kind is each.KEYWORD_ONLY}
        args, kwargs = chosen.with_limit(verb, of_limit | of_calls)(*(np.zeros(2) for each in required))
        assert signature(verb).bind(*args, **kwargs), verb
        assert kwargs == options, verb


PROGRAM = """
import numpy as np, xarrayops as xo
from xarrayops import standard
from xarrayops._core.modes import tables as modes
assert modes.state_of("sqrt") == modes.IN_CHOICES
x = np.ones((200, 200))
xo.sqrt(x)
assert modes.state_of("sqrt") == modes.state_of("sort") == modes.PLAIN, "the store is empty"
with xo.measured():
    assert xo.sqrt(x)[0, 0] == 1.0
"""


def test_the_environment_changes_only_functions_that_have_choices(tmp_path):
    environment = {**os.environ, "XARRAYOPS_MEASURED": "1", "XARRAYOPS_CACHE": str(tmp_path)}
    subprocess.run([sys.executable, "-c", PROGRAM], check=True, env=environment)


def test_the_function_of_a_choice_is_found_once_for_each_form_of_a_call(monkeypatch):
    found = []
    function_for = serving.Route.function_for
    monkeypatch.setattr(serving.Route, "function_for", lambda *given: found.append(given[1:]) or function_for(*given))
    with pinned(monkeypatch, proved(call(128, 128))):
        for axis in (-1, -1, np.int64(-1)):
            assert np.array_equal(xo.sort(X, axis=axis), np.sort(X))
        assert len(found) == 1
        with xo.use(dtype="float32"):
            assert xo.sort(X).dtype == X.dtype
        assert len(found) == 2
