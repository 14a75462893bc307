"""What to port first: scripts, calls and folders are run on NumPy, and their functions are ranked by the model."""

import json

import pytest

from xarrayops.port.__main__ import main
from xarrayops.port.source import Program
from xarrayops.port.trace import functions, operations
from xarrayops.port.trace.model import Modelled, kernels_of
from xarrayops.port.trace.record import Operation
from xarrayops.port.trace.run import run

CORE = """import numpy as np
double = lambda x: 2 * x

def smooth(x):
    for _ in range(20):
        x = np.exp(-x) / (1 + x * x)
    return x


def total(x):
    s = 0.0
    for row in x:
        s += float(row.sum())
    return s
"""
SCRIPT = """import sys

import numpy as np
from package.core import smooth, total

if __name__ == "__main__":
    assert len(sys.argv) == 1
    x = np.linspace(0.0, 1.0, 1_000_000).reshape(-1, 1000)
    print(total(smooth(x)[:50]))
    sys.exit(0)
"""
CALL = "package.core:smooth(np.ones((1000, 1000)))"


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "project" / "package").mkdir(parents=True)
    for name, text in {"package/__init__.py": "", "package/core.py": CORE, "main.py": SCRIPT}.items():
        (tmp_path / "project" / name).write_text(text)
    return tmp_path / "project"


def runs(capsys, *command):
    assert main(["check", *map(str, command), "--for", "h100", "--format", "json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_functions_of_all_files_of_a_folder_are_ranked(folder, capsys):
    (found,) = runs(capsys, folder, "--run")["runs"]
    assert found["path"] == "main.py"
    assert found["port_first"][0] == "package/core.py: smooth (line 4)"
    verdicts = {each["name"]: each["verdict"] for each in found["models"]}
    assert verdicts["package/core.py: total (line 10)"] == "stays"
    assert "package/core.py: total (line 10)" not in found["port_first"]
    spent = sum(each["numpy_s"] for each in found["models"][1:])
    assert spent == pytest.approx(found["models"][0]["numpy_s"], rel=0.05), "each line belongs to one function"


def test_the_answer_in_the_terminal(folder, capsys):
    assert main(["check", str(folder), "--call", CALL, "--for", "h100"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert any(line.startswith("1. package/core.py: smooth (line 4): pays by ") for line in lines)
    assert any(line.startswith("Port first: package/core.py: smooth (line 4): ") for line in lines)
    assert main(["check", str(folder), "--call", "package.core:total(np.ones((9, 9)))", "--for", "h100"]) == 0
    assert "Port nothing to NVIDIA H100" in capsys.readouterr().out


def test_a_script_and_a_notebook(folder, tmp_path, capsys):
    found = runs(capsys, folder / "main.py", "--run")
    assert found["port_first"] == ["code outside of functions"]
    assert {each["line"] for each in found["run"]} == {8, 9}
    cells = [{"cell_type": "code", "source": text} for text in ("import numpy as np", "np.exp(np.ones((2000, 2000)))")]
    (tmp_path / "notes.ipynb").write_text(json.dumps({"nbformat": 4, "cells": cells}))
    assert runs(capsys, tmp_path / "notes.ipynb", "--run")["port_first"] == ["code outside of functions"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--run"], "--for h100 --run"),
        (["--for", "l4"], "--for h100 --run"),
        (["--for", "l4", "--call", "nothing:f(1)"], "--call 'module:f"),
        (["--for", "l4", "--call", "smooth(1)"], "--call 'module:f"),
    ],
)
def test_what_a_folder_needs(folder, options, message, capsys):
    assert main(["check", str(folder), *options]) == 2
    assert message in capsys.readouterr().err


def test_a_script_that_fails(tmp_path, capsys):
    path = tmp_path / "program.py"
    path.write_text("import sys\nimport numpy as np\nx = np.ones(3)\nsys.exit(3)\n")
    assert main(["check", str(path), "--run"]) == 2
    assert "line 4: the script raises SystemExit: 3" in capsys.readouterr().err


def test_the_certain_gain_comes_before_a_possible_one():
    def part(name, numpy_s, low_s, high_s):
        return Modelled("device", "", name, numpy_s, low_s, high_s, {})

    small, large, open_, stays = part("a", 2, 1, 1.5), part("b", 9, 1, 3), part("c", 99, 1, 100), part("d", 9, 10, 20)
    first = functions.port_first([part("all", 119, 13, 125), small, open_, stays, large])
    assert [each.name for each in first] == ["b", "a", "c"]


def test_each_run_of_a_call_draws_the_same_numbers(tmp_path):
    path = tmp_path / "program.py"
    path.write_text(
        "import random\nimport numpy as np\nDRAWN = []\n\n"
        "def f():\n    DRAWN.append((random.random(), float(np.random.rand())))\n    return np.ones(3), DRAWN\n\n"
        "def g():\n    f()\n    assert len({*DRAWN}) == 1\n    DRAWN.append(DRAWN[0])\n    print(len(DRAWN))\n"
    )
    trace = run(Program.read(path), "g()")
    assert trace.plain_s is not None, "the later runs drew other numbers"


def test_time_of_other_packages_without_arrays_counts(tmp_path):
    path = tmp_path / "program.py"
    path.write_text("import time\nimport numpy as np\n\ndef f(x):\n    time.sleep(0.2)\n    return x + 1\n")
    trace = run(Program.read(path), "f(np.ones(3))")
    assert trace.foreign_s + trace.python_s == pytest.approx(0.2, abs=0.1)
    assert not trace.foreign


PICKLES = """from __future__ import annotations
import pickle
import sys
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

@dataclass
class Box:
    most: ClassVar[int] = 3
    x: float

assert pickle.loads(pickle.dumps(Box(2.0))).x == 2.0
assert sys.modules["__main__"].Box is Box
print(np.ones(9).sum())
"""


def test_a_script_is_executed_in_its_module(tmp_path):
    """Pickled classes and annotations are looked up in the module of the name ``__main__``."""
    path = tmp_path / "program.py"
    path.write_text(PICKLES)
    assert run(Program.read(path), None).calls > 0


def test_a_script_that_raises_does_not_hide_the_others(folder, capsys):
    (folder / "broken.py").write_text("import numpy as np\nif __name__ == '__main__':\n    raise KeyError('no')\n")
    assert main(["check", str(folder), "--run", "--for", "H100"]) == 2
    printed = capsys.readouterr()
    assert "Port first: package/core.py: smooth" in printed.out
    assert "broken.py: " in printed.err
    assert "KeyError" in printed.err


@pytest.mark.parametrize(("others", "says"), [(0.5, True), (0.05, False), (None, False)])
def test_a_busy_machine_is_named(folder, monkeypatch, capsys, others, says):
    monkeypatch.setattr("xarrayops.port.trace.run.CpuContention.share", lambda self, workers: others)
    for command in ([folder, "--run"], [folder / "main.py", "--run"]):
        assert main(["check", *map(str, command), "--for", "h100"]) == 0
        assert ("other programs used 50% of the CPUs" in capsys.readouterr().out) is says
    assert bool(runs(capsys, folder, "--run")["runs"][0]["notes"]) is says


def test_decompositions_launch_kernels_for_each_row():
    """No device computes the singular values of 1000 rows in the time of one launch."""
    operation = Operation(1, operations.SINGULAR, 16 * 10**6, 10**9, 0, by_function=True, name="svd")
    assert kernels_of(operation) == pytest.approx(10_000, rel=1e-3)
