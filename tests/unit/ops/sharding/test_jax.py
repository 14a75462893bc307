"""Shardings of JAX on eight devices, in a process of their own."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.workers import DEVICES

CHECKS = ["sharding", "tracers", "stores", "refusals", "limits", "memory_of_a_device"]


@pytest.mark.parametrize("axes", ["auto", "explicit"])
def test_eight_devices(axes):
    pytest.importorskip("jax", exc_type=ImportError)
    worker = Path(__file__).with_name("jax_worker.py")
    environment = os.environ | DEVICES
    done = subprocess.run([sys.executable, worker, axes], env=environment, capture_output=True, text=True)
    assert done.stdout.split() == CHECKS, done.stderr
