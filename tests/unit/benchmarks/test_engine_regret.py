"""The script that finds the regret with the best engine for each row, on made-up results whose regret is known."""

import importlib
import json
import sys
from pathlib import Path

import pytest

from xarrayops.bench.results import Results, Row

BENCHMARKS = Path(__file__).parents[3] / "benchmarks"
KNOWN = {"machine": {}, "versions": {}, "resolution": 0.1}


@pytest.fixture
def script(monkeypatch):
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    yield importlib.import_module("engine_regret")
    sys.modules.pop("engine_regret", None)


def timed(seconds):
    """A measured cell whose eight rounds took the same time."""
    return {"status": "ok", **dict.fromkeys(("median_s", "low_s", "high_s"), seconds), "medians_s": [[seconds] * 4] * 2}


def results(**seconds):
    """The results of a workload for each letter: the seconds of NumPy, JAX and PyTorch."""
    return Results(
        [
            Row(name, backend, "cpu", "float32", 2, **timed(each))
            for name, times in seconds.items()
            for backend, each in zip(("numpy", "jax", "torch"), times, strict=True)
        ],
        KNOWN,
    )


RUNS = {
    "none": results(a=(8.0, 4.0, 1.0), b=(1.0, 2.0, 3.0)),
    "numpy": results(a=(8.0, 9.0, 9.0), b=(1.0, 1.05, 1.0)),
    "jax": results(a=(9.0, 4.0, 9.0), b=(9.0, 2.0, 9.0)),
    "torch": results(a=(1.0, 2.0, 1.0), b=(9.0, 9.0, 3.0)),
    "measured": results(a=(2.0, 4.0, 1.0), b=(1.0, 2.0, 1.0)),
}


def test_each_library_has_the_best_engine_of_each_row(script):
    found, behind = script.with_engines(RUNS["none"], {name: RUNS[name] for name in ("numpy", "jax", "torch")})
    assert found == {"numpy": 1.0, "jax": pytest.approx(2**0.5), "torch": 1.0}
    assert [(each["library"], each["engine"], each["times"]) for each in behind] == [("jax", "torch", 2.0)]


def test_the_script(script, monkeypatch, tmp_path, capsys):
    out = tmp_path / "regret.json"
    monkeypatch.setattr(script, "ran", lambda folder, engine, budget: RUNS[engine])
    monkeypatch.setattr(script, "tuned", lambda folder, seconds: None)
    monkeypatch.setattr(sys, "argv", ["engine_regret.py", "--out", str(out)])
    assert script.main() == script.MISSED
    numpy, jax, torch = json.loads(out.read_text())["libraries"]
    assert (numpy["regret"], jax["regret"], torch["regret"]) == (2.828, 2.828, 1.732)
    assert (numpy["with engines"], jax["with engines"], torch["with engines"]) == (1.0, 1.414, 1.0)
    assert (numpy["measured"], jax["measured"], torch["measured"]) == (1.414, 2.828, 1.0)
    assert "jax      2.00 by torch" in capsys.readouterr().out
