"""Comments and edits stand at the lines of their statements, wherever these begin."""

import ast
import re

import numpy as np
import pytest

from xarrayops.port import PortError, __main__ as command_line, rewrite

PLACES = {
    "a decorated function": ("@cached\n@other\ndef f(a, b=np.load('b')):\n    return a\n", 0),
    "elif": ("if a:\n    b = 1\nelif np.load('b'):\n    b = 2\n", 2),
    "the line of else": ("if a:\n    b = 1\nelse: b = np.load('b')\n", 2),
    "the line of except": ("try:\n    b = 1\nexcept OSError: b = np.load('b')\n", 2),
    "one line": ("if a: b = np.load('b')\n", 0),
    "a second statement": ("a = 1; b = np.load('b')\n", 0),
    "a second statement on the next line": ("a = (1,\n    2); b = np.load('b')\n", None),
    "after a backslash": ("a = 1; \\\nb = np.load('b')\n", None),
    "in a block": ("def f(a):\n\tif a:\n\t\tb = np.load('b')\n\t\treturn b\n", 2),
    "non-ASCII text": ("ä = 'é'; b = np.load('é')\n", 0),
}
"""Programs, and the line before which the comment stands; None for statements that do not begin a line."""


@pytest.mark.parametrize("case", PLACES)
def test_comments_stand_before_the_line(case, tmp_path):
    program, line = PLACES[case]
    path = tmp_path / "program.py"
    path.write_text(f"import xarrayops.numpy as np\nimport numpy\n{program}", encoding="utf-8")
    text = rewrite(path).text
    ast.parse(text)
    before = program.replace("np.load", "numpy.load").split("\n")
    lines = text.split("\n")[2:]
    commented = [i for i, each in enumerate(lines) if each.lstrip().startswith("# TODO(port)")]
    assert [each for i, each in enumerate(lines) if i not in commented] in (before, program.split("\n"))
    assert commented == ([] if line is None else [line])
    assert all(
        lines[i][: -len(lines[i].lstrip())] == before[i][: len(before[i]) - len(before[i].lstrip())] for i in commented
    )


def test_edits_have_the_lines_of_the_original(tmp_path):
    """The second pass edits the sine, which the first pass moved by a line for the import and two for the chain."""
    path = tmp_path / "program.py"
    path.write_text(
        "import numpy as np\n\n\ndef f(x: np.ndarray):\n    a = x + 1.0\n    b = x + 2.0\n"
        "    a[1:] = b[:-1] = 0.0\n    return a + np.sin(b)\n"
    )
    result = rewrite(path, style="xo")
    assert "xo.sin(b)" in result.text.split("\n")[10]
    assert ("xo", 8) in {(edit.kind, edit.line) for edit in result.edits}


def test_only_edited_statements_are_parsed_with_libcst(tmp_path, monkeypatch):
    import libcst

    parsed = []
    parse = libcst.parse_module
    monkeypatch.setattr(libcst, "parse_module", lambda text: parsed.append(text) or parse(text))
    path = tmp_path / "program.py"
    path.write_text("import numpy as np\n\ndef f(x):\n    y = np.sin(x)\n    z = y.flatten()\n    return z + y\n")
    rewrite(path)
    assert not any("np.sin" in text for text in parsed)
    assert any("y.flatten" in text for text in parsed)


INNER = """
import numpy as np
def f(n):
    a = np.ones(n)
    for i in range(a.size):
        m = a > 0
        a[m] = np.exp(-a[m])
    if n > 5:
        return a.size
    elif n > 4:
        m = a > 0
        a[m] = np.exp(a[m])
    else: a[a > 0] = np.exp(a[a > 0])
    a[0] = 1 \\

    # path C:\\
    a[a > 2] = np.sin(a[a > 2])
    z = 2; \\
    y = a.size
    return a + y + z
f.x = 1 \\

"""


def test_notes_on_statements_inside_edited_ones_change_no_code(tmp_path):
    path = tmp_path / "program.py"
    path.write_text(INNER)
    new = rewrite(path)
    assert [line for line in new.text.split("\n") if line.strip().startswith("# TODO(port): jax.jit")]
    assert len(ast.parse(new.text).body[-2].body) == len(ast.parse(INNER).body[-2].body)
    path.write_text(new.text)
    assert rewrite(path).text == new.text
    original, port = {}, {}
    exec(INNER, original)
    exec(new.text, port)
    for n in (3, 5, 7):
        np.testing.assert_array_equal(port["f"](n), original["f"](n))


def test_what_libcst_cannot_parse_is_an_error_of_the_file(tmp_path):
    path = tmp_path / "program.py"
    path.write_text("import numpy as np\ndef f(x):\n        if x:\n\treturn x.flatten()\n")
    with pytest.raises(PortError, match=r"program\.py"):
        rewrite(path)


MOVED = """import numpy as np
import os
def f(x: np.ndarray, y):
    x[1:] = np.load("a")
    z = x.flatten()
    for v in z:
        x += v
    for v in y: pass
    def inner(): return (z
        .ravel())
    return z.std(), y.copy()
"""


@pytest.mark.parametrize("way", [["-o"], ["--in-place", "--backup"]])
def test_the_printed_lines_are_those_of_the_written_file(tmp_path, capsys, way):
    path = tmp_path / "program.py"
    path.write_text(MOVED)
    out = path if "--in-place" in way else tmp_path / "port.py"
    assert command_line.main(["rewrite", str(path), *way, *([str(out)] if out is not path else [])]) == 0
    shown, lines = capsys.readouterr().out.splitlines(), out.read_text().splitlines()
    found = [re.match(r"line (\d+): (.*)", each).groups() for each in shown[:-1] if each[:5] == "line "]
    todos = [(int(line), text) for line, text in found if text.startswith("TODO(port)")]
    assert len(todos) == out.read_text().count("# TODO(port)") > 2
    assert all(lines[line - 1].strip() == f"# {text}" for line, text in todos)
    edits = {text.partition(":")[0]: lines[int(line) - 1] for line, text in found if not text.startswith("TODO")}
    assert "import xarrayops.numpy as np" in edits["import"]
    assert "numpy.load" in edits["name"]
    assert "np.std" in edits["method"] or "np.ravel" in edits["method"]


def test_notes_name_no_line_of_the_text(tmp_path):
    path = tmp_path / "program.py"
    path.write_text(
        "import numpy as np\ndef f(n):\n    x = np.ones(n)\n    for v in x:\n        x += v\n    return x\n"
    )
    (note,) = (todo.problem for todo in rewrite(path).todos)
    assert "the loop for v in x" in note
