"""verify --run: scripts and notebooks are executed as a whole, and their variables are compared."""

import json
import sys

import pytest

from tests.unit.port.loaded_modules import process
from xarrayops.port.__main__ import main
from xarrayops.port.scripts import script

SCRIPT = """import sys
import numpy as np
from helper_of_script import FACTOR

def spread(x):
    return x.std(axis=AXIS) * FACTOR

if __name__ == "__main__":
    assert len(sys.argv) == 1
    x = np.random.default_rng(0).normal(size=(4, 4))
    found = {"spread": spread(x)}
    print(found)
"""


@pytest.fixture
def files(tmp_path):
    for name, axis, factor in (("original", 0, 2.0), ("right", 0, 2.0), ("wrong", 1, 2.0), ("other", 0, 3.0)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "program.py").write_text(SCRIPT.replace("AXIS", str(axis)))
        (tmp_path / name / "helper_of_script.py").write_text(f"FACTOR = {factor}\n")
    return tmp_path


@pytest.mark.parametrize(("port", "status"), [("right", 0), ("wrong", 1), ("other", 1)])
def test_scripts(files, port, status, capsys):
    command = ["verify", str(files / "original" / "program.py"), "--port", str(files / port / "program.py"), "--run"]
    assert main([*command, "--libraries", "numpy", "--no-replay", "--format", "json"]) == status
    assert json.loads(capsys.readouterr().out)["ok"] is (status == 0)


def test_a_rewritten_notebook(tmp_path, capsys):
    cells = ["%matplotlib inline\nimport numpy as np", "x = np.arange(6.0)\nx[0] = 7", "y = x.std(ddof=1)\nx.mean?"]
    content = {"nbformat": 4, "cells": [{"cell_type": "code", "source": cell} for cell in cells]}
    path, port = tmp_path / "notes.ipynb", tmp_path / "port.ipynb"
    path.write_text(json.dumps(content))
    assert main(["rewrite", str(path), "-o", str(port)]) == 0
    assert set(script(port)()) == {"x", "y"}
    command = ["verify", str(path), "--port", str(port), "--run", "--libraries", "numpy,torch:eager"]
    assert main(command) == 0
    port.write_text(port.read_text().replace("= x", "= 2 * x").replace("np.std(x", "np.std(2 * x"))
    assert main([*command, "--no-replay"]) == 1


def test_the_process_is_as_before_but_for_imported_packages(tmp_path):
    """A package that is removed from sys.modules would be imported twice, which torch and NumPy do not survive."""
    (tmp_path / "neighbour_of_script.py").touch()
    path = tmp_path / "program.py"
    path.write_text("import this, neighbour_of_script\n")
    sys.modules.pop("this", None)
    main_module, before = sys.modules["__main__"], process(tmp_path)
    script(path)()
    assert process(tmp_path) == before
    assert sys.modules["__main__"] is main_module
    assert "this" in sys.modules


def test_an_error_in_a_script_names_its_line(tmp_path, capsys):
    path = tmp_path / "program.py"
    path.write_text("x = 1\nraise ValueError('no')\n")
    assert main(["verify", str(path), "--run", "--libraries", "numpy"]) == 2
    assert "program.py, line 2: ValueError: no" in capsys.readouterr().err


@pytest.mark.parametrize(("port", "status"), [("right", 0), ("wrong", 1), ("absent", 2)])
def test_folders(files, port, status, capsys):
    command = ["verify", str(files / "original"), "--port", str(files / port), "--run", "--libraries", "numpy"]
    assert main([*command, "--no-replay"]) == status
    shown = capsys.readouterr()
    rows = [[cell.strip() for cell in line.split("│")[1:-1]] for line in shown.out.splitlines() if line[:1] == "│"]
    wanted = {0: [["program.py", "same", "numpy same"]], 1: [["program.py", "different", "numpy different"]], 2: []}
    assert rows == wanted[status]
    assert ("program.py: numpy: result['found']['spread']" in shown.out) == (status == 1)
    if status == 2:
        assert "--port FOLDER --run" in shown.err


def test_a_missing_file_of_a_port_is_an_error(files, capsys):
    (files / "right" / "program.py").unlink()
    command = ["verify", str(files / "original"), "--port", str(files / "right"), "--run", "--libraries", "numpy"]
    assert main([*command, "--format", "json"]) == 1
    report = json.loads(capsys.readouterr().out)
    assert "cannot be read" in report["files"][0]["error"]
