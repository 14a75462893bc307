"""The first call of a function in a process may be inside a compiled function: each case runs in a fork of a process.

The parent has imported the library and xarrayops, and loaded no backend.
"""

from __future__ import annotations

import json
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent
FIRST = runpy.run_path(str(FOLDER / "first_calls.py"))
VALUES = runpy.run_path(str(FOLDER.parent / "numpy" / "conftest.py"))["VALUES"]
OF_XARRAYOPS = {name: (real, None) for name, real in FIRST["VARIABLES"].items()}
OF_NUMPY = {name: (x.real.tolist(), x.imag.tolist() if name == "z" else None) for name, x in VALUES.items()}
CALLS = (
    *("xo.convert(x, LIBRARY)", "xo.conv1d(x[None, None], x[None, None, :2])", "xo.attention(t, t, t)"),
    *("xo.softmax(x)", "xo.kaiser(8, 1.0, like=x)", "np.sqrt(x)", "np.clip(x, 0, 3)", "np.interp(x, x, x)"),
)
_MEMORY = "the arrays of a compiler have no memory to read"
_TRACED = "it describes the arrays, which are a compiler's inside"
_NEW = "it makes an array of NumPy, which PyTorch cannot combine with tensors: like= is needed"
DECLARED = {
    "torch": {
        "xo.as_strided(x, (2, 2), (1, 1))": _MEMORY,
        "xo.shares_memory(x, m)": _MEMORY,
        "np.frombuffer(bytes(16))": _MEMORY,
        "xo.is_lazy(x)": _TRACED,
        "xo.arange(8)": _NEW,
        "xo.asarray([1.0, 2.0])": _NEW,
    },
    "jax": {
        "xo.device(x)": _TRACED,
        "xo.is_lazy(x)": _TRACED,
    },
}
"""Calls that never work inside the compiler of a library, or give another result there, and why."""


def outcomes(library, variables, calls, *, is_broken=False):
    """What each call does if it is the first one, inside a compiled function, also with a graph break after it."""
    pytest.importorskip(library)
    given = json.dumps([library, variables, calls, is_broken])
    done = subprocess.run([sys.executable, "-c", FIRST["PROGRAM"], given], capture_output=True, text=True)
    found = {call: (outcome, error) for call, outcome, error in map(json.loads, done.stdout.splitlines())}
    assert found.keys() == {*calls}, done.stderr
    return found


def is_right(outcome, error):
    """Whether a call works, or raises an error of ours that says what to do instead. Dynamo shows it in its own."""
    is_ours = error.startswith(("Unsupported: xo.", "Unsupported: np.")) or "raised exception Unsupported('" in error
    return outcome == "right" or (is_ours and "Instead: " in error)


@pytest.mark.parametrize("library", ["torch", "jax"])
def test_some_functions(library):
    found = outcomes(library, OF_XARRAYOPS, CALLS)
    assert found == dict.fromkeys(CALLS, ("right", ""))


def test_dynamo_starts_over_after_a_graph_break():
    """The second trace, in which nothing is found for the first time, must be like the first one."""
    calls = (*CALLS, "xo.at(x)[0].add(1.0)", "xo.linalg.matmul(m, m.T)", "xo.on_host(list)([1.0])")
    assert outcomes("torch", OF_XARRAYOPS, calls, is_broken=True) == dict.fromkeys(calls, ("right", ""))
    calls = ("np.clip(f, -0.5, 0.5)", "np.asarray(f)", "np.float_power(i, 2)")
    assert outcomes("torch", OF_NUMPY, calls, is_broken=True) == dict.fromkeys(calls, ("right", ""))


def test_dynamo_starts_over_while_measurements_are_read(monkeypatch, tmp_path):
    """Measurements of the environment change tables when they are read, which must not happen between two traces."""
    monkeypatch.setenv("XARRAYOPS_MEASURED", "1")
    monkeypatch.setenv("XARRAYOPS_CACHE", str(tmp_path))
    calls = ("xo.softmax(x)", "xo.linalg.matmul(m, m.T)")
    assert outcomes("torch", OF_XARRAYOPS, calls, is_broken=True) == dict.fromkeys(calls, ("right", ""))


@pytest.mark.more_in_sweeps
@pytest.mark.parametrize("module", ["xarrayops", "numpy"])
@pytest.mark.parametrize(("library", "is_broken"), [("torch", False), ("torch", True), ("jax", False)])
def test_every_function(library, module, is_broken, sweeping):
    calls = list(dict.fromkeys(FIRST[f"calls_of_{module}"]()))
    assert len(calls) > 250
    calls = calls if sweeping else calls[:: len(calls) // 8]
    variables = OF_NUMPY if module == "numpy" else OF_XARRAYOPS
    found = outcomes(library, variables, calls, is_broken=is_broken)
    faults = {call: outcome for call, outcome in found.items() if not is_right(*outcome)}
    declared = {"xo.is_lazy(x)"} if is_broken else DECLARED[library].keys()  # the others run after a graph break
    declared = declared & set(calls)
    assert {call: faults[call] for call in faults.keys() - declared} == {}
    assert declared <= faults.keys(), "these work now"


def test_every_function_of_xarrayops_has_a_call():
    called = {call.partition("(")[0].removeprefix("xo.") for call in FIRST["calls_of_xarrayops"]()}
    assert {*FIRST["functions"](FIRST["xo"])} - called == FIRST["NOT_FOR_COMPILED_FUNCTIONS"].keys()
