"""The contract suite on the stand-in CuPy, in a process of its own: CuPy's backend file without a GPU."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

STANDIN = Path(__file__).parents[1] / "standins" / "cupy"


def test_contract_suite_on_the_stand_in() -> None:
    suite = str(Path(__file__).with_name("test_contract.py"))
    path = os.pathsep.join(filter(None, (str(STANDIN), os.environ.get("PYTHONPATH"))))
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-k", "cupy", "--tb=short", suite]
    done = subprocess.run(command, env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
