"""The blocks of measured choice: what serves, what never does, pins, the sentinel."""

from __future__ import annotations

import contextvars
import gc
import json
import threading
import weakref

import numpy as np
import pytest

import xarrayops as xo
from tests.unit.ops.choices.records import call, pinned, proved
from xarrayops._core.backends import find
from xarrayops._ops.choices import machine, measurements as found, sentinel
from xarrayops._ops.choices.store import Store
from xarrayops._ops.engines import chosen, serving

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


def test_arrays_below_the_least_displaced_size_are_not_looked_up(monkeypatch):
    records = proved(call(512, 512))
    looked_up = []
    monkeypatch.setattr(chosen.Chooser, "choice", lambda *given: looked_up.append(given[2][0].shape))
    with pinned(monkeypatch, records):
        for side in (128, 511, 512, 600):
            xo.sort(np.zeros((side, side)))
        xo.sqrt(np.zeros((600, 600)))  # no call of it is displaced
    assert looked_up == [(512, 512), (600, 600)]


def test_the_innermost_open_block_serves(monkeypatch, served):
    with pinned(monkeypatch, proved(SORT)):
        with pinned(monkeypatch, []):
            xo.sort(X)
            assert not served
        xo.sort(X)
        assert len(served) == 1
        xo.sort(X)
    xo.sort(X)
    assert len(served) == 2


def test_a_task_that_outlives_its_block_has_the_default(monkeypatch, served):
    with pinned(monkeypatch, proved(SORT)):
        context = contextvars.copy_context()
        context.run(xo.sort, X)
    context.run(xo.sort, X)
    assert len(served) == 1


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
        "2 times as fast as numpy:sort (2 processes, 30 rounds interleaved, 2026-11-20); same values"
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
    with pytest.raises(ValueError, match=r"xo\.choices: line 1 of .*choices\.jsonl is not a choice: .* names descr"):
        xo.choices(file)
    file.write_text("")
    with pytest.raises(ValueError, match=r"choices\.jsonl has no choices\. Instead: delete it"):
        xo.choices(file)
    with pytest.raises(IsADirectoryError, match=r"xo\.choices cannot read the choices"):
        xo.choices(tmp_path)


def edited(monkeypatch, tmp_path, candidate):
    """A file that pins a kernel by hand."""
    file = tmp_path / "choices.jsonl"
    with pinned(monkeypatch, proved(SORT)), xo.choices(file):
        xo.sort(X)
    file.write_text(file.read_text().replace('"torch:sort"', f'"{candidate}"'))
    return file


def test_a_pinned_kernel_that_its_library_lacks_is_refused(monkeypatch, tmp_path):
    file = edited(monkeypatch, tmp_path, "torch:sortt")
    with xo.choices(file):
        with pytest.raises(
            ValueError, match=r"xo\.choices\('.*'\): no kernel torch:sortt for sort; there is torch:sort"
        ):
            xo.sort(X)
        assert not xo.explain("sort", X).candidates[0].ok
        assert xo.explain("sort", X).chosen == "numpy:sort"
    with pinned(monkeypatch, proved(SORT, candidate="torch:sortt")):
        assert np.array_equal(xo.sort(X), np.sort(X))


def test_explain_names_the_file_that_pins_a_kernel(monkeypatch, tmp_path):
    file = edited(monkeypatch, tmp_path, "torch:sort")
    with xo.choices(file):
        explained = xo.explain("sort", X)
    assert (explained.chosen, explained.candidates[0].reason) == ("torch:sort", f"pinned by xo.choices('{file}')")


def test_explain_of_a_pinned_default_and_of_a_call_that_a_file_lacks(monkeypatch, tmp_path):
    file = edited(monkeypatch, tmp_path, "numpy:sort")
    with xo.choices(file):
        explained = xo.explain("sort", X)
        other = xo.explain("sort", X, axis=0)
    assert (explained.chosen, explained.candidates[0].reason) == ("numpy:sort", f"pinned by xo.choices('{file}')")
    assert other == xo.explain("sort", X, axis=0)


def test_arrays_of_subclasses_are_not_kept(monkeypatch):
    x = np.ones(20_000).view(np.recarray)
    alive = weakref.ref(x)
    with pinned(monkeypatch, proved(call(20_000, verb="add"))):
        xo.add(np.ones(20_000), x)
        del x
        gc.collect()
        assert alive() is None


def test_closed_blocks_are_not_kept(monkeypatch):
    block = pinned(monkeypatch, proved(SORT))
    with block:
        xo.sort(X)
    alive = weakref.ref(block)
    del block
    gc.collect()
    assert alive() is None


def test_explain_says_that_a_call_was_not_measured(monkeypatch):
    with pinned(monkeypatch, proved(SORT)):
        assert "not measured: see python -m xarrayops.tune" in xo.explain("sort", np.ones((900, 900))).summary
        assert "not measured" not in xo.explain("sort", X).summary
        assert "not measured" not in xo.explain("sort", X[:4]).summary
    assert "not measured" not in xo.explain("sort", np.ones((900, 900))).summary


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


def test_the_values_of_subnormal_numbers_are_the_same():
    """XLA treats them as 0, so its kernels are not exact for arithmetic, comparisons and orders."""
    pytest.importorskip("jax", exc_type=ImportError)
    from xarrayops.bench.measure.timing import finished
    from xarrayops.tune.candidates import Candidates

    part = {"shape": [128, 128], "dtype": "float32", "layout": "C"}
    for verb, number in (("multiply", 2), ("subtract", 2), ("less", 2), ("sort", 1)):
        found = Candidates({"verb": verb, "library": "numpy", "args": [part] * number, "kwargs": {}})
        with np.errstate(all="ignore"):
            want = list(finished(found.function(*found.args)))
            got = list(finished(found.others[f"jax:{verb}"](*found.args)))
        assert not found.is_exact(f"jax:{verb}", want, got), verb


def test_calls_of_several_arrays_have_a_form_each(monkeypatch):
    """The sizes of arrays in a list, and of later arrays, are part of the form."""
    large, small = np.ones((128, 128)), np.ones((4, 128))
    part = {"shape": [128, 128], "dtype": "float64", "layout": "C"}
    concat = {"verb": "concat", "library": "numpy", "args": [{"list": [part, part]}], "kwargs": {}}
    names = []
    route = serving.Route.__call__
    monkeypatch.setattr(serving.Route, "__call__", lambda self, *call: names.append(self.verb) or route(self, *call))
    with pinned(monkeypatch, proved(concat, candidate="torch:concat", default="numpy:concat")):
        xo.concat([small, small])
        assert not names
        assert xo.concat([large, large]).shape == (256, 128)
        assert names == ["concat"]
        xo.concat([small, small])
    assert names == ["concat"]


def key_is_quick(monkeypatch, args, kwargs):
    """Whether the second call of a form is found without `Chooser._key`."""
    with pinned(monkeypatch, proved(SORT)):
        chooser = chosen.chooser("sort", find.named("numpy"), xo.sort, lambda engine: xo.sort)
        assert chooser is not None
        chooser.function_for(args, kwargs)
        *_, forms = chooser._forms_here()
        assert [*forms] == [chooser._key(args, kwargs)]
        looked_up = []
        monkeypatch.setattr(chosen.Chooser, "_looked_up", lambda *given: looked_up.append(given))
        chooser._finder()(args, kwargs)
    return not looked_up


ROW = X[0]
QUICK = [((X,), {}), ((X,), {"axis": 0}), ((X,), {"axis": None, "stable": True}), ((X, ROW), {}), ((X, 2.5), {})]
QUICK += [((X, 3), {}), ((X, (0, 1)), {}), ((X, ROW, ROW), {}), ((X, ROW, 1.5), {"side": "left"})]


@pytest.mark.parametrize(("args", "kwargs"), QUICK)
def test_the_quick_key_of_a_call_is_that_of_its_form(monkeypatch, args, kwargs):
    assert key_is_quick(monkeypatch, args, kwargs)


@pytest.mark.parametrize(("args", "kwargs"), [((X, 1j), {}), ((X,), {"fraction": 0.5}), ((X, [0, 1]), {})])
def test_other_calls_have_the_key_of_their_form(monkeypatch, args, kwargs):
    assert not key_is_quick(monkeypatch, args, kwargs)


def test_explain_shows_why_a_choice_does_not_serve(monkeypatch):
    records = proved(call(128, 128, library="torch"), candidate="numpy:sort", default="torch:sort")
    with pinned(monkeypatch, records):
        explained = xo.explain("sort", torch.tensor(X, requires_grad=True))
    assert explained.chosen == "torch:sort"


def test_a_choice_inside_of_a_trace_of_its_library(monkeypatch):
    jax = pytest.importorskip("jax", exc_type=ImportError)
    x = X.astype("float32")
    records = proved(call(128, 128, dtype="float32"), candidate="jax:sort")
    with pinned(monkeypatch, records):
        total = jax.jit(lambda t: t + xo.sort(x).sum())(1.0)
    assert float(total) == pytest.approx(float(1 + x.sum()), rel=1e-4)


def test_a_block_that_raises_or_serves_nothing_writes_no_file(monkeypatch, tmp_path):
    file = tmp_path / "choices.jsonl"

    def failing():
        with xo.choices(file):
            xo.sort(X)
            raise KeyError("of the user")

    with pytest.raises(KeyError, match="of the user"):
        failing()
    with xo.choices(file):
        xo.explain("sort", X)
    assert not file.exists()
    with pytest.raises(FileNotFoundError, match="cannot write the choices"):
        xo.choices(tmp_path / "missing" / "file")


@pytest.mark.parametrize("change", [{"description": {}}, {"description": "x"}, {"candidate": 3}, {"gain": "much"}])
def test_lines_of_other_programs_are_refused(tmp_path, change):
    file = tmp_path / "choices.jsonl"
    names = {"default": "numpy:sort", "candidate": "torch:sort", "gain": 2.0, "rounds": 18, "date": "2026-11-20"}
    file.write_text(json.dumps({"description": SORT, **names, "exact": True} | change) + "\n")
    with pytest.raises(ValueError, match="line 1 of"):
        xo.choices(file)
