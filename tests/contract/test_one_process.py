"""The contract holds in a process that has exported, also without success, compiled, or used a mode."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.contract.one_process_worker import ACTIONS

ROOT = Path(__file__).resolve().parents[2]


def run_contract(actions, step):
    """After the actions, one test in STEP, beginning with another one for each action."""
    for library in ("torch", "jax", "dask"):
        pytest.importorskip(library)
    start = [*ACTIONS].index(actions[0]) % step
    command = [sys.executable, "-m", "tests.contract.one_process_worker", *actions, str(start), str(step)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]


def test_a_sample_after_all_actions():
    run_contract([*ACTIONS], 400)


@pytest.mark.parametrize("action", ACTIONS)
def test_a_third_after_each_action(action):
    run_contract([action], 3)
