"""The script that compares forecasts with measured times, on programs of the same form as the public ones."""

import importlib
import json
import sys
from pathlib import Path

import pytest

from xarrayops.port.trace import operations
from xarrayops.port.trace.rates import Rates

BENCHMARKS = Path(__file__).parents[3] / "benchmarks"
PROGRAM = """import numpy as np


def f(x, n):
    y = x * 1.0
    for _ in range(n):
        y = np.sin(y)
    return y
"""
INIT = "import numpy as np\n\n\ndef initialize(n):\n    return np.linspace(0.0, 1.0, n)\n"


@pytest.fixture
def script(monkeypatch):
    pytest.importorskip("torch")
    pytest.importorskip("jax")
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    yield importlib.import_module("port_forecast")
    for name in ("port_forecast", "port_programs"):
        sys.modules.pop(name, None)


@pytest.fixture
def checkout(tmp_path):
    folder = tmp_path / "npbench" / "benchmarks" / "waves"
    folder.mkdir(parents=True)
    (folder / "waves.py").write_text(INIT)
    (folder / "waves_numpy.py").write_text(PROGRAM)
    described = {
        "short_name": "waves",
        "relative_path": "waves",
        "module_name": "waves",
        "func_name": "f",
        "parameters": {"S": {"n": 100}},
        "init": {"func_name": "initialize", "input_args": ["n"], "output_args": ["x"]},
        "input_args": ["x", "n"],
    }
    (tmp_path / "bench_info").mkdir()
    (tmp_path / "bench_info" / "waves.json").write_text(json.dumps({"benchmark": described}))
    return tmp_path


def test_the_programs_are_those_that_run_everywhere(script):
    names = script.names_that_run()
    assert len(names) >= 20
    assert "azimhist" in names  # writes no argument
    assert "adi" not in names  # writes into its arguments


def test_times_and_forecasts_of_a_program(script, checkout, tmp_path, monkeypatch, capsys):
    points = {(kind, False): ((0.0, 1e3), (1e9, 2e3)) for kind in operations.KINDS}
    rates = [Rates(library, "cpu", points, 0.0, None) for library in script.LIBRARIES]
    monkeypatch.setattr(script, "measured", lambda *_: (rates, {}))
    out = tmp_path / "out.json"
    monkeypatch.setattr(sys, "argv", ["x", "--npbench", str(checkout), "--only", "waves", "--out", str(out)])
    assert script.main() == script.MISSED, "no operation takes 1000 s"
    found = json.loads(out.read_text())
    assert all(0 < found["seconds"][library]["waves"] < 100 for library in script.LIBRARIES)
    forecast = found["forecasts"]["waves"]
    assert forecast["torch"]["seconds"] > 1e5 > forecast["numpy"]["seconds"], "the time on NumPy is measured"
    assert forecast["torch"]["operations"] == 101
    assert "torch: 0 of 1 forecasts are within a factor of 2" in capsys.readouterr().err


def test_the_bars(script):
    times = {"numpy": {"a": 1.0, "b": 1.0}, "torch": {"a": 4.0, "b": 1.2}, "jax": {"a": 3.0, "b": "TimeoutError"}}
    forecast = {
        "a": {"numpy": {"seconds": 1.1}, "torch": {"seconds": 1.0}, "jax": {"seconds": 7.0}},
        "b": {"numpy": {"seconds": 1.1}, "torch": {"seconds": 2.0}, "jax": {"seconds": 7.0}},
    }
    figures = script.judged(times, forecast)
    assert figures["within_the_factor"] == {"numpy": [2, 2], "torch": [1, 2], "jax": [0, 1]}
    assert figures["pairs_that_differ"] == 2, "a: numpy and torch, numpy and jax"
    assert figures["in_the_wrong_order"] == ["a: numpy, torch"]
    missed = [each.partition(":")[0] for each in script.missed(figures)]
    assert missed == ["torch", "jax", "the order is wrong in 1 of 2 pairs"]
