"""CuPy's arrays in the hands of PyTorch's kernels: on the stand-in CuPy, in a process of its own.

There, PyTorch says of its devices and memory what it says on a machine with a GPU, and arrays change hands by the
stand-in's own memory; every copy through the host raises.
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
from xarrayops.testing._attention_oracle import attention_oracle

torch_, cupy_ = xo.backend("torch"), xo.backend("cupy")
moved = []

def hand_over(x, memory, host):
    moved.append("in")
    return torch.from_numpy(x._a)

def give_back(x, memory, host):
    moved.append("out")
    out = cupy.empty(tuple(x.shape), dtype=str(x.dtype).partition(".")[2])
    out._a = x.numpy()
    return out

def cross(*args):
    raise AssertionError("through the host")

memory = torch_.functions["memory"]
vars(torch_)["_devices"] = (Device("cuda", "cuda:0", torch.device("cpu")),)
torch_.functions |= {
    "alias_refusal": lambda memory, forced: None,
    "alias": hand_over,
    "from_numpy": cross,
    "to_numpy": cross,
    "memory": lambda x: memory(x)._replace(device="cuda"),
    "queue": lambda x: Queue(cupy.cuda.Stream.null.ptr, bool, cross),  # in one stream nothing is kept or waited for
    "outlive": cross,
}
cupy_.functions |= {"alias": give_back, "from_numpy": cross, "to_numpy": cross}
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
    """With the engine its kernels serve, each array handed over once; without it, explain names the engine."""
    pytest.importorskip("torch", exc_type=ImportError)
    if real_cupy:
        pytest.skip("the real CuPy has a device: the contract suite runs on it")
    done = subprocess.run(
        [sys.executable, "-c", CODE], env=standin_environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]
    said = json.loads(done.stdout)
    assert said["without"][0] == "cupy:generic"
    assert (
        'torch:sdpa-flash can, without a copy, and is most likely quicker: with xo.engines("torch")'
        in said["without"][1]
    )
    assert (said["chosen"], said["copies"], said["classes"]) == ("torch:sdpa-flash", [[]], [True, True])
    assert said["moved"] == ["in", "in", "in", "out", "out"]
    assert said["error"] < 1e-5
