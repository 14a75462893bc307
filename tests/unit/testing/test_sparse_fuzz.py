"""Hostile calls of the sparse verbs end in a clear error or in the right answer; and the fuzzer sees what does not."""

import importlib.util
import subprocess
import sys

import numpy as np
import pytest

import xarrayops as xo
from xarrayops.testing import Variant, _sparse_heaps_worker as heaps_worker
from xarrayops.testing._heaps import Heaps
from xarrayops.testing._sparse_fuzz import WORKERS, fuzz
from xarrayops.testing._sparse_hostile import draw

COUNTS = {"numpy": 2500, "torch": 1500, "jax": 200}
"""As many as a few seconds allow; the command in the module's first line takes more."""


@pytest.mark.parametrize("library", COUNTS)
def test_hostile_calls(library, monkeypatch):
    if importlib.util.find_spec(library) is None:
        pytest.skip(f"{library} is not installed")
    monkeypatch.setenv("JAX_ENABLE_X64", "1")  # the contract suite's setting, for all dtypes
    count = COUNTS[library]
    summary = fuzz(library, range(count))
    assert not summary.findings, str(summary)
    assert summary.outcomes.total() == count
    for outcome in ("right answer", "InvalidSparse"):
        assert summary.outcomes[outcome] > count / 10, f"the calls are too much alike:\n{summary}"


@pytest.mark.parametrize(("library", "count"), [("numpy", 300), ("torch", 200), ("jax", 8)])
def test_containers_whose_arrays_are_in_several_heaps(library, count, monkeypatch):
    """A view of the arrays of two heaps ended the process; all answers are SciPy's."""
    if importlib.util.find_spec(library) is None:
        pytest.skip(f"{library} is not installed")
    monkeypatch.setenv("JAX_ENABLE_X64", "1")
    summary = fuzz(library, range(count), module=WORKERS["heaps"])
    assert summary.outcomes == {"equal to SciPy": count}, str(summary)


def test_a_wrong_answer_is_not_equal_to_scipy(monkeypatch):
    functions, variant = xo.backend("numpy").sparse.functions, Variant("numpy")
    right = functions["add"]
    monkeypatch.setitem(functions, "add", lambda a, b: right(a, right(a, b)))
    outcomes = [heaps_worker.run(variant, seed) for seed in range(20)]
    found = [reason for outcome, reason in outcomes if outcome == "finding"]
    assert len(found) > 10
    assert all(reason.startswith("add of ") for reason in found)


@pytest.mark.skipif(sys.platform != "linux", reason="other systems place memory in other ways")
def test_each_thread_has_a_heap_of_its_own():
    made = Heaps(3)
    addresses = sorted(made.copied(np.zeros(500)).ctypes.data >> 26 for _ in range(3))
    assert len(set(addresses)) == 3, "glibc's heaps of threads begin at multiples of 64 MiB"


def test_a_seed_draws_the_same_call_again():
    variant = Variant("numpy")
    seeds = range(40)
    assert [draw(variant, seed).words for seed in seeds] == [draw(variant, seed).words for seed in seeds]
    assert len({draw(variant, seed).words for seed in seeds}) > 35


SABOTEUR = """
import os
import time

import xarrayops as xo
from xarrayops.testing._sparse_fuzz_worker import run, serve


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


def test_a_crash_a_hang_and_wrong_answers_are_found(saboteur):
    sound = fuzz("numpy", range(10, 200))
    assert not [line for line in sound.findings if "sum" in line or "transpose" in line]
    summary = fuzz("numpy", range(200), module=saboteur)
    assert summary.outcomes.total() == 200, "the calls after a crash and a hang were lost"
    found = dict(line.removeprefix("seed ").split(": ", 1) for line in summary.findings)
    assert "SIGABRT" in found.pop("3")
    assert "no answer within" in found.pop("5")
    wrong = [what for what in found.values() if "values:" in what and "sparse.sum" in what]
    obscure = [what for what in found.values() if "AttributeError" in what and "no_such_attribute" in what]
    assert wrong, summary
    assert obscure, summary
    assert all(int(seed) >= 10 for seed in found)
    again = fuzz("numpy", [3], module=saboteur)
    assert again.findings == [line for line in summary.findings if line.startswith("seed 3:")], "a seed names its call"


def test_the_command_prints_a_summary_and_tells_by_its_status():
    command = [sys.executable, "-m", "xarrayops.testing._sparse_fuzz", "--count", "20", "--seed", "40"]
    done = subprocess.run([*command, "--backend", "numpy"], capture_output=True, text=True, check=False)
    assert done.stdout.startswith("numpy: 20 calls, 0 findings\n"), done.stdout + done.stderr
    assert "right answer" in done.stdout
    assert done.returncode == 0


def test_a_worker_that_does_not_start_is_told_at_once():
    with pytest.raises(RuntimeError, match=r"does not start.*nonesuch"):
        fuzz("nonesuch", range(3))
