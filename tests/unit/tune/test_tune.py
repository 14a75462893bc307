"""The command that measures candidates."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest

import xarrayops as xo
from xarrayops._cli.arguments import console
from xarrayops._core.backends import find
from xarrayops._ops.choices import machine, measurements, verdicts
from xarrayops._ops.choices.calls import describe, key_of, made_of, shown
from xarrayops._ops.choices.store import Store
from xarrayops.bench import Workload
from xarrayops.tune import __main__ as tune, run, worker
from xarrayops.tune.calls import VERBS, default_calls
from xarrayops.tune.candidates import DOMAINS, Candidates, made

pytest.importorskip("torch", exc_type=ImportError)
NUMPY = find.named("numpy")
SORT = {
    "verb": "sort",
    "library": "numpy",
    "args": [{"shape": [100, 100], "dtype": "float64", "layout": "C"}],
    "kwargs": {"axis": 0},
}


@pytest.fixture
def store(monkeypatch, tmp_path):
    """A store of its own."""
    found = Store(tmp_path / "store.jsonl")
    monkeypatch.setattr(machine, "store", lambda: found)
    return found


def test_the_command_measures_and_records(tmp_path):
    """The one test that measures: the times are real, and what they prove is not tested."""
    environment = {"XARRAYOPS_CACHE": str(tmp_path)}
    log = tmp_path / "calls.jsonl"
    choice = {"description": SORT, "default": "numpy:sort", "candidate": "numpy:sort", "gain": 1.0, "rounds": 0}
    log.write_text(json.dumps({**choice, "date": "", "exact": True}) + "\n")
    command = [sys.executable, "-m", "xarrayops.tune", "--seconds", "60", "--from-log", str(log)]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **environment})
    assert done.returncode in (0, 1), done.stderr
    assert "measured. For" in done.stdout
    files = (tmp_path / "choices").glob("*.jsonl")
    lines = [json.loads(line) for file in files for line in file.read_text().splitlines() if line]
    for line in lines:
        assert line["call"] == SORT
        assert line["default"] == "numpy:sort"
        assert worker.HOPELESS <= len(line["ratios"]) <= worker.ROUNDS
    assert len({line["process"] for line in lines}) in (1, 2, 3)
    assert len({line["process"] for line in lines if line.get("check")}) <= 1


def measured(monkeypatch, gain, verb="sort", **kwargs):
    """The answer of a worker whose clock says that each candidate is that many times as fast."""
    monkeypatch.setattr(worker, "_ratios", lambda a, b, calls, least: [1.0 if a is b else gain] * worker.ROUNDS)
    return worker.measured({**SORT, "verb": verb, "kwargs": kwargs})


def test_records_lead_to_choices(monkeypatch, store):
    answers = {"a": measured(monkeypatch, 2.0), "b": measured(monkeypatch, 2.0)}
    for process, answer in answers.items():
        assert {record["candidate"] for record in answer["records"]} >= {"torch:sort"}
        for record in answer["records"]:
            store.append({**record, "process": process})
    found = measurements.decided(store.records(), only_exact=True)
    assert [choice.exact for choice in found.choices] == [True]


def test_calls_of_a_check_follow_products_by_the_library_of_the_arrays(monkeypatch):
    done, matmul = [], xo.matmul
    monkeypatch.setattr(xo, "matmul", lambda x, y: done.append(type(x)) or matmul(x, y))
    products = []

    def called(default, candidate, calls, least):
        for function in (default, candidate):
            done.clear()
            function()
            products.append([*done])
        return [least.ratio] * worker.ROUNDS

    monkeypatch.setattr(worker, "_ratios", called)
    (alone,) = worker.measured(SORT, ["torch:sort"])["records"]
    (checked,) = worker.measured(SORT, ["torch:sort"], is_check=True)["records"]
    assert products == [[], [], [np.ndarray], [np.ndarray]]
    assert (alone["ratios"][0], checked["ratios"][0]) == (verdicts.PROOF.ratio, verdicts.CHECK.ratio)
    assert (alone.get("check"), checked.get("check")) == (None, True)


@pytest.mark.parametrize(("gain", "exact", "reaching"), [(1.0, None, []), (2.0, True, ["torch:sort"])])
def test_values_are_compared_where_a_kernel_reaches_the_requirement(monkeypatch, gain, exact, reaching):
    monkeypatch.setattr(worker, "_ratios", lambda a, b, calls, least: [gain] * worker.ROUNDS)
    answer = worker.measured(SORT, ["torch:sort"])
    assert [record["exact"] for record in answer["records"]] == [exact]
    assert answer["reaching"] == reaching


def test_sums_are_not_exact(monkeypatch):
    answer = measured(monkeypatch, 2.0, verb="sum", axis=0)
    assert {record["exact"] for record in answer["records"]} == {False}


@pytest.mark.parametrize(
    ("least", "gains", "is_reached"),
    [
        (verdicts.PROOF, [2.0] * 15, True),
        (verdicts.PROOF, [0.9] * 3, False),
        (verdicts.PROOF, [1.0, 2.0, *[1.05] * 4], False),
        (verdicts.PROOF, [*[1.05] * 4, *[2.0] * 11], True),
        (verdicts.PROOF, [0.9, 0.8, 1.2, *[1.05] * 3], False),
        (verdicts.CHECK, [0.96] * 15, True),
        (verdicts.CHECK, [*[0.96] * 8, *[0.94] * 7], True),
        (verdicts.CHECK, [1.0, *[0.94] * 8], False),
        (verdicts.CHECK, [0.94] * 3, False),
    ],
)
def test_rounds_end_when_a_candidate_cannot_be_proved(monkeypatch, least, gains, is_reached):
    """The default takes 2 s, and the candidate 2 s over the gain; its first call does not count."""
    left = iter([9.0, *gains, 2.0])
    taken = {"default": lambda: 2.0, "candidate": lambda: 2.0 / next(left)}
    monkeypatch.setattr(worker, "timed", lambda function, args, calls=1: (taken[function](),))
    found = worker._ratios("default", "candidate", 1, least)
    assert np.allclose(found, gains, atol=1e-5)
    assert verdicts.reaches(least, found) is is_reached


def test_a_candidate_with_other_values_is_refused(monkeypatch):
    import torch

    sort = torch.sort
    monkeypatch.setattr(torch, "sort", lambda *args, **kwargs: [-sort(*args, **kwargs)[0], None])
    answer = measured(monkeypatch, 2.0)
    assert "torch:sort" in answer["skipped"]
    assert "torch:sort" not in {record["candidate"] for record in answer["records"]}


@pytest.mark.parametrize("verb", sorted(DOMAINS))
def test_few_results_of_measured_calls_are_nan(verb):
    """A library may compute NaN by another and slower way."""
    part = {"shape": [96, 96], "dtype": "float32", "layout": "C"}
    args = [part, part] if verb == "pow" else [part]
    found = Candidates({"verb": verb, "library": "numpy", "args": args, "kwargs": {}})
    with np.errstate(all="ignore"):
        assert np.isnan(found.function(*found.args)).mean() < 0.1


@pytest.mark.parametrize("verb", VERBS)
def test_all_calls_of_the_list_can_be_made(verb):
    for call in default_calls(["numpy"], [verb], (96,)):
        found = Candidates(call)
        with np.errstate(all="ignore"):
            public = getattr(xo, verb)(*found.args, **found.kwargs)
            assert np.array_equal(public, found.function(*found.args, **found.kwargs), equal_nan=True)


def test_the_calls_of_a_workload_are_recorded(monkeypatch, store):
    def scaled(x):
        if type(x).__module__ != "numpy":
            raise NotImplementedError
        return xo.sort(xo.multiply(x, 2.0), axis=0)

    inputs = lambda random, n: (random.random((n, 100)),)
    workload = Workload("scaled", scaled, inputs, lambda x: np.sort(x * 2, axis=0), (1, 100), dtypes=("float32",))
    monkeypatch.setattr(worker, "WORKLOADS", (workload,))
    calls = worker.calls_of_workload("scaled", ["numpy", "torch"])["calls"]
    assert [shown(call) for call in calls] == [
        "multiply(float32[100, 100], float) on numpy",
        "sort(float32[100, 100], axis=0) on numpy",
    ]
    answers = [{"status": "ok", "calls": calls}, {"status": "ok", "calls": calls}, {"status": "timeout", "reason": ""}]
    found = run.Run(60.0, console())
    assert found._listed(SimpleNamespace(ask=lambda request: answers.pop()), [{"workload": "scaled"}] * 3) == calls


@pytest.mark.parametrize("layout", ["C", "F", "strided", "negative", "C, read-only"])
def test_a_described_call_can_be_made_again(layout):
    part = {"shape": [40, 50], "dtype": "float32", "layout": layout}
    x = made(part, NUMPY, np.random.default_rng(0))
    args = (x, 2, (1.5, "a"), [None, np.dtype("int8")])
    description = describe("unknown", NUMPY, np.ndarray, args, {"flag": True})
    assert description["args"][0] == part
    again, named = made_of(description, NUMPY, lambda each: made(each, NUMPY, np.random.default_rng(0)))
    assert named == {"flag": True}
    assert again[1:] == [2, (1.5, "a"), [None, np.dtype("int8")]]
    assert again[0].strides == x.strides
    assert key_of(describe("unknown", NUMPY, np.ndarray, tuple(again), named)) == key_of(description)
    assert shown(description).startswith("unknown(float32[40, 50]")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--verbs", "nonsense"], "no measured function 'nonsense'"),
        (["--backends", "nonsense"], "no backend 'nonsense'"),
        (["--from-log", "missing.jsonl"], "missing.jsonl"),
        (["--seconds", "0"], "not a positive duration"),
        (["--from-bench", "--verbs", "sort"], "--verbs: not with --from-log or --from-bench"),
    ],
)
def test_wrong_arguments_are_refused(capsys, arguments, message):
    with pytest.raises(SystemExit) as ended:
        tune.main(arguments)
    assert ended.value.code == 2
    assert message in capsys.readouterr().err


class Worker:
    """A worker that answers as a test says; "dies" ends it."""

    def __init__(self, answers):
        self.alive, self.answers, self.asked = True, answers, []
        self.environment = None

    def started(self, environment):
        self.environment = environment
        return self

    def answer(self, seconds):
        return {"status": "ok"}

    def ask(self, request, seconds):
        self.asked.append(request)
        answer = self.answers.pop(0)
        if isinstance(answer, BaseException):
            raise answer
        self.alive = answer["status"] != "crashed"
        least = verdicts.CHECK if request.get("is_check") else verdicts.PROOF
        records = [record for record in answer.get("records", ()) if verdicts.reaches(least, record["ratios"])]
        return {"reaching": [record["candidate"] for record in records], **answer}

    def close(self):
        self.alive = False


def answer(*gains):
    """The answer for a sort, with a candidate for each gain."""
    names = {"call": SORT, "default": "numpy:sort", "exact": True, "date": "2026-11-20"}
    records = [{**names, "candidate": f"c{i}", "process": "p", "ratios": [gain] * 15} for i, gain in enumerate(gains)]
    return {"status": "ok", "records": records}


def ran(monkeypatch, *workers, calls=(SORT,) * 3, limit=60.0):
    """A run whose workers answer one after the other."""
    left = list(workers)
    monkeypatch.setattr(run, "Worker", lambda module, environment: left.pop(0).started(environment))
    found = run.Run(limit, console())
    found.measure(list(calls), [])
    return found


def test_a_worker_that_dies_is_replaced(monkeypatch, store):
    crashed = {"status": "crashed", "reason": "SIGSEGV"}
    first, second = Worker([answer(1.0), crashed]), Worker([answer(1.0)])
    found = ran(monkeypatch, first, second)
    assert (len(first.asked), len(second.asked)) == (2, 1)
    assert list(found.notes()) == [f"{shown(SORT)}: SIGSEGV"]
    assert not second.alive


def test_later_processes_measure_the_candidates_that_earlier_ones_pass(monkeypatch, store):
    first = Worker([answer(1.0, 2.0, 3.0), answer(1.0), answer(2.0)])
    second, third = Worker([answer(0.9, 1.0), answer(1.0)]), Worker([answer(1.0), answer(2.0)])
    found = ran(monkeypatch, first, second, third)
    assert [request["only"] for request in second.asked] == [["c1", "c2"], ["c0"]]
    assert [request["only"] for request in third.asked] == [["c1"], ["c0"]]
    assert [worker.environment for worker in (first, second, third)] == [None, run.KEPT_MEMORY, None]
    assert [worker.asked[0]["is_check"] for worker in (first, second, third)] == [False, True, False]
    assert list(found.notes()) == [
        "1 kernel slower between matrix products, or with the memory of freed arrays.",
        "1 kernel faster in one process, but not in another.",
    ]
    assert len(store.records()) == 10


def test_a_candidate_with_other_values_is_not_measured_again(monkeypatch, store):
    first, second = Worker([answer(2.0) | {"reaching": []}]), Worker([])
    ran(monkeypatch, first, second, calls=(SORT,))
    assert not second.asked


FAULTS = """
import resource
import numpy as np
np.ones(6_000_000)
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(20):
    np.ones(6_000_000)
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="the C library of Linux")
def test_the_second_process_keeps_the_memory_of_freed_arrays():
    def faults(environment):
        command = [sys.executable, "-c", FAULTS]
        environment = {**os.environ, "NUMPY_MADVISE_HUGEPAGE": "0", **environment}
        return int(subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout)

    assert faults({}) > 20_000, "each array of 48 MB takes its pages from the system"
    assert faults(run.KEPT_MEMORY) < 100


@pytest.mark.parametrize("asked", [1, 2])
def test_a_process_without_time_is_not_a_disagreement(monkeypatch, store, asked):
    workers = [Worker([answer(2.0)] * (number < asked)) for number in range(3)]
    monkeypatch.setattr(run, "monotonic", lambda: 100.0 if workers[asked - 1].asked else 0.0)
    found = ran(monkeypatch, *workers, calls=[SORT])
    assert list(found.notes()) == ["1 kernel not measured in all three processes: the time ended."]
    assert [len(worker.asked) for worker in workers] == [number < asked for number in range(3)]


def test_a_failure_of_the_list_is_told(monkeypatch, store):
    monkeypatch.setattr(run, "Worker", lambda module, environment: Worker([{"status": "crashed", "reason": "SIGSEGV"}]))
    found = run.Run(60.0, console())
    found.measure(None, [{"verbs": ["sort"], "libraries": ["numpy"]}])
    assert list(found.notes()) == ["the list of calls: SIGSEGV"]


def test_calls_that_are_not_measured_are_counted(monkeypatch, store):
    assert next(iter(ran(monkeypatch, limit=-1.0).notes())).startswith("3 calls not measured: the time ended.")


def test_an_interrupt_keeps_what_was_measured(monkeypatch, store, tmp_path, capsys):
    log = tmp_path / "calls.jsonl"
    choice = {"description": SORT, "default": "numpy:sort", "candidate": "numpy:sort", "gain": 1.0, "rounds": 0}
    log.write_text(json.dumps({**choice, "date": "", "exact": True}) + "\n")
    worker = Worker([answer(1.0), KeyboardInterrupt()])
    monkeypatch.setattr(run, "Worker", lambda module, environment: worker)
    monkeypatch.setattr(tune, "calls_of", lambda path: [SORT, SORT])
    assert tune.main(["--from-log", str(log)]) == 130
    printed = capsys.readouterr().out
    assert "Interrupted. What was measured is kept." in printed
    assert "the time ended" not in printed
    assert len(store.records()) == 1
    assert not worker.alive


def test_the_command_imports_no_library():
    """Its signals would be handled in their callbacks: Ctrl-C during the import of JAX was lost."""
    program = "import sys; from xarrayops.tune import __main__; print(*{'jax', 'torch', 'cupy'} & set(sys.modules))"
    assert not subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    ).stdout.strip()
