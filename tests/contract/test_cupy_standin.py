"""The contract suite with the stand-in for CuPy, in a separate process: tests CuPy's backend without a GPU."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

VISIBLE = ("CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "JAX_PLATFORMS")
PRINT_DEVICES = """
import json, os
import cupy
found = {name: os.environ.get(name) for name in VISIBLE}
found["cupy"] = cupy.__version__
try:
    import torch
    found["torch"] = torch.cuda.device_count()
except ImportError:
    pass
try:
    import jax
    found["jax"] = sorted({device.platform for device in jax.devices()})
except ImportError:
    pass
print(json.dumps(found))
"""


def test_contract_suite_on_the_stand_in(standin_environment: dict[str, str], real_cupy: bool) -> None:
    if real_cupy:
        pytest.skip("the real CuPy has a device: the suite runs on it in this process")
    suite = str(Path(__file__).with_name("test_contract.py"))
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-k", "cupy", "--tb=short", suite]
    done = subprocess.run(command, env=standin_environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]


def test_refusals_and_products(cupy_environment: dict[str, str]) -> None:
    """These run with the real CuPy if it has a device, so that the stand-in and CuPy refuse the same calls."""
    suite = str(Path(__file__).parents[1] / "standins" / "cupy_dense_suite.py")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--tb=short", suite]
    done = subprocess.run(command, env=cupy_environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]


def test_the_stand_in_defines_only_names_of_cupy(standin_environment: dict[str, str]) -> None:
    """All its names are in the file that tools/cupy_signatures.py generated from the real CuPy."""
    code = "import cupy, cupyx.scipy.sparse; s = cupy._signatures; print(sorted(s.DEFINED - s.SIGNATURES.keys()))"
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, env=standin_environment, capture_output=True, text=True, check=False)
    assert done.stdout == "[]\n", done.stdout + done.stderr


def test_libraries_beside_the_stand_in_see_no_real_device(
    monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    """This holds also if the parent process sees devices."""
    for name, value in zip(VISIBLE, ("0,1", "0", "cuda,cpu"), strict=True):
        monkeypatch.setenv(name, value)
    environment = request.getfixturevalue("standin_environment")
    command = [sys.executable, "-c", f"VISIBLE = {VISIBLE}\n{PRINT_DEVICES}"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert {name: found.pop(name) for name in VISIBLE} == dict(zip(VISIBLE, ("", "", "cpu"), strict=True))
    assert found.pop("cupy").endswith("standin")
    assert found.pop("torch", 0) == 0
    assert found.pop("jax", ["cpu"]) == ["cpu"]


@pytest.mark.parametrize("name", VISIBLE)
def test_the_stand_in_cannot_be_imported_if_real_devices_are_visible(
    name: str, standin_environment: dict[str, str]
) -> None:
    without = {key: value for key, value in standin_environment.items() if key != name}
    for environment in (without, without | {name: "0"}):
        command = [sys.executable, "-c", "import cupy"]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 1
        assert f"ImportError: the stand-in CuPy needs {name}=" in done.stderr
