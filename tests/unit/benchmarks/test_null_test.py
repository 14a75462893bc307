"""The null test of the comparison: its workloads and its counts."""

from __future__ import annotations

import importlib.util
import inspect
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from xarrayops.bench.results import Results, Row


def loaded(path):
    """A file as a module."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    found = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


@pytest.fixture(scope="module")
def study():
    return loaded(Path(__file__).parents[3] / "benchmarks" / "null_test.py")


@pytest.mark.parametrize("old", [False, True])
def test_the_workloads_do_the_stated_work(study, tmp_path, monkeypatch, old):
    monkeypatch.setenv(study.OLD, "1") if old else monkeypatch.delenv(study.OLD, raising=False)
    path = tmp_path / "pieces_of_work.py"
    path.write_text(study.WORKLOAD_FILE)
    workloads = loaded(path).WORKLOADS
    names = [study.named(kind, factor) for kind in study.KINDS for factor in (1.0, *study.FACTORS)]
    assert sorted(w.name for w in workloads) == sorted(names)
    for workload in workloads:
        assert workload.group == workload.name.split()[0]
        x = np.ones((8, 8), dtype=np.float32)
        np.testing.assert_allclose(workload.function(x), workload.expected(x), rtol=1e-6)
        pieces = inspect.getclosurevars(workload.function).nonlocals["times"]
        factor = float(workload.name.rpartition(" x")[2]) if " x" in workload.name else 1.0
        assert pieces == (4 if old else 4 * factor)


@pytest.mark.skipif(os.name != "posix", reason="the other Python is a shell script")
def test_the_old_python_sets_the_variable(study, tmp_path):
    python = study.old_python(tmp_path)
    ask = "import os, sys; print(sys.prefix, os.environ.get('XARRAYOPS_NULL_TEST_OLD'))"
    printed = subprocess.run([python, "-P", "-c", ask], capture_output=True, text=True, check=True).stdout
    assert printed.split() == [sys.prefix, "1"]


def pieces(study, random, *, old=False, **noise):
    """One environment of a run of the study, with noise. The old one does the same work in all variants."""
    rows = []
    for kind in study.KINDS:
        for factor in (1.0, *study.FACTORS):
            for backend in ("numpy", "torch"):
                work = 0.01 * (1.0 if old else factor)
                times = work * np.exp(noise.get("sigma", 0.01) * random.standard_normal((2, 4)))
                name, median = study.named(kind, factor), float(np.median(times))
                known = {"group": name.split()[0], "machine": "M", "status": "ok", "median_s": median}
                rows.append(Row(name, backend, "cpu", "float32", 64, medians_s=times.tolist(), **known))
    return Results(
        rows, {"date": "Sunday", "interleaved": {"index": int(old), "pythons": ["new", "old"], "packages": ["a", "b"]}}
    )


def test_a_change_is_hidden_behind_the_old_name(study):
    results = pieces(study, np.random.default_rng(1), sigma=0.0)
    kind, other = study.KINDS[:2]
    changed = study.changed(results, kind, 1.5)
    times = {(r.workload, r.backend): r.median_s for r in changed.rows}
    assert len(changed.rows) == len(times) == len(results.rows) - 2 * len(study.FACTORS)
    assert times[kind, "torch"] == pytest.approx(0.015)
    assert times[other, "torch"] == pytest.approx(0.01)
    assert times[study.named(other, 1.5), "torch"] == pytest.approx(0.015)


def test_the_study_counts_interleaved_runs(study):
    random = np.random.default_rng(3)
    rates = study.interleaved([(pieces(study, random, old=True), pieces(study, random)) for _ in range(4)])
    cells = len(study.KINDS) * 2
    for (name, found), factor in zip(rates.items(), (1.0, *study.FACTORS), strict=True):
        assert name in study.BARS
        assert (found["cells"], found["reported"]) == (4 * cells, float(factor > 1))
        assert found["ratio"] == pytest.approx(factor, rel=0.02)
    assert all(study.met(rates).values())
    backwards = study.interleaved([(pieces(study, random), pieces(study, random, old=True))])
    assert backwards["1.5 times the work"]["reported"] == 0, "faster does not count as slower"
    assert not study.met(backwards)["1.5 times the work"]


def test_the_study_counts_sequential_runs(study):
    random = np.random.default_rng(2)
    runs = [pieces(study, random) for _ in range(4)]
    for i, run in enumerate(runs):
        run.environment["date"] = i
    rates = study.sequential(runs)
    cells = len(study.KINDS) * 2
    assert rates["unchanged code"]["cells"] == 3 * cells * 3
    assert rates["unchanged code"]["reported"] == 0.0
    for factor in study.FACTORS:
        found = rates[f"{factor} times the work"]
        assert (found["cells"], found["reported"]) == (3 * cells, 1.0)
        assert found["ratio"] == pytest.approx(factor, rel=0.02)
    assert rates["unchanged code"]["threshold"] == pytest.approx(1.1, rel=0.01)
