"""The command verify: two files, a call, the report and the exit status."""

import json
import subprocess
import sys

import pytest

from tests.unit.port.loaded_modules import process
from xarrayops.port.__main__ import main

ORIGINAL = """
import numpy as np
from helper import FACTOR

def scale(x, power=1):
    total = (x ** power).sum(axis=0)
    return x * FACTOR / total

def draw(n):
    return np.random.default_rng(0).normal(size=n)

def leave():
    raise SystemExit(3)

class Scaler:
    def __init__(self, factor):
        self.factor = factor

    def fit(self, x):
        self.mean = x.mean(axis=0)
        return self

    def transform(self, x):
        return (x - self.mean) * self.factor
"""
PORT = """
import xarrayops as xo
from helper import FACTOR

def scale(x, power=1):
    total = xo.sum(x ** power, axis=AXIS)
    return x * FACTOR / total

def draw(n):
    return xo.random.default_rng(0).normal(size=n)

def leave():
    pass

class Scaler:
    def __init__(self, factor):
        self.factor = factor

    def fit(self, x):
        self.mean = xo.mean(x, axis=AXIS)
        return self

    def transform(self, x):
        return (x - self.mean) * self.factor
"""


@pytest.fixture
def files(tmp_path):
    (tmp_path / "helper.py").write_text("FACTOR = 2.5\n")
    (tmp_path / "original.py").write_text(ORIGINAL)
    (tmp_path / "right.py").write_text(PORT.replace("AXIS", "0"))
    (tmp_path / "wrong.py").write_text(PORT.replace("AXIS", "1"))
    (tmp_path / "broken.py").write_text("def scale(:\n")
    return tmp_path


def verify(files, *arguments, port="right.py", call="scale(np.arange(1.0, 10.0).reshape(3, 3), power=2)"):
    return main(["verify", str(files / "original.py"), "--port", str(files / port), "--call", call, *arguments])


def test_a_right_port(files, capsys):
    assert verify(files, "--libraries", "numpy,array_api_strict") == 0
    assert "scale is the reference within rounding" in capsys.readouterr().out


def test_a_wrong_port_names_the_line(files, capsys):
    assert verify(files, "--libraries", "numpy", port="wrong.py") == 1
    printed = capsys.readouterr().out
    assert f"{files / 'wrong.py'}:6, in scale\n    total = xo.sum(x ** power, axis=1)" in printed
    assert "kind: axis or shape" in printed


def test_json(files, capsys):
    assert verify(files, "--libraries", "numpy", "--format", "json", "--no-replay", port="wrong.py") == 1
    report = json.loads(capsys.readouterr().out)
    assert (report["ok"], report["outcomes"][0]["status"]) == (False, "different")
    assert report["outcomes"][0]["divergence"] is None


def test_draws_are_handed_to_the_port(files, capsys):
    assert verify(files, "--libraries", "numpy", call="draw(5)") == 0


def test_the_original_alone(files, capsys):
    command = ["verify", str(files / "original.py"), "--call", "scale(np.ones((2, 2)))", "--libraries", "numpy"]
    assert main(command) == 0


def test_methods(files, capsys):
    call = "Scaler(factor=2.0).fit(np.arange(9.0).reshape(3, 3)).transform(np.ones((3, 3)))"
    assert verify(files, "--libraries", "numpy,array_api_strict", call=call) == 0
    printed = capsys.readouterr()
    assert "Scaler(...).fit(...).transform(...) is the reference" in printed.out
    assert printed.err.splitlines()[1:] == ["numpy ...", "array_api_strict ..."]
    assert verify(files, "--libraries", "numpy", call=call, port="wrong.py") == 1
    assert "in transform" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"call": "scale"}, "is not a call"),
        ({"call": "scale(("}, "is not Python"),
        ({"call": "missing(1)"}, "no function 'missing'"),
        ({"call": "Missing(1).fit(2)"}, "no function 'Missing'"),
        ({"call": "(lambda x: x)(2)"}, "is not a name"),
        ({"call": "Scaler(1).missing(2)"}, "no attribute 'missing'"),
        ({"call": "scale(undefined)"}, "NameError"),
        ({"call": "scale('text')"}, "original.py, line 6: TypeError"),
        ({"call": "leave()"}, "original.py, line 13: SystemExit: 3"),
        ({"port": "broken.py"}, "broken.py, line 1: invalid syntax"),
        ({"port": "absent.py"}, "absent.py cannot be read"),
        ({"port": "absent.txt"}, "not a Python file"),
    ],
)
def test_what_cannot_be_used(files, capsys, options, text):
    assert verify(files, "--libraries", "numpy", **options) == 2
    assert text in capsys.readouterr().err


def test_an_unknown_library(files, capsys):
    assert verify(files, "--libraries", "trch") == 2
    assert "cannot run on trch" in capsys.readouterr().err


@pytest.mark.parametrize("package", [False, True])
def test_a_port_of_several_modules_beside_an_original_with_modules_of_the_same_names(package, tmp_path, capsys):
    """Each file imports its own neighbour; a file of a package does so also in the call."""
    late = "from .scaling_of_test import FACTOR" if package else ""
    module = f"from {'.' * package}scaling_of_test import FACTOR\ndef scale(x):\n    {late}\n    return x * FACTOR\n"
    for folder, factor in (("original", 2.0), ("port", 3.0)):
        (tmp_path / folder).mkdir()
        if package:
            (tmp_path / folder / "__init__.py").touch()
        (tmp_path / folder / "scaling_of_test.py").write_text(f"FACTOR = {factor}\n")
        (tmp_path / folder / "scale_of_test.py").write_text(module)
    before = process(tmp_path)
    original, port = (str(tmp_path / folder / "scale_of_test.py") for folder in ("original", "port"))
    given = ["--call", "scale(np.ones(3))", "--libraries", "numpy", "--no-replay"]
    assert main(["verify", original, "--port", port, *given]) == 1
    assert "result: 3.0 where the reference has 2.0" in capsys.readouterr().out
    assert main(["verify", original, "--port", original, *given]) == 0
    assert process(tmp_path) == before


FIRST_LINE = """
import sys
from xarrayops.port import __main__ as command, comparing

def show(name):
    print(name, sorted({"numpy", "torch", "jax", "xarrayops.testing"} & sys.modules.keys()))
    sys.exit()

comparing._show_progress = show
command.main(["verify", "missing.py", "--call", "f(1)"])
"""


def test_the_first_line_comes_before_the_imports_of_libraries():
    ended = subprocess.run([sys.executable, "-c", FIRST_LINE], capture_output=True, text=True, check=True)
    assert ended.stdout == "the reference on NumPy []\n"
