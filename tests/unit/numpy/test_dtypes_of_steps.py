"""Initial values, masks, outputs, offsets and lists keep NumPy's dtypes, also in a compiled function."""

import subprocess
import sys

import numpy
import pytest

import xarrayops.numpy as np
from tests.unit.numpy.conftest import LIBRARIES, as_numpy, with_64_bits
from xarrayops import convert

b, i, u, m = numpy.asarray([True, True, False]), numpy.asarray([1, 2]), numpy.ones(2, "uint8"), numpy.eye(3)
CALLS = """
np.sum(b, initial=2)
np.sum(b, initial=5, where=[True, False, True])
np.prod(b[:2], initial=3)
np.nansum(b, initial=2)
np.sum(i, initial=0.5)
np.sum(i, initial=0.5, dtype=float)
np.max(i, initial=2.7)
np.add.reduce(i, initial=0.5, dtype=float)
np.roll(m, 1.0)
np.roll(m, [1.5, -1], [0, 1])
np.tril(m, 1.0)
np.triu(m, -1.0)
np.tri(2, k=0.0)
np.rot90(m, 2.0)
""".strip().splitlines()
OUTPUTS = (
    "np.add(u, 1, out=out, where=numpy.asarray([True, False]))",
    "np.power(u, 2, out=out, where=[False, True])",
    "np.add.accumulate([1.5, 2.0], out=out)",
    "np.cumsum([1.5, 2.0], out=out)",
    "np.nancumprod([1.5, 2.0], out=out)",
    "np.add.reduceat([1.5, 2.0], [0, 1], out=out)",
)
COMPILED = (
    "np.add(x, [1.0, 2.0, 3.0])",
    "np.array([1.0, 2.0], like=x)",
    "np.take(x, [0, 1], axis=0)",
    "np.histogram(x, [0.0, 2, 6])[0]",
    "xo.quantile(x, [0.25, 0.5])",
    "xo.take(x, [0, 1], axis=0)",
)


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("call", CALLS)
def test_dtypes_of_steps(call, library):
    with with_64_bits(library):
        given = {name: convert(globals()[name], library, copy=True) for name in "bium"}
        found, want = as_numpy(eval(call, {**globals(), **given})), eval(call, {**globals(), "np": numpy})
    assert (found.dtype, found.tolist()) == (want.dtype, want.tolist())


@pytest.mark.parametrize("call", OUTPUTS)
def test_outputs_are_cast_as_by_numpy(call):
    outputs = [numpy.zeros(2, "uint8" if "(u" in call else "int64") for _ in range(2)]
    for module, out in zip((np, numpy), outputs, strict=True):
        eval(call, {**globals(), "np": module, "out": out})
    assert outputs[0].tolist() == outputs[1].tolist()


def test_float_power_computes_in_double_precision():
    torch = pytest.importorskip("torch")
    assert np.float_power(torch.ones(2, dtype=torch.bfloat16), 2).dtype is torch.float64


def test_lists_are_traced_at_the_first_call_of_a_process():
    """Each call runs in a fork of a process that has imported the modules and called nothing."""
    pytest.importorskip("torch")
    code = f"""
import os, sys, torch, torch._dynamo, xarrayops as xo, xarrayops.numpy as np
for call in {COMPILED!r}:
    if not (pid := os.fork()):
        x = torch.tensor([1.0, 2.0, 3.0])
        function = eval("lambda x: " + call)
        assert torch.equal(torch.compile(function, backend="eager", fullgraph=True)(x), function(x)), call
        os._exit(0)
    if os.waitpid(pid, 0)[1]:
        sys.exit(call)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert not done.returncode, done.stderr[-2000:]


def test_a_ufunc_is_compiled_once_whatever_others_were_called():
    torch = pytest.importorskip("torch")
    compiled, x = [], torch.ones(4)

    def count(graph, inputs):
        compiled.append(graph)
        return graph

    torch._dynamo.reset()
    function = torch.compile(lambda x: np.hypot(x, 1.5), backend=count, fullgraph=True)
    for other in (np.sin, np.cos, np.tan, np.logaddexp2, np.heaviside):
        function(x)
        other(*[numpy.ones(2, "float32")] * other.nin)
    function(x)
    assert len(compiled) == 1
