"""The reason, location and fix that are reported for workloads that fail."""

from __future__ import annotations

import numpy as np
import pytest

import xarrayops as xo
from xarrayops.bench import workload_sources
from xarrayops.bench.measure.answers import guarded
from xarrayops.bench.measure.cell import Cell
from xarrayops.bench.place import Place
from xarrayops.bench.workload import MissingData, Workload

FILE = """
import numpy as np
import xarrayops as xo
from xarrayops.bench import Workload

def numbers(random, n):
    return (random.standard_normal(n),)

def misspelt(x):
    return xo.cumsun(x)

def calls_another(x):
    return misspelt(x)

calls = []

def becomes_wrong(x):
    calls.append(x)
    return x if len(calls) < 2 else xo.negative(x)

WORKLOADS = (
    Workload("misspelt", calls_another, numbers, np.cumsum, (5,)),
    Workload("wrong", xo.negative, numbers, np.positive, (5,)),
    Workload("becomes wrong", becomes_wrong, numbers, np.positive, (5,)),
    Workload("no tuple", xo.negative, lambda random, n: random.standard_normal(n), np.negative, (5,)),
)
"""


@pytest.fixture
def mine(tmp_path):
    """The workloads of a file of the user's, by name."""
    file = tmp_path / "mine.py"
    file.write_text(FILE)
    return {workload.name: workload for workload in workload_sources.load([str(file)])}


def failure(workload, file=None):
    """The status, reason and fix of a cell that fails."""

    def measured():
        return Cell(workload, Place("numpy", "cpu", "cpu"), "float32", 5).round(0.001)

    found = guarded(measured, workload_sources.file_of(workload) if file is None else file)
    return found["status"], found["reason"], found["fix"]


def test_the_line_of_a_failure_in_a_user_file(mine):
    status, reason, fix = failure(mine["misspelt"])
    assert (status, fix) == ("crashed", "Fix mine.py.")
    assert "AttributeError" in reason
    assert "cumsun" in reason
    assert reason.endswith(f"(line {FILE[: FILE.index('xo.cumsun')].count(chr(10)) + 1} of mine.py)")


def test_inputs_that_are_not_a_tuple(mine):
    status, reason, _ = failure(mine["no tuple"])
    assert status == "crashed"
    assert "inputs of workload 'no tuple' returned ndarray, not a tuple of arrays" in reason


def test_the_fix_of_a_wrong_answer(mine):
    status, reason, fix = failure(mine["wrong"])
    assert status == "wrong-answer"
    assert reason.startswith("the first call: relative error 2.0e+00")
    assert "Check the function, expected and tolerance in mine.py" in fix
    assert "Report it as a bug" in failure(mine["wrong"], file="")[2]


def test_an_answer_that_becomes_wrong(mine):
    assert failure(mine["becomes wrong"])[1].startswith("after ")


def test_built_in_workloads_have_no_file(mine):
    from xarrayops.bench.workloads import WORKLOADS

    assert {workload_sources.file_of(workload) for workload in WORKLOADS} == {""}
    assert workload_sources.file_of(mine["wrong"]).endswith("mine.py")


@pytest.mark.parametrize(
    ("error", "status", "reason", "fix"),
    [
        (xo.Unsupported("xo.f(array of shape (3, 4)): it lacks f. Instead: g"), "unsupported", "it lacks f.", "g"),
        (xo.Unsupported("it lacks (some): f. Instead: g"), "unsupported", "it lacks (some): f.", "g"),
        (NotImplementedError("no f"), "unsupported", "no f", "Use another --dtype or another backend."),
        (MissingData("no data", "get it"), "not-installed", "no data", "get it"),
        (MemoryError("1 PiB"), "out-of-memory", "MemoryError: 1 PiB", "Use a smaller --size"),
        (RuntimeError("CUDA out of memory"), "out-of-memory", "RuntimeError: CUDA out of memory", "Use a smaller"),
        (ValueError("two\nlines"), "crashed", "raised ValueError: two lines", "Report it as a bug"),
    ],
)
def test_reasons(error, status, reason, fix):
    def fails(x):
        raise error

    workload = Workload("w", fails, lambda random, n: (random.standard_normal(n),), np.negative, (5,))
    found = failure(workload)
    assert found[:2] == (status, reason)
    assert found[2].startswith(fix)
