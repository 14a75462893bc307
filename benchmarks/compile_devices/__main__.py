"""Compile all paths for devices that this machine does not have, and write the evidence to benchmarks/results/compiled.

Each step makes an environment of its own, .venv-compile-STEP, of wheels from the package index. All take 9 GB of disk.

xla_cuda       JAX for an H100: wheels of the CUDA plug-in and of NVIDIA's libraries, 3.8 GB
xla_tpu        JAX for TPU v5e and v6e: libtpu, 1.3 GB; Linux on x86-64
torch_xla_tpu  PyTorch/XLA for a TPU v5e: the environment of xla_tpu, and that of `make xla`, 7 GB more
xla_rocm       JAX for an MI300X: wheels of the ROCm plug-in, 1.2 GB, and a C compiler, which makes stand-ins for ROCm's
               libraries
cuda_sources   CUDA sources by nvcc and NVRTC, and by clang for gfx942: wheels of NVIDIA and ziglang, 1.4 GB, and a C++
               compiler
fake_cuda      PyTorch's fake CUDA tensors: the CPU build of PyTorch, 1.2 GB, and a C++ compiler

All steps take an hour on two cores. A step that was interrupted continues where it stopped, unless a source has changed
since.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from importlib import import_module
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
STEPS = ("xla_cuda", "xla_tpu", "torch_xla_tpu", "xla_rocm", "cuda_sources", "fake_cuda")
SHARED = {"torch_xla_tpu": "xla_tpu"}
"""The steps that run in the environment of another one."""
SETTINGS = {
    "JAX_PLATFORMS": "cpu",
    "TF_CPP_MIN_LOG_LEVEL": "3",
    "JAX_SKIP_CUDA_CONSTRAINTS_CHECK": "1",
    "TPU_SKIP_MDS_QUERY": "1",
}
"""The settings of all processes, without which the plug-ins look for a device and report that there is none."""


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.compile_devices",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--only", choices=STEPS, action="append", help="only this step; it may be given several times")
    parser.add_argument("--cases", default="", metavar="TEXT", help="only the cases whose name contains this text")
    parser.add_argument("--fresh", action="store_true", help="compile again what an earlier run has compiled")
    parser.add_argument("--workers", type=int, default=2, help="the number of processes (default: %(default)s)")
    parser.add_argument("--seconds", type=float, default=300.0, help="the time limit of a case (default: %(default)g)")
    parser.add_argument("--here", action="store_true", help="run the steps in this environment")
    return parser.parse_args()


def _run_in_environment(step: str, arguments: list[str]) -> int:
    """Run a step by this module in the environment of the step, which is made if necessary."""
    name = SHARED.get(step, step).replace("_", "-")
    folder = ROOT / f".venv-compile-{name}"
    made = subprocess.run([sys.executable, ROOT / "tools/environment.py", folder, f"compile-{name}"], check=False)
    command = [folder / "bin/python", "-m", "benchmarks.compile_devices", *arguments, "--only", step, "--here"]
    return made.returncode or subprocess.run(command, cwd=ROOT, check=False).returncode


def _without_steps(words: list[str]) -> list[str]:
    """The words of the command line without the choice of steps."""
    return [w for k, w in enumerate(words) if not w.startswith("--only") and words[k - 1 : k] != ["--only"]]


def main() -> int:
    """Run the steps; 1 if one of them found a failure."""
    arguments = _arguments()
    os.environ |= SETTINGS
    status = 0
    for step in arguments.only or STEPS:
        if not arguments.here:
            status |= _run_in_environment(step, _without_steps(sys.argv[1:]))
            continue
        found = import_module(f"benchmarks.compile_devices.{step}").main(arguments)
        print(f"{step}: {', '.join(f'{count} {state}' for state, count in found['counts'].items())}")
        status |= bool(found["counts"].get("failed"))
    return min(status, 1)


if __name__ == "__main__":
    sys.exit(main())
