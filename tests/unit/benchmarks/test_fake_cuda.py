"""PyTorch's functions on fake CUDA tensors: dtypes, devices, waits and numbers of kernels, in a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from xarrayops._system import compiler

ROOT = Path(__file__).parents[3]
CODE = """
import json, torch
from benchmarks.compile_devices import fake_cuda
fake_cuda.prepare()
x = ((4, 4), "float32")
def judged(function, *specifications, waits=None, name=""):
    found = fake_cuda._watched(lambda: (function, fake_cuda._empty(specifications), {}))
    return fake_cuda._judged({"operation": name}, [found], waits=waits).get("reason", "")
faults = [
    judged(lambda x: x @ x, ((4, 4), "int64")),
    judged(lambda x: x + torch.ones(4, device="cpu"), x),
    judged(lambda x: torch.ones(4, device="cpu"), x),
    judged(lambda x: x.sum().item(), x),
    judged(lambda x: x, x, waits="a reason"),
    judged(lambda x: [x + 1 for _ in range(100)], x, name="topk"),
    judged(lambda x: x + 1, x),
]
records = [{**case, **fake_cuda.compiled(case, calls=2)} for case in fake_cuda.cases()]
print(json.dumps([faults, records]))
"""


@pytest.fixture(scope="module")
def found():
    pytest.importorskip("torch")
    if compiler.find(compiler.CPP) is None:
        pytest.skip("no C++ compiler")
    environment = {**os.environ, "CUDA_VISIBLE_DEVICES": "", "HIP_VISIBLE_DEVICES": ""}
    done = subprocess.run(
        [sys.executable, "-c", CODE], cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout.splitlines()[-1])


def test_calls_on_fake_cuda_tensors(found):
    """No dtype without a kernel, no mixed devices, no unlisted wait, and no more kernels than the file allows.

    Calls with such faults are found. All is one test, because workers would repeat the calls.
    """
    (*faults, right), records = found
    expected = ["no kernel for torch.int64", "cpu", "a result is on cpu", "waits", "does not wait", "needs 100 kernels"]
    assert [part in reason for part, reason in zip(expected, faults, strict=True)] == [True] * len(expected), faults
    assert not right
    assert len(records) > 300
    assert not [record for record in records if record["state"] == "failed"]
