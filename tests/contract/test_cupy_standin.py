"""The contract suite on the stand-in CuPy, in a process of its own: CuPy's backend file without a GPU."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

VISIBLE = ("CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "JAX_PLATFORMS")
PLACES = """
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
    """On the real CuPy where it has a device: what the stand-in refuses, CuPy refuses."""
    suite = str(Path(__file__).parents[1] / "standins" / "cupy_dense_suite.py")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--tb=short", suite]
    done = subprocess.run(command, env=cupy_environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]


def test_the_stand_in_defines_nothing_that_cupy_lacks(standin_environment: dict[str, str]) -> None:
    """All its names are in the file that tools/cupy_signatures.py wrote with the real CuPy."""
    code = "import cupy, cupyx.scipy.sparse; s = cupy._signatures; print(sorted(s.DEFINED - s.SIGNATURES.keys()))"
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, env=standin_environment, capture_output=True, text=True, check=False)
    assert done.stdout == "[]\n", done.stdout + done.stderr


def test_the_stand_in_has_no_real_device_beside_it(
    monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    """Also where the process that starts it sees devices."""
    for name, value in zip(VISIBLE, ("0,1", "0", "cuda,cpu"), strict=True):
        monkeypatch.setenv(name, value)
    environment = request.getfixturevalue("standin_environment")
    command = [sys.executable, "-c", f"VISIBLE = {VISIBLE}\n{PLACES}"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert {name: found.pop(name) for name in VISIBLE} == dict(zip(VISIBLE, ("", "", "cpu"), strict=True))
    assert found.pop("cupy").endswith("standin")
    assert found.pop("torch", 0) == 0
    assert found.pop("jax", ["cpu"]) == ["cpu"]


@pytest.mark.parametrize("name", VISIBLE)
def test_the_stand_in_refuses_to_be_beside_real_devices(name: str, standin_environment: dict[str, str]) -> None:
    without = {key: value for key, value in standin_environment.items() if key != name}
    for environment in (without, without | {name: "0"}):
        command = [sys.executable, "-c", "import cupy"]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 1
        assert f"ImportError: the stand-in CuPy needs {name}=" in done.stderr
