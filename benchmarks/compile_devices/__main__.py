"""``python -m benchmarks.compile_devices``: run all steps, or those of ``--only``, each in its own environment.

A step that was interrupted continues where it stopped, unless a source has changed since.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from importlib import import_module
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
STEPS = ("xla_cuda", "xla_tpu", "torch_xla_tpu", "xla_rocm", "cuda_sources", "fake_cuda")
SHARED = {"torch_xla_tpu": "xla_tpu"}
"""The steps that run in the environment of another one."""


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.compile_devices", description=__doc__)
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
