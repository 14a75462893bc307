"""The kernels that only measured choice uses: they give the values of the default, to the last bit."""

from __future__ import annotations

import json
import threading

import numpy as np
import pytest

import xarrayops as xo
from tests.unit.ops.choices.records import call, pinned, proved
from xarrayops._host import parts, threads
from xarrayops.plugin.candidates import Call
from xarrayops.tune.candidates import Candidates

BACKEND = xo.backend("numpy")
SPECIAL = np.asarray([0.0, -0.0, np.nan, np.inf, -np.inf, 1e-310, -1e-40, 1e30, 2.5, -3.0])
NAMES = {"abs": "absolute", "atan2": "arctan2"}


@pytest.fixture(autouse=True)
def several_threads(monkeypatch):
    monkeypatch.setenv("XARRAYOPS_THREADS", "3")


def values(shape, dtype, seed=0):
    found = np.random.default_rng(seed).standard_normal(shape).astype(dtype)
    with np.errstate(over="ignore"):
        few = SPECIAL[: found.size].astype(dtype)
        found.reshape(-1)[: few.size] = np.roll(few, seed)
    return found


def kernel_of(verb, *args, **kwargs):
    """The kernel, which takes the call."""
    ((_, kernel, refusal),) = BACKEND.alternatives(verb)
    assert refusal(Call(args, kwargs)) is None
    return kernel


def test_verbs_have_kernels_of_their_own_names():
    from xarrayops_backends.numpy._alternatives import _ALONG, _UFUNCS, KERNELS

    assert KERNELS.keys() == {*_UFUNCS, *_ALONG, "attention", "convolution"}
    assert KERNELS.keys() <= BACKEND.functions.keys()
    assert BACKEND.alternatives("sum") == []
    assert xo.backend(pytest.importorskip("torch", exc_type=ImportError).ones(1)).alternatives("sqrt") == []


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("shape", [(3,), (1003, 257), (7, 1, 50_001)])
def test_elementwise(shape, dtype):
    from xarrayops_backends.numpy._alternatives import _UFUNCS

    for verb in _UFUNCS:
        ufunc = getattr(np, NAMES.get(verb, verb))
        arrays = [values(shape, dtype, seed) for seed in range(ufunc.nin)]
        with np.errstate(all="ignore"):
            got, want = kernel_of(verb, *arrays)(*arrays), ufunc(*arrays)
        assert (got.shape, got.dtype, got.tobytes()) == (want.shape, want.dtype, want.tobytes()), verb


@pytest.mark.parametrize("axis", [1, -1, 2])
@pytest.mark.parametrize("dtype", ["int16", "float32", "float64"])
def test_along_an_axis(dtype, axis):
    x = np.asfortranarray(np.random.default_rng(0).integers(-9, 9, (41, 30, 700)).astype(dtype))
    for verb, function in (("sort", np.sort), ("argsort", np.argsort)):
        got = kernel_of(verb, x, axis=axis)(x, axis=axis)
        assert np.array_equal(got, function(x, axis=axis, kind="stable")), verb
        got = kernel_of(verb, x, axis=axis)(x, axis=axis, descending=True)
        assert np.array_equal(got, getattr(xo, verb)(x, axis=axis, descending=True)), verb
    real = x.astype("float64")
    assert kernel_of("fft.fft", real)(real, n=100).tobytes() == np.fft.fft(real, n=100).tobytes()


def test_calls_that_parts_do_not_fit(monkeypatch):
    x = np.ones((100, 100))

    def refused(verb, *args, **kwargs):
        return BACKEND.alternatives(verb)[0][2](Call(args, kwargs))

    assert "not compact" in refused("exp", x.T[1:])
    assert "not compact" in refused("exp", np.arange(9))
    assert "not compact" in refused("add", x, 1.0)
    assert "different" in refused("add", x, x[:1])
    assert "different" in refused("add", x, x.astype("float32"))
    assert "axis" in refused("sort", x, axis=0)
    assert "axis" in refused("sort", x, axis=-2)
    assert "axis" in refused("sort", x[0])
    assert "axis" in refused("sort", x, axis=7)
    assert "one part" in refused("sort", x[:1])
    assert "one part" in refused("exp", x[0, :1])
    monkeypatch.setenv("XARRAYOPS_THREADS", "1")
    assert "one thread" in refused("exp", x)
    assert "one thread" in refused("sort", x)


def test_settings_of_floating_point_errors_hold_in_all_threads():
    x = np.full((300, 3000), -1.0)
    kernel = kernel_of("sqrt", x)
    with np.errstate(invalid="raise"), pytest.raises(FloatingPointError):
        kernel(x)
    with np.errstate(invalid="ignore"):
        assert np.isnan(kernel(x)).all()
    with np.errstate(invalid="warn"), pytest.warns(RuntimeWarning, match="invalid value") as caught:
        kernel(x)
    assert len(caught) == 1
    called = []
    with np.errstate(invalid="call", call=lambda *args: called.append(args)):
        assert np.isnan(kernel(x)).all()
    assert len(called) == 1


def test_parts_run_in_several_threads():
    """Each part waits for another one, which only another thread can bring."""
    together = threading.Barrier(2, timeout=30)
    seen = set()

    def negative(x, *, axis):
        if len(seen) < 2:
            seen.add(threading.get_ident())
            together.wait()
        return -x

    x = np.arange(40_000.0).reshape(2, 20_000)
    _, kernel, _ = parts.of_rows(negative, -1)
    assert np.array_equal(kernel(x), -x)
    assert len(seen) == 2


def test_attention_and_convolution_in_one_thread(monkeypatch, tmp_path):
    """The file pins them. Without it the pool of threads serves these sizes."""
    q = np.random.default_rng(0).standard_normal((2, 8, 300, 64)).astype("float32")
    weights = q[:1, :, :3, :3].repeat(4, 0).copy()
    functions = (lambda: xo.attention(q, q, q, causal=True), lambda: xo.conv2d(q, weights))
    file = tmp_path / "choices.jsonl"
    with xo.choices(file):
        want = [function() for function in functions]
    lines = [json.loads(line) | {"candidate": "numpy:one-thread"} for line in file.read_text().splitlines()]
    assert [line["description"]["verb"] for line in lines] == ["attention", "convolution"]
    file.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    pooled = []
    pool = threads._pool
    monkeypatch.setattr(threads, "_pool", lambda *given: pooled.append(1) or pool(*given))
    with xo.choices(file):
        got = [function() for function in functions]
        assert xo.explain("attention", q, q, q, causal=True).chosen == "numpy:one-thread"
        assert xo.explain("conv2d", q, weights).chosen == "numpy:one-thread"
    assert not pooled
    assert [x.tobytes() for x in got] == [x.tobytes() for x in want]
    for function in functions:
        pooled.clear()
        function()
        assert pooled


def test_a_choice_uses_them_and_explain_says_so(monkeypatch, tmp_path):
    x = np.random.default_rng(0).random((600, 600))
    used = []
    run = parts.threads.run
    monkeypatch.setattr(parts.threads, "run", lambda work, tasks: used.append(1) or run(work, tasks))
    records = proved(call(600, 600), candidate="numpy:threads")
    with pinned(monkeypatch, records):
        assert np.array_equal(xo.sort(x), np.sort(x))
        assert xo.explain("sort", x).chosen == "numpy:threads"
        assert used
        with xo.choices(tmp_path / "choices.jsonl"):
            xo.sort(x)
    used.clear()
    with xo.choices(tmp_path / "choices.jsonl"):
        assert np.array_equal(xo.sort(x), np.sort(x))
    assert used
    line = json.loads((tmp_path / "choices.jsonl").read_text())
    assert line["candidate"] == "numpy:threads"
    (tmp_path / "wrong.jsonl").write_text(json.dumps(line | {"candidate": "numpy:thread"}) + "\n")
    with xo.choices(tmp_path / "wrong.jsonl"), pytest.raises(ValueError, match="there is numpy:sort, numpy:threads"):
        xo.sort(x)


def test_tune_measures_them():
    part = {"shape": [200, 200], "dtype": "float64", "layout": "C"}
    found = Candidates({"verb": "exp", "library": "numpy", "args": [part], "kwargs": {}})
    assert found.default == "numpy:exp"
    same = [np.asarray([1.0])]
    assert "numpy:threads" in found.others
    assert found.is_exact("numpy:threads", same, same)
    assert not found.is_exact("torch:exp", same, same)
    assert not found.is_exact("numpy:threads", same, [np.asarray([1.5])])
