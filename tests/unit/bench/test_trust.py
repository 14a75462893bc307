"""Faults are injected into a backend. Each is detected and reported, and the rows of other backends are unaffected."""

from __future__ import annotations

import os

import pytest

from xarrayops.bench.run.journal import Journal
from xarrayops.bench.run.plan import BenchPlan
from xarrayops.bench.run.runner import run
from xarrayops.bench.workload_sources import load

SEEDED = """
import os, signal, sys, time
import numpy as np
import xarrayops as xo
from xarrayops.bench import Workload

FAULT, BACKEND = os.environ["SEEDED_FAULT"], "jax"
HERE = len(sys.argv) > 1 and sys.argv[1] == BACKEND  # in the worker of the bad backend

def fault(verb):
    if FAULT == "wrong":
        return lambda x, y: verb(x, y) * 1.001
    if FAULT == "crash":
        return lambda x, y: os.kill(os.getpid(), signal.SIGSEGV)
    if FAULT == "hang":
        return lambda x, y: open(os.environ["HANGING"], "w").close() or time.sleep(1000)
    return lambda x, y: np.empty(1 << 50, dtype="uint8")  # memory

if HERE and FAULT == "unsynchronised":
    xo.synchronize = lambda *arrays: None
elif HERE:
    xo.multiply = fault(xo.multiply)

def product(x):
    return xo.multiply(x, x)

def numbers(random, n):
    return (random.standard_normal((n, n)),)

WORKLOADS = tuple(Workload(f"square {n}", product, numbers, np.square, (n,)) for n in (300, 400))
"""
STATUS = {
    "wrong": ("wrong-answer", "error"),
    "unsynchronised": ("not-synchronised", "timing does not wait"),
    "crash": ("crashed", "SIGSEGV"),
    "hang": ("timeout", "no answer within"),
    "memory": ("out-of-memory", "Unable to allocate"),
}


class Silent:
    def step(self, step):
        pass

    def results(self, results):
        pass


@pytest.mark.parametrize("fault", STATUS)
def test_a_bad_backend_is_caught(fault, tmp_path, monkeypatch, hanging):
    pytest.importorskip("jax")
    monkeypatch.setenv("HANGING", str(hanging.path))
    monkeypatch.setenv("SEEDED_FAULT", fault)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=os.pathsep)
    source = tmp_path / "seeded.py"
    source.write_text(SEEDED)
    workloads = load([str(source)])
    settings = {"rounds": 2, "processes": 1, "round_s": 0.005, "timeout_s": 300.0, "budget_s": 900.0}
    plan = BenchPlan(("numpy", "jax"), workloads, sources=(str(source),), **settings)
    rows = run(plan, Silent(), Journal(tmp_path)).rows
    status, reason = STATUS[fault]
    for row in rows:
        if row.backend == "numpy":
            assert row.status == "ok", row.reason
            assert len(row.medians_s[0]) == 2
        else:
            assert row.status == status, row.reason
            assert reason in row.reason
            assert row.fix
            assert row.median_s is row.first_call_s is row.throughput is None
    assert len(rows) == 4
