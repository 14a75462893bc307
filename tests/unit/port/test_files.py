"""Reading programs: encodings, notebooks, and files that are not programs."""

import json

import pytest

from xarrayops.errors import XArrayOpsError
from xarrayops.port.source import PortError, read
from xarrayops.port.source.files import DEEPEST, LARGEST_BYTES


def write(folder, data, name="program.py"):
    path = folder / name
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return path


@pytest.mark.parametrize(
    "data",
    [
        "# -*- coding: latin-1 -*-\nname = 'Gauß'\n".encode("latin-1"),
        b"\xef\xbb\xbfname = 'Gau\xc3\x9f'\n",
        "name = 'Gauß'\n".encode(),
        "name = 'Gauß'\r\n".encode(),
        "# vim: set fileencoding=cp1252 :\nname = 'Gauß'\n".encode("cp1252"),
    ],
    ids=["latin-1", "byte order mark", "utf-8", "Windows lines", "cp1252"],
)
def test_encodings(data, tmp_path):
    source = read(write(tmp_path, data))
    found = {}
    exec(compile(source.tree, "program.py", "exec"), found)
    assert found["name"] == "Gauß"
    assert "\r" not in source.text
    assert source.lines == tuple(source.text.split("\n"))


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"x = 1\ny = '\xff'\n", r"line 2: byte 0xff is not valid in utf-8. Instead: declare"),
        (b"x = 1\ny = 2\0\n", r"line 2: a zero byte"),
        ("x = 1".encode("utf-16"), "UTF-16"),
        (b"# coding: no-such-encoding\n", "unknown encoding"),
        (b"x = 1\nfor i in range(3)\n    pass\n", r"line 2: expected ':': 'for i in range\(3\)'"),
        (b"print 'x'\n", r"line 1: Missing parentheses in call to 'print'"),
        (b"if x:\n\ty = 1\n        z = 2\n", "line 3: inconsistent use of tabs"),
        (b"x = (((\n", r"line 1: '\(' was never closed"),
        (b"x = " + b"-" * 5000 + b"1\n", "nested more than"),
        (b"x = " + b"(" * 500 + b"1" + b")" * 500 + b"\n", "too many nested parentheses"),
        (b"x = " + b" + ".join([b"1"] * (DEEPEST + 50)) + b"\n", f"nested more than {DEEPEST} levels"),
        (b"#" * (LARGEST_BYTES + 1), r"at most 4 MB are read. Instead: move the data"),
    ],
)
def test_hostile_files(data, message, tmp_path):
    with pytest.raises(PortError, match=message):
        read(write(tmp_path, data))


def test_missing_files(tmp_path):
    with pytest.raises(PortError, match="cannot be read: No such file"):
        read(tmp_path / "missing.py")
    with pytest.raises(PortError, match=r"is not a file\. Instead: name one"):
        read(tmp_path)
    assert issubclass(PortError, XArrayOpsError)
    assert issubclass(PortError, ValueError)


def test_an_empty_file(tmp_path):
    assert read(write(tmp_path, "")).tree.body == []


def test_reading_executes_nothing_and_warns_of_nothing(tmp_path):
    """An invalid escape is a warning of Python, and warnings are errors in these tests."""
    (tmp_path / "program.py").write_text("raise SystemExit('executed')\npattern = '\\d'\n")
    assert len(read(tmp_path / "program.py").tree.body) == 2


def notebook(*cells):
    return json.dumps({"nbformat": 4, "cells": [{"cell_type": kind, "source": text} for kind, text in cells]})


def test_notebooks(tmp_path):
    text = notebook(
        ("markdown", "# A title"),
        ("code", ["%matplotlib inline\n", "import numpy as np\n", "!pip install x\n", "x = np.ones(3)"]),
        ("code", "%%bash\nls -l"),
        ("code", "%%time\ny = (x\n     % 2)\n"),
        ("code", ""),
        ("code", "files = !ls\nx.sum?\nif True:\n    %time z = 1"),
    )
    source = read(write(tmp_path, text, "program.ipynb"))
    found = {}
    exec(compile(source.tree, "program", "exec"), found)
    assert found["y"].tolist() == [1, 1, 1]
    line = source.lines.index("y = (x") + 1
    assert source.place(line) == "cell 3, line 2"
    assert source.place(1) == "cell 1, line 1"


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"cells": 3}', '{"cells": [{}]}', "[" * 100_000])
def test_what_is_no_notebook(text, tmp_path):
    with pytest.raises(PortError, match=r"is not a notebook of format 4.*Instead"):
        read(write(tmp_path, text, "program.ipynb"))


def test_an_error_in_a_notebook_names_the_cell(tmp_path):
    text = notebook(("code", "x = 1\ny = 2"), ("code", "z = 3\nfor"))
    with pytest.raises(PortError, match="cell 2, line 2"):
        read(write(tmp_path, text, "program.ipynb"))


def test_columns_count_characters(tmp_path):
    source = read(write(tmp_path, "name = 'Gauß'; x = f(\n  1)\n"))
    call = source.tree.body[1].value
    assert source.column(call.lineno, call.col_offset) == source.lines[0].index("f(") + 1
    assert source.segment(call) == "f(1)"
    assert source.segment(source.tree.body[0]) == "name = 'Gauß'"
