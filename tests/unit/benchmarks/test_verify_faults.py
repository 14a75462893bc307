"""The sweep that plants faults into right ports, on two of its programs, and its oracle."""

import importlib
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[3] / "benchmarks" / "verify_faults"
PROGRAM = "import xarrayops as xo\nimport xarrayops.numpy as np\ndef f(x):\n    return np.sum(x, axis=0) * 2.0\n"


@pytest.fixture
def modules(monkeypatch):
    pytest.importorskip("torch")
    pytest.importorskip("jax")
    pytest.importorskip("libcst")
    monkeypatch.syspath_prepend(str(FOLDER))
    names = ("mutations", "oracle", "ports", "examine")
    yield {name: importlib.import_module(name) for name in names}
    for name in names:
        sys.modules.pop(name, None)


def test_faults_change_the_function(modules):
    found = list(modules["mutations"].faults(PROGRAM, "f"))
    assert {kind for kind, _ in found} >= {"dtype", "host", "alias", "refused", "order", "value"}
    assert any("axis=1" in text for _, text in found)
    assert any("2.0002" in text for _, text in found)


@pytest.mark.parametrize(
    ("old", "new", "relation"),
    [
        ("2.0", "(1.0 + 1.0)", "equal"),
        ("2.0", "2.0 * (1 + 1e-14)", "near"),
        ("2.0", "2.0002", "different"),
        ("return", "return xo.convert(x, 'numpy')[0] * 0 +", "different"),
        ("return", "x[0] = 5; return 0 * x[0] +", "different"),
    ],
)
def test_the_oracle(modules, old, new, relation):
    oracle = modules["oracle"]
    original = oracle.module("import numpy as np\n", "original_of_test")
    call = "f(np.arange(6.0).reshape(2, 3) + 0.3)"
    want = oracle.outcome(PROGRAM, original, call, "torch")
    assert oracle.compare(want, oracle.outcome(PROGRAM.replace(old, new), original, call, "torch")) == relation


def test_a_fault_that_passes_is_reported(modules, monkeypatch):
    examine = modules["examine"]
    file = next(file for file, name in examine.programs() if name == "preemphasis")
    row = examine.examined(file, "preemphasis", 1)
    assert (row.refused, row.passed) == ("", [])
    assert sum(row.faults.values()) >= 4
    monkeypatch.setattr(examine, "command", lambda arguments: 0)
    row = examine.examined(file, "preemphasis", 1)
    assert len(row.passed) == sum(row.faults.values())


def test_enough_programs_and_the_command(modules):
    assert len(modules["examine"].programs()) >= 60
    command = [sys.executable, str(FOLDER), "--only", "without_nan", "--processes", "1"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1].startswith("1 right ports, 0 refused; ")
