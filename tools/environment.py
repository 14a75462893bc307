"""Make a virtual environment with everything that a make target needs, or reuse the one that is there.

    python tools/environment.py FOLDER {cpu,xla,base}

cpu: xarrayops with every library in its CPU build, and all that tests, lint and types need. xla: PyTorch/XLA in an
environment of its own. base: xarrayops from a wheel, with NumPy alone. A stamp in the folder tells a later run that
nothing has changed.
"""

from __future__ import annotations

import hashlib
import platform
import subprocess
import sys
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TORCH = "torch==2.13.0"
NO_TORCH = """
PyTorch's CPU build is in no package index that pip is set up for, and the default build brings gigabytes of CUDA. Going
on without PyTorch. To have it, point PIP_EXTRA_INDEX_URL at the index of CPU builds that https://pytorch.org names, or
install the build of your choice into {folder}, and run make again.
"""


def pip(folder: Path, *arguments: str) -> bool:
    """Run pip inside the environment; whether it succeeded."""
    command = [str(folder / "bin" / "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    return subprocess.run([*command, *arguments], cwd=ROOT, check=False).returncode == 0


def install_torch(folder: Path) -> None:
    """The CPU build: by its local version where the default build is a CUDA one."""
    wanted = f"{TORCH}+cpu" if platform.system() == "Linux" and platform.machine() == "x86_64" else TORCH
    if not pip(folder, wanted):
        print(NO_TORCH.format(folder=folder), file=sys.stderr)


def has_torch(folder: Path) -> bool:
    """Whether the environment holds PyTorch already."""
    probe = [
        str(folder / "bin" / "python"),
        "-c",
        "import importlib.util as u, sys; sys.exit(u.find_spec('torch') is None)",
    ]
    return subprocess.run(probe, check=False).returncode == 0


def install(folder: Path, kind: str) -> bool:
    """Install what the kind of environment holds."""
    if kind == "xla":
        return pip(folder, "torch==2.9.0", "torch-xla==2.9.0", "-e", ".[test,lowp]")
    if kind == "base":
        return pip(folder, ".")
    if not has_torch(folder):
        install_torch(folder)
    libraries = "jax,dask,sparse,lowp,fast" + (",torch" if has_torch(folder) else "")
    return pip(folder, "-e", f".[{libraries},test,dev]", "-e", "tests/sample_backend")


def main(folder: Path, kind: str) -> int:
    """Make or reuse the environment."""
    sources = [ROOT / "pyproject.toml", ROOT / "tests" / "sample_backend" / "pyproject.toml", Path(__file__)]
    wanted = hashlib.sha256(b"".join(p.read_bytes() for p in sources) + sys.version.encode()).hexdigest()
    stamp = folder / f"{kind}.stamp"
    if stamp.exists() and stamp.read_text() == wanted:
        return 0
    print(f"Setting up {folder} (once; a few minutes) ...", file=sys.stderr)
    venv.create(folder, with_pip=True)
    if not install(folder, kind):
        return 1
    stamp.write_text(wanted)
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), sys.argv[2]))
