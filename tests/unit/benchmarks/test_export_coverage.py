"""The functions of the standard in files: some are exported here, and the results file has all."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from xarrayops._surface import SURFACE

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "benchmarks"))
import export_coverage  # noqa: E402
from export_functions import EXAMPLES  # noqa: E402

BARS = {"stablehlo static": 155, "stablehlo dynamic": 130, "pt2 static": 158, "onnx static": 115}
SOME = ("argmax", "linalg.det", "max", "mean", "roll", "sort", "take_along_axis")
"""Functions of which our own code differs while a compiler traces, or that need a replaced operator."""


def _results() -> Any:
    return json.loads((ROOT / "benchmarks" / "results" / "export.json").read_text())


def test_every_function_has_an_example() -> None:
    assert EXAMPLES.keys() == set(SURFACE)
    assert _results()["functions"].keys() == set(SURFACE)


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples_are_valid_calls(name: str) -> None:
    example = EXAMPLES[name]
    found = example.function(*example.arguments)
    assert all(isinstance(x, (np.ndarray, np.generic)) for x in (found if isinstance(found, tuple) else (found,)))


def test_the_results_meet_the_bars() -> None:
    totals = export_coverage.totals(_results()["functions"])
    assert totals == _results()["totals"]
    assert all(totals[column] >= bar for column, bar in BARS.items()), totals


@pytest.mark.filterwarnings("ignore:TorchScript is deprecated:FutureWarning")
@pytest.mark.parametrize("name", SOME)
@pytest.mark.parametrize("target", export_coverage.TARGETS)
def test_some_functions_are_exported(name: str, target: str, tmp_path: Path) -> None:
    pytest.importorskip("jax" if target == "stablehlo" else "torch", exc_type=ImportError)
    if target == "onnx":
        pytest.importorskip("onnxscript")
    found = export_coverage.exported(EXAMPLES[name], target, tmp_path, is_dynamic=True)
    assert not found.startswith("no: "), found


def test_the_reasons_are_named(tmp_path: Path) -> None:
    pytest.importorskip("onnxscript")
    found = export_coverage.exported(EXAMPLES["linalg.svd"], "onnx", tmp_path, is_dynamic=False)
    assert found.startswith("no: ")
    assert "has no translation of aten._linalg_svd.default" in found
