"""The script that runs public packages before and after they are rewritten, on a package made here."""

import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

PATH = Path(__file__).parents[3] / "benchmarks" / "port_packages.py"
MODULE = """
import numpy as np

def doubled(x):
    \"\"\"Twice the values.

    >>> float(np.sum(doubled(np.ones(3))))
    6.0
    \"\"\"
    y = np.zeros(3)
    y[:] = x
    y *= 2
    return y
"""
TESTS = """
from mine.module import doubled

def test_doubled():
    assert doubled([1, 2, 3]).tolist() == [2, 4, 6]

def test_that_fails():
    assert doubled([1, 2, 3]).tolist() == [0]
"""


@pytest.fixture
def script(monkeypatch):
    spec = spec_from_file_location("port_packages", PATH)
    module = module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "port_packages", module)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def package(tmp_path):
    folder = tmp_path / "mine"
    (folder / "tests").mkdir(parents=True)
    (folder / "__init__.py").touch()
    (folder / "module.py").write_text(MODULE)
    (folder / "tests" / "test_module.py").write_text(TESTS)
    return folder


def test_a_package_that_stays_right_loses_no_test(script, package, tmp_path):
    described = script.Package("mine", "mine", "mine", options=("--doctest-modules",))
    row = script.run(described, package, Path("mine"), tmp_path / "work", Path(sys.executable), given=True)
    assert (row.files, row.before, row.lost, row.given) == (1, 2, [], True)
    assert (row.edits, row.todos) == (3, 0)
    assert "xarrayops" in (tmp_path / "work" / "copies" / "mine" / "after" / "mine" / "module.py").read_text()
    assert (package / "module.py").read_text() == MODULE


def test_a_lost_test_is_found(script, package, tmp_path, monkeypatch):
    def broken(modules, out):
        (out / "module.py").write_text(MODULE.replace("y *= 2", "y *= 3"))
        return 1, 1, 1, 0

    monkeypatch.setattr(script, "rewritten", broken)
    described = script.Package("mine", "mine", "mine", options=("--doctest-modules",))
    row = script.run(described, package, Path("mine"), tmp_path / "work", Path(sys.executable))
    assert sorted(name.rpartition("::")[2] for name in row.lost) == ["mine.module.doubled", "test_doubled"]
