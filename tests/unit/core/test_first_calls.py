"""The first call of a function in a process may be inside a compiled function: each case runs in a fork of a process.

The parent has imported the library and xarrayops, and loaded no backend.
"""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

CALLS = (
    *("xo.convert(x, 'torch')", "xo.conv1d(x[None, None], x[None, None, :2])", "xo.avg_pool1d(x[None, None], 2)"),
    *("xo.max_pool2d(m[None, None], 2)", "np.sqrt(x)", "np.clip(x, 0, 3)", "np.interp(x, x, x)", "xo.softmax(x)"),
)
PROGRAM = """
import json, os, sys
import torch, torch._dynamo
import xarrayops as xo, xarrayops.numpy as np

def outcome(call):
    x = torch.arange(1.0, 9.0)
    function = eval(f"lambda x, m: {call}", {"xo": xo, "np": np})
    try:
        found = torch.compile(function, fullgraph=True, backend="eager")(x, x.reshape(2, 4))
        return "" if torch.equal(found, function(x, x.reshape(2, 4))) else "another result"
    except Exception as error:
        return f"{type(error).__name__}: {error}"

for call in json.loads(sys.argv[1]):
    sys.stdout.flush()
    if os.fork() == 0:
        print(json.dumps([call, outcome(call)]), flush=True)
        os._exit(0)
    os.wait()
"""


def test_inside_torch_compile():
    pytest.importorskip("torch")
    done = subprocess.run([sys.executable, "-c", PROGRAM, json.dumps(CALLS)], capture_output=True, text=True)
    outcomes = dict(json.loads(line) for line in done.stdout.splitlines())
    assert outcomes == dict.fromkeys(CALLS, ""), done.stderr
