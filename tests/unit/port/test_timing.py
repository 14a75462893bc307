"""verify --time: both files in alternation, the lines of the port, and the change that matters most."""

import json

import pytest

import xarrayops as xo
from xarrayops.port import timing
from xarrayops.port.__main__ import main

ORIGINAL = """import numpy as np

def loop(x):
    return np.asarray((x ** 2).sum())

whole = loop
"""
PORT = """import xarrayops.numpy as np

def loop(x):
    s = np.sum(x) * 0
    for i in range(len(x)):
        s = s + np.sqrt(x[i] ** 4)
    return s

def whole(x):
    return np.sum(x * x)
"""
WAITS = """import xarrayops.numpy as np

def loop(x):
    s = 0.0
    for i in range(len(x)):
        s += float(x[i]) ** 2
    return np.asarray(s, like=x)
"""


@pytest.fixture
def timed(tmp_path, capsys):
    def run(port, name, library="numpy"):
        (tmp_path / "original.py").write_text(ORIGINAL)
        (tmp_path / "port.py").write_text(port)
        files = [str(tmp_path / "original.py"), "--port", str(tmp_path / "port.py")]
        options = ["--libraries", f"{library}:eager", "--time", "--format", "json"]
        assert main(["verify", *files, "--call", f"{name}(np.ones(200))", *options]) == 0
        (found,) = json.loads(capsys.readouterr().out)["times"]
        return found

    return run


def test_a_loop_is_named_with_its_line(timed):
    found = timed(PORT, "loop")
    assert found["change"].startswith("line 6 runs 200 times")
    line, share, runs, text, file = found["lines"][0]
    assert (line, runs, text, file) == (6, 200, "s = s + np.sqrt(x[i] ** 4)", "")
    assert share > 0.5
    assert found["port_s"] > found["original_s"] > 0


INNER = """import xarrayops.numpy as np

def loop(x):
    s = np.sum(x) * 0
    for i in range(len(x)):
        a = np.sqrt(x[i] ** 4)
        b = np.sqrt(x[i] ** 6)
        c = np.sqrt(x[i] ** 8)
        s = s + a + b - c
    return s
"""


def test_a_loop_in_a_function_of_another_module(timed, tmp_path):
    """No line takes much of the time alone."""
    (tmp_path / "inner_of_port.py").write_text(INNER)
    found = timed("from inner_of_port import loop as of_rows\n\ndef loop(x):\n    return of_rows(x)\n", "loop")
    assert {each[4] for each in found["lines"][:4]} == {"inner_of_port.py"}
    assert found["change"].startswith("inner_of_port.py, line ")
    assert "runs 200 times in a loop" in found["change"]
    assert sum(each[1] for each in found["lines"]) > 0.9


def test_whole_arrays_are_for_a_compiler(timed):
    assert timed(PORT, "whole")["change"].startswith("wrap whole in xo.jit")


def test_waits_are_named_with_their_line(timed):
    pytest.importorskip("torch")
    assert timed(WAITS, "loop", "torch")["change"].startswith(
        "Python waits for a value of the array at line 6 (200 times)"
    )


def test_a_library_that_cannot_take_the_arrays_is_not_timed(tmp_path, monkeypatch, capsys):
    (tmp_path / "program.py").write_text(PORT)
    side_by_side = timing.side_by_side

    def refusing(*args, library, **options):
        if library == "torch":
            raise xo.ExchangeError("no float64")
        return side_by_side(*args, library=library, **options)

    monkeypatch.setattr(timing, "side_by_side", refusing)
    command = ["verify", str(tmp_path / "program.py"), "--call", "whole(np.ones(200))", "--time", "--format", "json"]
    assert main([*command, "--libraries", "numpy:eager,torch:eager"]) == 0
    printed = capsys.readouterr()
    assert [each["library"] for each in json.loads(printed.out)["times"]] == ["numpy"]
    assert "torch is not timed: no float64" in printed.err
