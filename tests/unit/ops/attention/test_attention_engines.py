"""CuPy arrays served by PyTorch's kernels: with the stand-in for CuPy, in a separate process.

There, PyTorch reports the devices and memory of a machine with a GPU, and arrays are exchanged by the memory of the
stand-in; every copy through the host raises.
"""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

CODE = """
import json
import cupy, numpy as np, torch, xarrayops as xo
from xarrayops.plugin import Device, Queue
from xarrayops.testing._suite.operations.attention_oracle import attention_oracle

torch_, cupy_ = xo.backend("torch"), xo.backend("cupy")
moved = []

def to_torch(x, memory, host):
    moved.append("in")
    return torch.from_numpy(x._a)

def to_cupy(x, memory, host):
    moved.append("out")
    out = cupy.empty(tuple(x.shape), dtype=str(x.dtype).partition(".")[2])
    out._a = x.numpy()
    return out

def through_host(*args):
    raise AssertionError("through the host")

memory = torch_.functions["memory"]
vars(torch_)["_devices"] = (Device("cuda", "cuda:0", torch.device("cpu")),)
torch_.functions |= {
    "alias_refusal": lambda memory, forced: None,
    "alias": to_torch,
    "from_numpy": through_host,
    "to_numpy": through_host,
    "memory": lambda x: memory(x)._replace(device="cuda"),
    "queue": lambda x: Queue(cupy.cuda.Stream.null.ptr, bool, through_host),  # one stream: nothing waits
    "outlive": through_host,
}
cupy_.functions |= {"alias": to_cupy, "from_numpy": through_host, "to_numpy": through_host}
host = [np.random.default_rng(n).standard_normal((1, h, 9, 8)).astype("float32") for n, h in enumerate((4, 2, 2))]
arrays = [cupy.asarray(x) for x in host]
without = xo.explain("attention", *arrays, causal=True)
with xo.engines("torch"):
    found = xo.explain("attention", *arrays, causal=True)
    moved.clear()
    out, lse = xo.attention(*arrays, causal=True, return_lse=True)
want = attention_oracle(*host, causal=True)
print(json.dumps({
    "without": [without.chosen, without.summary],
    "chosen": found.chosen,
    "copies": [c.copies for c in found.candidates if c.name == found.chosen],
    "classes": [isinstance(x, cupy.ndarray) for x in (out, lse)],
    "moved": moved,
    "error": max(float(abs(x.get() - y).max()) for x, y in zip((out, lse), want)),
}))
"""


def test_torch_serves_cupy_without_a_copy(standin_environment: dict[str, str], real_cupy: bool) -> None:
    """With the engine, its kernels serve, and each array is exchanged once; without it, explain names the engine."""
    pytest.importorskip("torch", exc_type=ImportError)
    if real_cupy:
        pytest.skip("the real CuPy has a device: the contract suite runs on it")
    done = subprocess.run(
        [sys.executable, "-c", CODE], env=standin_environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]
    result = json.loads(done.stdout)
    assert result["without"][0] == "cupy:generic"
    assert (
        'torch:sdpa-flash can, without a copy, and is probably faster: with xo.engines("torch")' in result["without"][1]
    )
    assert (result["chosen"], result["copies"], result["classes"]) == ("torch:sdpa-flash", [[]], [True, True])
    assert result["moved"] == ["in", "in", "in", "out", "out"]
    assert result["error"] < 1e-5
