"""The examples run."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"


def test_preprocess_digits():
    pytest.importorskip("sklearn")
    command = [sys.executable, str(EXAMPLES / "preprocess_digits.py"), "numpy"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert "numpy        explained variance 20.7%" in done.stdout
    assert "same scores" in done.stdout
