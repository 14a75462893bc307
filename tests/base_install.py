"""Prove the release: the files that are published, and the wheel in a clean environment with NumPy alone.

    python tests/base_install.py

Builds the sdist and from it the wheel, checks their metadata, contents and size, installs the wheel without any extra,
and runs there: the doctor, the benchmark, and the contract suite on NumPy; then the suite again with the oldest NumPy
that is supported, and SciPy. A script and not a test, because pytest's own environment must stay out of it.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import venv
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = {"xarrayops": ROOT, "xarrayops_backends": ROOT / "backends"}
OLDEST = "2.1.1"
LARGEST = 1_720_000
"""The allowed size of the wheel in bytes."""
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


def build(folder: str) -> Path:
    """The wheel, which is built from the sdist, with all modules of the checkout and its version."""
    run(sys.executable, "-m", "build", "--outdir", folder, str(ROOT), cwd=folder)
    (wheel,), (sdist,) = (list(Path(folder).glob(f"xarrayops-*{end}")) for end in (".whl", ".tar.gz"))
    run(sys.executable, "-m", "twine", "check", "--strict", str(wheel), str(sdist), cwd=folder)
    with zipfile.ZipFile(wheel) as archive:
        held = {name for name in archive.namelist() if ".dist-info/" not in name}
    here = {
        path.relative_to(parent).as_posix()
        for name, parent in PACKAGES.items()
        for path in (parent / name).rglob("*")
        if path.is_file() and path.parent.name != "__pycache__"
    }
    assert held == here, f"the wheel differs from the checkout: {sorted(held ^ here)}"
    assert wheel.stat().st_size <= LARGEST, f"the wheel has {wheel.stat().st_size:,} bytes"
    version = wheel.name.split("-")[1]
    assert f"\n## {version}" in (ROOT / "CHANGELOG.md").read_text(), f"the changelog has no version {version}"
    return wheel


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        wheel = build(folder)
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
