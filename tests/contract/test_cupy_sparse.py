"""CuPy's sparse matrices on the stand-in CuPy, in a process of its own: the companion without a GPU."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

STANDINS = Path(__file__).parents[1] / "standins"


def test_sparse_suites_on_the_stand_in() -> None:
    suites = [str(STANDINS / f"cupy_{name}_suite.py") for name in ("sparse", "products")]
    path = os.pathsep.join(filter(None, (str(STANDINS / "cupy"), os.environ.get("PYTHONPATH"))))
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--tb=short", *suites]
    done = subprocess.run(command, env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
