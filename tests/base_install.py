"""Prove the base install: the built wheel in a clean environment with NumPy alone, and with the oldest NumPy.

    python tests/base_install.py

Builds the wheel, installs it without any extra, and runs there: the doctor, the benchmark, and the contract suite on
NumPy; then the suite again with the oldest NumPy that is supported, and SciPy. A script and not a test, because
pytest's own environment must stay out of it.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
OLDEST = "2.1.1"
SUITE = """
import pytest
from xarrayops.testing import ContractSuite, Variant

@pytest.fixture(scope="module")
def variant():
    return Variant("numpy")

class TestNumPy(ContractSuite):
    pass
"""


def run(*command: str, cwd: str) -> None:
    """Run a command and stop on failure."""
    print("$", " ".join(command), flush=True)
    subprocess.run(command, cwd=cwd, check=True)


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        run(sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", folder, str(ROOT), cwd=folder)
        (wheel,) = Path(folder).glob("xarrayops-*.whl")
        venv.create(Path(folder) / "env", with_pip=True)
        python = str(Path(folder) / "env" / "bin" / "python")
        run(python, "-m", "pip", "install", "--quiet", str(wheel), cwd=folder)
        run(str(Path(python).with_name("xarrayops")), "doctor", cwd=folder)
        run(python, "-m", "xarrayops.bench", "--all", "--budget", "20", "--out", folder, cwd=folder)
        run(python, "-m", "pip", "install", "--quiet", "pytest", cwd=folder)
        (Path(folder) / "test_numpy.py").write_text(SUITE)
        run(python, "-m", "pytest", "-q", "test_numpy.py", cwd=folder)
        run(python, "-m", "pip", "install", "--quiet", f"numpy=={OLDEST}", "scipy", cwd=folder)
        run(python, "-m", "pytest", "-q", "test_numpy.py", cwd=folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
