"""What all tests share: the environment of processes that have CuPy, with a GPU or without."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import xarrayops as xo

STANDIN = Path(__file__).parent / "standins" / "cupy"
WITHOUT_DEVICES = {"CUDA_VISIBLE_DEVICES": "", "HIP_VISIBLE_DEVICES": "", "JAX_PLATFORMS": "cpu"}
"""The stand-in calls host memory device memory: a library that sees a real device would use these pointers there."""


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
