"""Make a virtual environment with everything that a make target needs, or reuse an existing one.

    python tools/environment.py FOLDER {cpu,test,docs,xla,cubed,cupy,clients,gpu,compile-...}

cpu: xarrayops with every library in its CPU build, and the tools for tests, lint and types. test: the same with what
does not belong in a benchmark: the sample backend, and Dask's scheduler for clusters. docs: cpu with the tools that
build the documentation site, and the same scheduler. xla: PyTorch/XLA. cubed: cubed. cupy: the real CuPy, which can be
imported without a device. clients: the packages whose tests benchmarks/clients runs. gpu: the current xarrayops with
the libraries of the running Python; with WHEELS=<folder>, from the wheels that tools/wheels.py put there.
compile-<step>: the compilers of a step of benchmarks/compile_devices and the wheels that they need. A stamp file in the
folder shows later runs that nothing has changed.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import platform
import site
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TORCH = "torch==2.13.0"
CUPY = "cupy-cuda12x==14.2.0"
NO_TORCH = """
No package index of pip has the CPU build of PyTorch, and the default build includes gigabytes of CUDA. Continuing
without PyTorch. To install it, set PIP_EXTRA_INDEX_URL to the index of CPU builds given at https://pytorch.org, or
install another build into {folder}, and run make again.
"""
CLIENTS = ROOT / "benchmarks" / "clients" / "requirements.txt"
_JAX = "0.10.1"
"""The version of JAX whose compilers the steps use; libtpu is the version that jax[tpu] pins."""
_NVIDIA = ("cuda-nvcc", "nvvm", "cuda-runtime", "cuda-nvrtc", "cublas", "cudnn-cu13", "cufft", "cusolver", "cusparse")
_NVCC = ("cuda-nvcc", "cuda-crt", "nvvm", "cuda-runtime", "cuda-cccl", "cuda-nvrtc", "cuda-nvrtc-cu12")
COMPILERS = {
    "compile-xla-cuda": (
        *(f"{name}=={_JAX}" for name in ("jax", "jax-cuda13-pjrt", "jax-cuda13-plugin")),
        *(f"nvidia-{name}" for name in _NVIDIA),
    ),
    # the plug-in of 0.10.1 needs a GPU to compile
    "compile-xla-rocm": tuple(f"{name}==0.10.2" for name in ("jax", "jax-rocm7-pjrt", "jax-rocm7-plugin")),
    "compile-cuda-sources": ("apache-tvm-ffi>=0.1.15", "ziglang", *(f"nvidia-{name}" for name in _NVCC)),
    "compile-xla-tpu": (f"jax[tpu]=={_JAX}",),
    "compile-fake-cuda": (),
}
"""The packages of each step of benchmarks/compile_devices."""
BESIDES = ("test", "docs")
"""The kinds that add to an environment of the kind cpu."""
WITHOUT_TORCH = " without PyTorch"
"""The end of a stamp without PyTorch, so that later runs try again."""


def pip(folder: Path, *arguments: str) -> bool:
    """Run pip in the environment and return whether it succeeded."""
    command = [str(folder / "bin" / "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    return subprocess.run([*command, *arguments], cwd=ROOT, check=False).returncode == 0


def get_torch(folder: Path) -> bool:
    """Install PyTorch if necessary, in its CPU build, and return whether it is installed."""
    wanted = f"{TORCH}+cpu" if platform.system() == "Linux" and platform.machine() == "x86_64" else TORCH
    if has_torch(folder) or pip(folder, wanted):
        return True
    print(NO_TORCH.format(folder=folder), file=sys.stderr)
    return False


def has_torch(folder: Path) -> bool:
    """Whether PyTorch is installed in the environment."""
    probe = [
        str(folder / "bin" / "python"),
        "-c",
        "import importlib.util as u, sys; sys.exit(u.find_spec('torch') is None)",
    ]
    return subprocess.run(probe, check=False).returncode == 0


def create(folder: Path, kind: str) -> None:
    """Create an environment with pip. For gpu it includes the packages of this Python, which may be an environment too.

    Links are needed for relocatable builds of Python. Debian's Python lacks ensurepip but may have pip.
    """
    if kind != "gpu":
        venv.create(folder, with_pip=True, symlinks=True)
        return
    with_pip = importlib.util.find_spec("pip") is None
    venv.create(folder, with_pip=with_pip, system_site_packages=True, symlinks=True)
    (own,) = folder.glob("lib/python*/site-packages")
    (own / "parent.pth").write_text("".join(f"import site; site.addsitedir({p!r})\n" for p in site.getsitepackages()))


def install(folder: Path, kind: str, *, torch: bool) -> bool:
    """Install the packages of this kind of environment."""
    if kind == "xla":
        return pip(folder, "torch==2.9.0", "torch-xla==2.9.0", "-e", ".[test,lowp]")
    if kind == "cubed":
        return pip(folder, "-e", ".[test,cubed]")
    if kind == "clients":
        return pip(folder, "-e", ".[jax,dask,sparse,torch,test]", "-r", str(CLIENTS))
    if kind == "cupy":
        return pip(folder, CUPY, "-e", ".[contract,lowp,sparse]")
    if kind == "compile-fake-cuda" and not get_torch(folder):
        return False
    if kind in COMPILERS:
        return pip(folder, *COMPILERS[kind], "-e", ".[contract,lowp,sparse]")
    if kind == "test":
        return pip(folder, "-e", "tests/sample_backend", "dask[distributed]")  # the version of Dask's own release
    if kind == "docs":
        return pip(folder, "-e", ".[docs]", "dask[distributed]")  # one of the examples starts a cluster
    if kind == "gpu":
        return install_with_libraries(folder, Path(os.environ["WHEELS"]) if os.environ.get("WHEELS") else None)
    libraries = "jax,dask,sparse,lowp,fast,native-jax,export" + (",torch" if torch else "")
    return pip(folder, "-e", f".[{libraries},test,dev]")


def install_with_libraries(folder: Path, wheels: Path | None) -> bool:
    """Install xarrayops, from wheels or built here, and its missing dependencies."""
    if wheels is None:
        isolated = importlib.util.find_spec("hatchling") is None
        return pip(folder, *([] if isolated else ["--no-build-isolation"]), ".[bench,contract]")
    stale = differing(wheels)
    if stale:
        print(f"{wheels} was built from other sources ({stale[0]}). Run make wheels again.", file=sys.stderr)
        return False
    offline = ("--no-index", "--find-links", str(wheels))
    # Otherwise pip skips a wheel of the same version, even if its content differs.
    own = pip(folder, *offline, "--no-deps", "--force-reinstall", "xarrayops")
    return own and pip(folder, *offline, "xarrayops[bench,contract]")


def differing(wheels: Path) -> list[str]:
    """The modules that differ between this checkout and the wheel in the folder."""
    found = sorted(wheels.glob("xarrayops-*.whl"))
    if not found:
        return ["there is no wheel of xarrayops"]
    with zipfile.ZipFile(found[-1]) as wheel:
        held = {name: wheel.read(name) for name in wheel.namelist() if name.endswith(".py")}
    here = {
        path.relative_to(base).as_posix(): path.read_bytes()
        for base, package in ((ROOT, "xarrayops"), (ROOT / "backends", "xarrayops_backends"))
        for path in (base / package).rglob("*.py")
    }
    return sorted(name for name in held.keys() | here.keys() if held.get(name) != here.get(name))


def main(folder: Path, kind: str) -> int:
    """Make or reuse the environment."""
    if kind in BESIDES and main(folder, "cpu"):
        return 1
    sources = [ROOT / "pyproject.toml", ROOT / "tests" / "sample_backend" / "pyproject.toml", CLIENTS, Path(__file__)]
    wanted = hashlib.sha256(b"".join(p.read_bytes() for p in sources) + sys.version.encode()).hexdigest()
    stamp = folder / f"{kind}.stamp"
    found = stamp.read_text() if stamp.exists() else ""
    if found == wanted:
        return 0
    if found != wanted + WITHOUT_TORCH and kind not in BESIDES:
        print(f"Setting up {folder} (once; a few minutes) ...", file=sys.stderr)
        create(folder, kind)
    torch = kind not in ("cpu", "clients") or get_torch(folder)
    if found == wanted + WITHOUT_TORCH and not torch:
        return 0
    if not install(folder, kind, torch=torch):
        return 1
    if kind != "gpu":  # gpu installs a copy of the sources
        stamp.write_text(wanted if torch else wanted + WITHOUT_TORCH)
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), sys.argv[2]))
