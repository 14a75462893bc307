"""Hostile calls of the sparse verbs return a correct result or raise a clear error; the fuzzer reports others."""

import importlib.util
import subprocess
import sys

import numpy as np
import pytest

import xarrayops as xo
from benchmarks.exchange_matrix.heaps import Heaps
from tests.fuzz import heaps_worker
from tests.fuzz.hostile import draw
from tests.fuzz.sparse import WORKERS, fuzz
from xarrayops.testing import Variant

COUNTS = {"numpy": 2500, "torch": 1500, "jax": 200}
"""The number of calls for each library, for tests of a few seconds; sweeps make 20 times as many."""


@pytest.mark.more_in_sweeps
@pytest.mark.parametrize("library", COUNTS)
def test_hostile_calls(library, monkeypatch, sweeping):
    if importlib.util.find_spec(library) is None:
        pytest.skip(f"{library} is not installed")
    monkeypatch.setenv("JAX_ENABLE_X64", "1")  # the contract suite's setting, for all dtypes
    count = COUNTS[library] * (20 if sweeping else 1)
    summary = fuzz(library, range(count))
    assert not summary.findings, str(summary)
    assert summary.outcomes.total() == count
    for outcome in ("correct result", "InvalidSparse"):
        assert summary.outcomes[outcome] > count / 10, f"the calls are too similar:\n{summary}"


@pytest.mark.parametrize(("library", "count"), [("numpy", 300), ("torch", 200), ("jax", 8)])
def test_containers_whose_arrays_are_in_several_heaps(library, count, monkeypatch):
    """A view over arrays of two heaps once crashed the process; all results match SciPy."""
    if importlib.util.find_spec(library) is None:
        pytest.skip(f"{library} is not installed")
    monkeypatch.setenv("JAX_ENABLE_X64", "1")
    summary = fuzz(library, range(count), module=WORKERS["heaps"])
    assert summary.outcomes == {"equal to SciPy": count}, str(summary)


def test_a_wrong_result_is_a_finding(monkeypatch):
    functions, variant = xo.backend("numpy").sparse.functions, Variant("numpy")
    right = functions["add"]
    monkeypatch.setitem(functions, "add", lambda a, b: right(a, right(a, b)))
    outcomes = [heaps_worker.run(variant, seed) for seed in range(20)]
    found = [reason for outcome, reason in outcomes if outcome == "finding"]
    assert len(found) > 10
    assert all(reason.startswith("add of ") for reason in found)


@pytest.mark.skipif(sys.platform != "linux", reason="other systems allocate memory differently")
def test_each_thread_has_its_own_heap():
    made = Heaps(3)
    addresses = sorted(made.copied(np.zeros(500)).ctypes.data >> 26 for _ in range(3))
    assert len(set(addresses)) == 3, "in glibc, the heaps of threads begin at multiples of 64 MiB"


def test_a_seed_gives_the_same_call_again():
    variant = Variant("numpy")
    seeds = range(40)
    assert [draw(variant, seed).description for seed in seeds] == [draw(variant, seed).description for seed in seeds]
    assert len({draw(variant, seed).description for seed in seeds}) > 35


SABOTEUR = """
import os
import time

import xarrayops as xo
from tests.fuzz.hostile_worker import run, serve


def sabotaged(variant, seed):
    if seed == 3:
        os.abort()
    if seed == 5:
        open(os.environ["HANGING"], "w").close()
        time.sleep(1000)
    functions = variant.backend.sparse.functions
    if seed == 10 and "right" not in vars(xo):
        xo.right = functions["sum"]
        functions["sum"] = lambda s, axis: xo.right(s, axis) + 1
        functions["transpose"] = lambda s: s.no_such_attribute
    return run(variant, seed)


serve(sabotaged)
"""


@pytest.fixture
def saboteur(tmp_path, monkeypatch, hanging):
    (tmp_path / "saboteur.py").write_text(SABOTEUR)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setenv("HANGING", str(hanging.path))
    return "saboteur"


def test_a_crash_a_hang_and_wrong_results_are_findings(saboteur):
    sound = fuzz("numpy", range(10, 200))
    assert not [line for line in sound.findings if "sum" in line or "transpose" in line]
    summary = fuzz("numpy", range(200), module=saboteur)
    assert summary.outcomes.total() == 200, "the calls after a crash and a hang are missing"
    found = dict(line.removeprefix("seed ").split(": ", 1) for line in summary.findings)
    assert "SIGABRT" in found.pop("3")
    assert "no answer within" in found.pop("5")
    wrong = [what for what in found.values() if "values:" in what and "sparse.sum" in what]
    obscure = [what for what in found.values() if "AttributeError" in what and "no_such_attribute" in what]
    assert wrong, summary
    assert obscure, summary
    assert all(int(seed) >= 10 for seed in found)
    again = fuzz("numpy", [3], module=saboteur)
    assert again.findings == [line for line in summary.findings if line.startswith("seed 3:")], (
        "the same seed must give the same finding"
    )


def test_the_command_prints_a_summary_and_sets_its_exit_status():
    command = [sys.executable, "-m", "tests.fuzz.sparse", "--count", "20", "--seed", "40"]
    done = subprocess.run([*command, "--backend", "numpy"], capture_output=True, text=True, check=False)
    assert done.stdout.startswith("numpy: 20 calls, 0 findings\n"), done.stdout + done.stderr
    assert "correct result" in done.stdout
    assert done.returncode == 0


def test_a_worker_that_does_not_start_raises():
    with pytest.raises(RuntimeError, match=r"does not start.*nonesuch"):
        fuzz("nonesuch", range(3))
