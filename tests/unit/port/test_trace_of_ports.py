"""A program that was already ported is counted like the original: the calls of xarrayops and `xo.at`."""

from collections import Counter

import pytest

from xarrayops.port import rewrite
from xarrayops.port.source import Program
from xarrayops.port.trace.run import run

PROGRAM = """import numpy as np
from scipy import ndimage

def spectrum(x: np.ndarray):
    out = np.zeros((x.shape[0], 9))
    out[:, :5] = np.abs(np.fft.rfft(x[:, :8]))
    out[np.arange(3), 0] = 7.0
    out += np.exp(-np.linspace(0.0, 1.0, 9))
    return np.linalg.norm(out @ out.T, axis=0)

def smooth(x: np.ndarray):
    return ndimage.gaussian_filter(x, 1.0).std(axis=0)

def total(x: np.ndarray):
    return spectrum(x).sum() + np.sort(smooth(x)).max() * np.concatenate([x, x]).mean()
"""


def counts(path, call):
    trace = run(Program.read(path), call)
    return trace, Counter({(each.kind, each.name): count for each, count in trace.operations.items()})


@pytest.mark.parametrize("style", ["numpy", "xo"])
def test_the_operations_of_a_port_are_those_of_the_original(style, tmp_path):
    pytest.importorskip("scipy")
    original, port = tmp_path / "program.py", tmp_path / "port.py"
    original.write_text(PROGRAM)
    port.write_text(rewrite(original, style=style).text)
    assert "xo.at(out)" in port.read_text()
    assert "xo.on_host(" in port.read_text()
    call = "total(np.ones((40, 9)))"
    (trace, found), (traced, of_port) = counts(original, call), counts(port, call)
    kinds, of_port_kinds = (Counter(kind for kind, _ in each.elements()) for each in (found, of_port))
    assert of_port_kinds == kinds
    assert len(traced.foreign) == len(trace.foreign) == 1
    lines, of_port_lines = ({each.line for each in one.operations} for one in (trace, traced))
    assert len(of_port_lines) == len(lines) > 5, "each line has its own operations"


def test_calls_that_give_no_arrays_are_not_counted(tmp_path):
    path = tmp_path / "program.py"
    path.write_text(
        "import xarrayops as xo\nimport xarrayops.numpy as np\n\ndef f(x):\n    with xo.use('numpy'):\n"
        "        return np.add(x, xo.zeros_like(x)), xo.device(x), np.dtype('int8')\n"
    )
    trace, found = counts(path, "f(np.ones(3))")
    assert {name for _, name in found} == {"add", "zeros_like"}
    assert trace.counts is False, "the time is that of plain arrays"
