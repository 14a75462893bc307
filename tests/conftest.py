"""What all tests share: which parameters take long, and the environment of processes that have CuPy, GPU or not."""

from __future__ import annotations

import os
import re
from collections import Counter
from pathlib import Path

import pytest

import xarrayops as xo

# JAX takes three quarters of a GPU's memory otherwise, and the other processes of the tests fail.
os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")

FOLDER = Path(__file__).parent
STANDIN = FOLDER / "standins" / "cupy"
WITHOUT_DEVICES = {"CUDA_VISIBLE_DEVICES": "", "HIP_VISIBLE_DEVICES": "", "JAX_PLATFORMS": "cpu"}
"""The stand-in calls host memory device memory: a library that sees a real device would use these pointers there."""
ONE_IN = 8
"""Of the rows of the contract suite under a compiler, one in so many is in every run: at least one of every theme."""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark as long the parameters that ``long_except`` does not name, and most rows under a compiler, before ``-m``."""
    rows: Counter[tuple[str, str]] = Counter()
    for item in items:
        call = getattr(item, "callspec", None)
        compiled = call and call.params.get("variant")
        if getattr(compiled, "compiles", False):
            row = str(compiled), item.name.partition("[")[0]
            rows[row] += 1
            if rows[row] % ONE_IN != 1:
                item.add_marker(pytest.mark.long)
        for mark in item.iter_markers("long_except"):
            (quick,) = mark.args
            if not re.match(quick, call.id):
                item.add_marker(pytest.mark.long)


@pytest.fixture
def standin_environment() -> dict[str, str]:
    """The environment in which ``import cupy`` gives the stand-in, and no library sees a real device."""
    path = os.pathsep.join(filter(None, (str(STANDIN), os.environ.get("PYTHONPATH"))))
    return {**os.environ, **WITHOUT_DEVICES, "PYTHONPATH": path}


@pytest.fixture
def real_cupy() -> bool:
    """Whether the real CuPy is here and has a device, so that it is tested in place of the stand-in."""
    (status,) = (s for s in xo.backends() if s.name == "cupy")
    return bool(status.available and status.backend.devices() and "standin" not in status.backend.versions["cupy"])


@pytest.fixture
def cupy_environment(real_cupy: bool, standin_environment: dict[str, str]) -> dict[str, str]:
    """The environment of a process that needs CuPy: the real one where it has a device, else the stand-in."""
    return dict(os.environ) if real_cupy else standin_environment
