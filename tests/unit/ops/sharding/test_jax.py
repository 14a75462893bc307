"""Shardings of JAX on eight devices, in a process of their own."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

FLAGS = (
    "--xla_force_host_platform_device_count=8",
    # On a busy machine the threads of one collective operation start far apart, and XLA would abort.
    "--xla_cpu_collective_call_warn_stuck_timeout_seconds=120",
    "--xla_cpu_collective_call_terminate_timeout_seconds=600",
)
CHECKS = ["sharding", "tracers", "stores", "refusals", "limits", "memory_of_a_device"]


@pytest.mark.parametrize("axes", ["auto", "explicit"])
def test_eight_devices(axes):
    pytest.importorskip("jax", exc_type=ImportError)
    worker = Path(__file__).with_name("jax_worker.py")
    environment = os.environ | {"JAX_PLATFORMS": "cpu", "XLA_FLAGS": " ".join(FLAGS)}
    done = subprocess.run([sys.executable, worker, axes], env=environment, capture_output=True, text=True)
    assert done.stdout.split() == CHECKS, done.stderr
