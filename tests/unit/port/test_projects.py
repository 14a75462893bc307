"""Whole folders and notebooks: what is rewritten, what stays, and what is refused so that nothing is lost."""

import json
import subprocess

import numpy as np
import pytest

from xarrayops.port import rewrite
from xarrayops.port.__main__ import main

PROGRAM = "import numpy as np\n\n\ndef spread(x: np.ndarray):\n    return x.std(axis=0)\n"
CELLS = [
    ("code", ["%matplotlib inline\n", "import numpy as np"]),
    ("markdown", "# numpy\n"),
    ("code", ["%%bash\n", "ls *\n", "\n", "  pwd"]),
    ("code", "files = !ls\nx = np.arange(6.0).reshape(2, 3)\nif True:\n    %time x.std(axis=0)\nnp.mean?"),
    ("code", ["y = np.zeros(3)\n", "y[0] = x.std()\n", "y"]),
]
OUTPUT = [{"output_type": "execute_result", "data": {"text/plain": ["é 1"]}, "metadata": {}, "execution_count": 7}]


def notebook(cells=CELLS):
    made = [
        {"cell_type": kind, "metadata": {"tags": [kind]}, "source": source}
        | ({"outputs": OUTPUT, "execution_count": 7} if kind == "code" else {})
        for kind, source in cells
    ]
    return {"cells": made, "metadata": {"kernelspec": {"name": "python3"}}, "nbformat": 4, "nbformat_minor": 5}


@pytest.fixture
def folder(tmp_path):
    made = tmp_path / "project"
    for name, text in {
        "package/__init__.py": "from package.core import spread\n",
        "package/core.py": PROGRAM,
        "package/old.py": "import numpy\nprint 'x'\n",
        "package/data.csv": "1,2\n",
        "tests/test_core.py": "import numpy as np\nfrom package.core import spread\n\nassert spread(np.ones(3)) == 0\n",
        "notes.ipynb": json.dumps(notebook(), indent=1, ensure_ascii=False),
        "environment/pyvenv.cfg": "",
        "environment/numpy.py": "import numpy\n",
        ".git/config": "",
    }.items():
        (made / name).parent.mkdir(parents=True, exist_ok=True)
        (made / name).write_text(text, encoding="utf-8")
    return made


def contents(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_folder_becomes_another_folder(folder, tmp_path, capsys):
    before = contents(folder)
    assert main(["rewrite", str(folder), "-o", str(tmp_path / "port")]) == 0
    printed = capsys.readouterr().out
    assert "2 files, " in printed
    assert "tests stay" in printed
    assert contents(folder) == before
    after = contents(tmp_path / "port")
    changed = {name for name in after if after[name] != before[name]}
    assert changed == {"package/core.py", "notes.ipynb"}
    assert set(before) - set(after) == {"environment/pyvenv.cfg", "environment/numpy.py", ".git/config"}
    assert after["package/core.py"].decode() == rewrite(folder / "package" / "core.py").text


def test_the_summary_of_check(folder, capsys):
    assert main(["check", str(folder)]) == 2, "a file cannot be read"
    rows = [line.split("│") for line in capsys.readouterr().out.splitlines() if line.startswith("│")]
    shown = {row[1].strip(): [cell.strip() for cell in row[2:-1]] for row in rows}
    assert shown["package/core.py"] == ["6", "1", "small fixes", "ready", "ready", "ready"]
    assert shown["package/old.py"][1] == "not read"
    assert "environment/numpy.py" not in shown
    assert main(["check", str(folder), "--format", "json"]) == 2
    files = json.loads(capsys.readouterr().out)["files"]
    assert [each["path"].rpartition("/")[2] for each in files if "error" in each] == ["old.py"]
    (folder / "package" / "old.py").unlink()
    assert main(["check", str(folder)]) == 0
    assert {each["path"].rpartition("/")[2] for each in files} == {"core.py", "old.py", "notes.ipynb", "test_core.py"}


def test_json_of_rewrite(folder, tmp_path, capsys):
    assert main(["rewrite", str(folder), "-o", str(tmp_path / "port"), "--format", "json"]) == 0
    found = {each["path"].rpartition("/")[2]: each for each in json.loads(capsys.readouterr().out)["files"]}
    assert [(each["line"], each["kind"]) for each in found["core.py"]["edits"]] == [(1, "import"), (5, "method")]
    assert "Python 2" in found["old.py"]["error"]


@pytest.mark.parametrize("out", ["project/port", "project", "full"])
def test_a_folder_is_never_written_over(folder, tmp_path, out, capsys):
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "file").touch()
    before = contents(tmp_path)
    assert main(["rewrite", str(folder), "-o", str(tmp_path / out)]) == 2
    assert "Instead: -o with a " in capsys.readouterr().err
    assert contents(tmp_path) == before


def test_in_place_needs_git_or_a_backup(folder, capsys):
    before = contents(folder)
    command = ["rewrite", str(folder), "--in-place"]
    assert main(command) == 2
    assert "Nothing was written" in capsys.readouterr().err
    assert contents(folder) == before
    assert main([*command, "--backup"]) == 0
    after = contents(folder)
    assert after["package/core.py.bak"] == before["package/core.py"]
    assert after["notes.ipynb.bak"] == before["notes.ipynb"]
    (folder / "package" / "core.py").write_bytes(before["package/core.py"])
    after = contents(folder)
    assert main([*command, "--backup"]) == 2
    assert "backups exist" in capsys.readouterr().err
    assert contents(folder) == after


def test_in_place_in_git(tmp_path, capsys):
    path, ignored = tmp_path / "program.py", tmp_path / "ignored.py"
    path.write_text(PROGRAM)
    ignored.write_text(PROGRAM)
    (tmp_path / ".gitignore").write_text("ignored.py\n")
    git = ["git", "-C", str(tmp_path), "-c", "user.name=a", "-c", "user.email=a@b"]
    for command in (["init", "-q"], ["add", "."], ["commit", "-qm", "all"]):
        subprocess.run([*git, *command], check=True)
    path.write_text(PROGRAM + "\n")
    for file in (path, ignored):
        before = file.read_bytes()
        assert main(["rewrite", str(file), "--in-place"]) == 2
        assert file.read_bytes() == before
    path.write_text(PROGRAM)
    assert main(["rewrite", str(path), "--in-place"]) == 0
    assert "np.std(x, axis=0)" in path.read_text()


def test_a_notebook_keeps_all_but_its_code(tmp_path, capsys):
    path, out = tmp_path / "notes.ipynb", tmp_path / "port.ipynb"
    path.write_text(json.dumps(notebook(), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    assert main(["rewrite", str(path), "-o", str(out)]) == 0
    new = json.loads(out.read_text(encoding="utf-8"))
    sources = [cell["source"] for cell in new["cells"]]
    assert sources[0] == ["%matplotlib inline\n", "import xarrayops as xo\n", "import xarrayops.numpy as np"]
    assert sources[1:3] == [CELLS[1][1], CELLS[2][1]]
    assert sources[3].startswith(
        "files = !ls\nx = np.reshape(np.arange(6.0), (2, 3))\nif True:\n    %time x.std(axis=0)"
    )
    assert sources[3].endswith("\nnp.mean?")
    assert any("xo.at(y)[0]" in line for line in sources[4])
    for cell, before in zip(new["cells"], notebook()["cells"], strict=True):
        assert {**cell, "source": ""} == {**before, "source": ""}
    assert {**new, "cells": 0} == {**notebook(), "cells": 0}
    assert out.read_text(encoding="utf-8").startswith('{\n "cells": [\n  {\n   "cell_type"')
    again = tmp_path / "again.ipynb"
    assert main(["rewrite", str(out), "-o", str(again)]) == 0
    assert again.read_bytes() == out.read_bytes()


def test_the_cells_of_a_rewritten_notebook_give_the_same_results(tmp_path):
    cells = [(kind, source) for kind, source in CELLS if "%" not in "".join(source) and "!" not in "".join(source)]
    cells.insert(0, ("code", "import numpy as np\nx = np.arange(6.0).reshape(2, 3)"))
    path = tmp_path / "notes.ipynb"
    path.write_text(json.dumps(notebook(cells)))
    found = []
    for content in (path.read_bytes(), rewrite(path).content()):
        variables = {}
        for cell in json.loads(content)["cells"]:
            if cell["cell_type"] == "code":
                exec("".join(cell["source"]), variables)
        found.append(variables["y"])
    np.testing.assert_array_equal(*found)
    assert found[0][0] > 1
