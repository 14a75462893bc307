"""The evidence for kinds of devices: from result files into tables, the package, the doctor and the benchmark."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import pytest

from xarrayops._system import evidence as data

ROOT = Path(__file__).parents[3]


@pytest.fixture
def tool():
    spec = importlib.util.spec_from_file_location("evidence_tool", ROOT / "tools" / "evidence.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def results(tmp_path):
    """Tests of PyTorch and of JAX on CUDA, and steps that compiled for CUDA and, without success, for a TPU."""
    tests = {
        "torch-cuda": {"passed": 1000, "skipped": 2},
        "torch-cuda-compile": {"passed": 500, "failed": 1},
        "torch_xla-tpu": {"passed": 7},
        "jax-cuda": {"passed": 3},
        "tests/unit/x.py": {"passed": 9},
    }
    steps = {
        "xla_cuda": {"compiled": 1103, "declared": 112, "failed": 4},
        "xla_rocm": {"compiled": 11},
        "xla_tpu": {"failed": 556},
    }
    (tmp_path / "gpu-1").mkdir()
    (tmp_path / "gpu-1" / "summary.json").write_text(json.dumps({"machine": "NVIDIA X, 16 cores", "tests": tests}))
    (tmp_path / "compiled").mkdir()
    for step, counts in steps.items():
        known = {"counts": counts, "versions": {"jax": "0.10.1"}}
        (tmp_path / "compiled" / f"{step}.json").write_text(json.dumps(known))
    return tmp_path


def test_the_states(tool, results):
    found = tool.gather(results)
    assert found["torch"] == {"cuda": "run on NVIDIA X: 1,500 passed, 1 failed, 2 skipped (gpu-1)", "rocm": "not run"}
    assert found["jax"] == {
        "cuda": "run on NVIDIA X: 3 passed (gpu-1); compiled: 1,103 compiled, 4 failed, 112 declared "
        "(xla_cuda, jax 0.10.1)",
        "rocm": "compiled: 11 compiled (xla_rocm, jax 0.10.1)",
        "tpu": "not run",
    }
    assert found["torch_xla"]["tpu"].startswith("run on NVIDIA X: 7 passed")
    assert tool.short_rows(found) == [
        ("CuPy", "not run", "not run", ""),
        ("JAX", "run", "compiled", "not run"),
        ("PyTorch", "run", "not run", ""),
        ("PyTorch/XLA", "", "", "run"),
    ]
    assert ("JAX", "tpu", "not run") in tool.long_rows(found)


def test_steps_and_results_have_these_names(tool):
    """A renamed step or folder would leave its kind of device "not run"."""
    assert tool.gather()["torch"]["cuda"].startswith("run on NVIDIA")
    folder = ROOT / "benchmarks" / "results" / "compiled"
    assert {path.stem for path in folder.glob("*.json")} <= tool.STEPS.keys()


def test_lines_for_devices():
    known = json.loads((ROOT / "xarrayops" / "_system" / "evidence.json").read_text())
    devices = [("torch", "cpu"), ("torch", "cuda"), ("torch", "cuda"), ("another", "cuda"), ("jax", "rocm")]
    assert data.lines(devices) == [
        f"xarrayops with torch on cuda: {known['torch']['cuda']}",
        f"xarrayops with jax on rocm: {known['jax']['rocm']}",
    ]
