"""Sparse matrices of CuPy, in a separate process: with the real CuPy if it has a device, else the stand-in."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

STANDINS = Path(__file__).parents[1] / "standins"


def test_sparse_suites(cupy_environment: dict[str, str]) -> None:
    suites = [str(STANDINS / f"cupy_{name}_suite.py") for name in ("sparse", "order", "products")]
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--tb=short", *suites]
    done = subprocess.run(command, env=cupy_environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
