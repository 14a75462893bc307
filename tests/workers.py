"""Processes that run a module of the tests and print what differs, by default with eight devices of JAX."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
FLAGS = (
    "--xla_force_host_platform_device_count=8",
    # On a busy machine the threads of one collective operation start far apart, and XLA would abort.
    "--xla_cpu_collective_call_warn_stuck_timeout_seconds=120",
    "--xla_cpu_collective_call_terminate_timeout_seconds=600",
)
DEVICES = {"JAX_PLATFORMS": "cpu", "XLA_FLAGS": " ".join(FLAGS)}


def started(module: str, *arguments: Any, **environment: str) -> subprocess.Popen[str]:
    path = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
    command = [sys.executable, "-m", f"tests.{module}", *map(str, arguments)]
    environment = {**os.environ, "PYTHONPATH": path, **environment}
    return subprocess.Popen(
        command, cwd=ROOT, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )


def faults_of(worker: subprocess.Popen[str], least: int, seconds: float) -> list[Any]:
    """The faults that a worker prints, after at least that many calls."""
    try:
        out, err = worker.communicate(timeout=seconds)
    finally:
        worker.kill()
    assert worker.returncode == 0, out + err
    found = json.loads(out.splitlines()[-1])
    assert found["count"] >= least
    return list(found["faults"])
