"""The script that finds which functions of other packages take the arrays of other libraries, on a few calls."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[3] / "benchmarks" / "foreign_calls.py"


def test_calls_are_tried_and_the_table_is_written(tmp_path):
    pytest.importorskip("scipy")
    pytest.importorskip("torch")
    table, out = tmp_path / "table.json", tmp_path / "out.json"
    command = [sys.executable, SCRIPT, "--only", "scipy.special.e", "--table", table, "--out", out]
    subprocess.run(command, check=True)
    calls = json.loads(out.read_text())["calls"]
    assert [case.partition("(")[0] for case in calls] == [
        f"scipy.special.{each}" for each in ("entr", "erf", "erfc", "expit")
    ]
    assert calls["scipy.special.erf(x)"]["torch"]["outcome"] == "direct"
    taken = {name: libraries for libraries, names in json.loads(table.read_text())["takes"].items() for name in names}
    assert {"torch", "jax"} <= set(taken["scipy.special.erf"].split())
    assert "scipy.linalg.expm" not in taken


@pytest.fixture
def script(monkeypatch):
    monkeypatch.syspath_prepend(SCRIPT.parent)
    monkeypatch.delitem(sys.modules, "foreign_calls", raising=False)
    import foreign_calls

    yield foreign_calls
    del sys.modules["foreign_calls"]


def test_a_trial_refutes_a_promise_and_proves_the_cpu_alone(script):
    promises = {"scipy.a": {"torch", "jax", "cupy"}, "scipy.b": {"torch", "jax"}, "scipy.d": {"torch"}}
    rows = {
        "scipy.a(x)": {"outcome": "TypeError: no"},
        "scipy.b(x)": {"outcome": "direct", "elsewhere": "TypeError: can't convert meta device type tensor to numpy."},
        "scipy.c(x)": {"outcome": "direct"},
        "scipy.d(x)": {"outcome": script.NO_ARRAY},
        "scipy.e(x)": {"outcome": "NumPy's"},
        "skimage.f(x)": {"outcome": "direct"},
    }
    assert script.table(promises, {"torch": rows}) == {
        "scipy.a": {"jax", "cupy"},
        "scipy.b": {"torch:cpu", "jax:cpu"},
        "scipy.c": {"torch:cpu"},
        "scipy.d": {"torch"},
    }


def test_a_crash_ends_one_call(script):
    cases = ["os.getpid()", "os._exit(3)", "os.cpu_count()"]
    found = script.outcomes("numpy", cases)
    assert [*found] == cases
    assert found["os._exit(3)"]["outcome"].startswith("the process ended with 3")
    assert found["os.cpu_count()"]["outcome"] == script.NO_ARRAY
