"""The evidence for kinds of devices: from result files into tables, the package, the doctor and the benchmark."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import pytest

from xarrayops._surface import EXTRA, OWN, SURFACE
from xarrayops._system import evidence as data

ROOT = Path(__file__).parents[3]
COMPILED = ROOT / "benchmarks" / "results" / "compiled"


@pytest.fixture
def tool():
    spec = importlib.util.spec_from_file_location("evidence_tool", ROOT / "tools" / "evidence.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def record(operation: str, state: str = "compiled", **more: object) -> dict[str, object]:
    return {"operation": operation, "state": state, **more}


STEPS = {
    "xla_cuda": [
        *[record(name) for name in ("abs", "abs of float64", "attention causal")],
        record("abs of text", "declared", reason="no | text"),
        record("sort", "failed", reason="it aborts"),
    ],
    "xla_tpu": [record("abs", "failed", reason="it aborts")],
    "fake_cuda": [{"row": "abs", "state": "compiled"}, record("take of xarrayops.numpy")],
    "cuda_sources": [
        record("random.normal", device="sm_80 by NVRTC 12"),
        record("random.normal", device="gfx942 by clang"),
        record("bits of a draw", device="cpu", numbers=1000),
        record("bits of another draw", "failed", device="cpu", numbers=70),
    ],
}
TARGETS = {
    "xla_cuda": ["GPU X (sm_1)"],
    "xla_tpu": ["TPU"],
    "fake_cuda": ["fakes"],
    "cuda_sources": ["sm_80", "gfx942"],
}


@pytest.fixture
def results(tmp_path):
    """Tests on CUDA and on a TPU, and steps that compiled for CUDA and, without success, for a TPU."""
    summary = {
        "devices": ["NVIDIA X", "NVIDIA Y"],
        "versions": {name: {name: "1.0"} for name in ("torch", "torch_xla", "jax")},
        "tests": {
            "torch-cuda": {"passed": 1000, "skipped": 2},
            "torch-cuda-compile": {"passed": 500, "failed": 1},
            "torch_xla-tpu": {"passed": 7},
            "jax-cuda": {"passed": 3},
            "tests/unit/x.py": {"passed": 9},
        },
        "functions": ["abs", "matmul"],
        "failed": [{"test": "tests/x.py::TestX::test_x[torch-cuda-compile]", "reason": "a fault"}],
        "random": {"source": "the former source", "numbers": 5000, "differing": 1},
    }
    (tmp_path / "gpu-1").mkdir()
    (tmp_path / "gpu-1" / "summary.json").write_text(json.dumps(summary))
    (tmp_path / "compiled").mkdir()
    for step, records in STEPS.items():
        known = {"targets": TARGETS[step], "versions": {"jax": "0.10.1"}, "records": records}
        (tmp_path / "compiled" / f"{step}.json").write_text(json.dumps(known))
    return tmp_path


def test_the_texts(tool, results):
    rows = {row[:2]: row[2] for row in tool.long_rows(tool.gather(results))}
    assert rows == {
        ("CuPy", "CUDA"): "sources compiled for sm_80 with jax 0.10.1: 1 compilations of sources (cuda_sources)",
        ("CuPy", "ROCm"): "sources compiled for gfx942 with jax 0.10.1: 1 compilations of sources (cuda_sources)",
        ("JAX", "CUDA"): "run on NVIDIA X and NVIDIA Y with jax 1.0: tests 3 passed (gpu-1); compiled for GPU X (sm_1) "
        "with jax 0.10.1: 3 calls compiled, 1 failed, 1 declared (xla_cuda)",
        ("JAX", "ROCm"): "not run",
        ("JAX", "TPU"): "not run",
        ("PyTorch", "CUDA"): "run on NVIDIA X and NVIDIA Y with torch 1.0: tests 1,500 passed, 1 failed, 2 skipped "
        "(gpu-1); traced on fakes with jax 0.10.1: 2 rows and calls traced (fake_cuda)",
        ("PyTorch", "ROCm"): "not run",
        ("PyTorch/XLA", "TPU"): "run on NVIDIA X and NVIDIA Y with torch_xla 1.0: tests 7 passed (gpu-1)",
    }


def test_the_short_rows_have_the_levels_and_the_number_of_declared_calls(tool, results):
    assert tool.short_rows(tool.gather(results)) == [
        ("CuPy", "sources compiled", "sources compiled", ""),
        ("JAX", "run; compiled, 1 declared", "not run", "not run"),
        ("PyTorch", "run; traced", "not run", ""),
        ("PyTorch/XLA", "", "", "run"),
    ]


def test_the_page_has_a_row_for_each_function_and_each_reason(tool, results):
    text = tool.page(tool.gather(results))
    rows = [line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith("| ")]
    cells = {row[0].strip("`"): row[1:] for row in rows}
    places = ["CuPy on CUDA", "JAX on CUDA", "PyTorch on CUDA", "CuPy on ROCm", "PyTorch/XLA on TPU"]
    assert cells["function"] == places
    assert cells["abs"] == ["not run", "run, compiled, 1 declared", "run, traced", "not run", "run"]
    assert cells["attention"] == ["not run", "compiled", "not run", "not run", "not run"]
    assert cells["sort"] == ["not run", "failed", "not run", "not run", "not run"]
    assert cells["take"] == ["not run"] * 5, "the function of xarrayops.numpy is another one"
    assert cells["random.normal"] == ["sources compiled", "not run", "not run", "sources compiled", "not run"]
    assert cells["no text"] == ["`abs`", "JAX on CUDA"]
    assert {*SURFACE, *EXTRA, *OWN} <= cells.keys()
    assert "nothing for JAX on ROCm and JAX on TPU and PyTorch on ROCm." in text


def test_tests_that_failed_and_random_numbers(tool, results):
    assert tool.failed_rows(results) == [("gpu-1", "`test_x[torch-cuda-compile]`", "a fault")]
    assert [row[2:] for row in tool.random_rows(results)] == [("5,000", "1"), ("1,000", "0")]


def test_steps_and_results_have_these_names(tool):
    """A renamed step or folder would leave its kind of device "not run", and a renamed function its row."""
    assert tool.gather()["torch", "cuda"][0].text.startswith("run on NVIDIA")
    assert {path.stem for path in COMPILED.glob("*.json")} <= {step.name for step in tool.STEPS}
    public = {*SURFACE, *EXTRA, *OWN}
    for path in COMPILED.glob("*.json"):
        records = json.loads(path.read_text())["records"]
        names = {tool.function_of(r) for r in records if path.stem != "cuda_sources" or "NVRTC" in r["device"]} - {""}
        assert not {name for name in names if not name.startswith("random.")} - public, path


def test_lines_for_devices():
    known = json.loads((ROOT / "xarrayops" / "_system" / "evidence.json").read_text())
    devices = [("torch", "cpu"), ("torch", "cuda"), ("torch", "cuda"), ("another", "cuda"), ("jax", "rocm")]
    assert data.lines(devices) == [
        f"xarrayops with torch on cuda: {known['torch']['cuda']['text']}",
        f"xarrayops with jax on rocm: {known['jax']['rocm']['text']}",
    ]


def test_the_summary_has_every_kind():
    text = data.summary()
    assert "jax: cuda run and compiled, rocm compiled, tpu compiled; torch: cuda run and traced, rocm not run" in text
    assert "\n" not in text
