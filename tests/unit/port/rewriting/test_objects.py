"""Code that must not change: objects that are not arrays, arrays of other functions, and files of any kind."""

import numpy as np
import pytest

from xarrayops.port import rewrite
from xarrayops.port.__main__ import main
from xarrayops.port.source import PortError

X = np.arange(12.0).reshape(3, 4)
PROGRAM = "import numpy as np\n\n\ndef f(x):\n    y = np.zeros_like(x)\n    y[0] = x[1]\n    return y\n"


@pytest.fixture
def text(tmp_path):
    def text(source):
        path = tmp_path / "program.py"
        path.write_text(source)
        new = rewrite(path)
        path.write_text(new.text)
        assert rewrite(path).text == new.text
        return new

    return text


UNCHANGED = [
    "def f(xp, x):\n    return xp.sum(x, axis=0) + xp.asarray([1.0]) * xp.std(x)\n",
    "class A:\n    def __init__(self, T):\n        self.T = T\n\n    def g(self):\n        return self.T, self.shape\n",
    "class B:\n    def mean(self):\n        return 3\n\n\ndef f(b):\n    return b.mean() + b.other\n",
    "def f(rows):\n    rows.append(1)\n    rows.sort()\n    return rows[0]\n",
    "def f(names, key):\n    names['a'] = 1\n    return {**names}\n",
    "text = 'np.zeros(3)'\nother = text.upper()\n",
    "",
    "# only a comment\n",
    "import os\n\nprint(os.getcwd())",
]


@pytest.mark.parametrize("source", UNCHANGED)
def test_programs_without_arrays_stay(source, text):
    new = text(source)
    assert [line for line in new.text.splitlines() if "TODO" not in line] == source.splitlines()
    assert not new.edits


def test_an_array_of_the_module(checked):
    source = """
import numpy as np
STATE = np.zeros(4)
def put(i, v):
    STATE[i] = v
def f(x):
    put(1, float(x[0, 1]))
    return STATE + 0.0
"""
    checked(source, X, todo="STATE belongs to the code around this function", runs=("numpy",))


def test_an_attribute(checked):
    source = """
import numpy as np
class Model:
    def __init__(self, x):
        self.w = np.zeros_like(x)
    def step(self, x):
        self.w[0] = x[0]
        self.w += 1
        return self.w
def f(x):
    model = Model(x)
    shown = model.w
    model.step(x)
    return shown + x[:, :]
"""
    checked(source, X, todo="self.w", runs=("numpy", "torch"))


def test_an_inner_function_writes(checked):
    source = """
import numpy as np
def f(x):
    y = x[:, :] + 0.0
    def put(i):
        y[i] = 1
    put(1)
    return y
"""
    checked(source, X, todo="y belongs to the code around this function", runs=("numpy", "torch"))


def test_a_function_that_calls_itself(checked):
    source = """
import numpy as np
def f(x, n=2):
    y = x[:, :] * 1.0
    y[0] = n
    return y if n == 0 else f(y, n - 1)
"""
    checked(source, X)


def test_a_function_that_writes_for_its_caller(checked):
    """The caller's array is its own, but the function that it calls writes in place."""
    source = """
import numpy as np
def fill(b, x):
    b[1:] = x[1:]
def f(x):
    b = np.zeros_like(x[:, :])
    fill(b, x)
    b[0] = 1
    return b
"""
    checked(source, X, todo="the caller passes b", runs=("numpy", "torch"))


def test_the_file_keeps_its_encoding_and_its_ends_of_lines(tmp_path):
    path = tmp_path / "latin.py"
    path.write_bytes(
        b"# -*- coding: latin-1 -*-\r\nimport numpy as np\r\nname = '\xe9'\r\ny = np.sqrt(2.0)  # \xfc\r\n"
    )
    assert main(["rewrite", str(path), "--in-place", "--backup"]) == 0
    wanted = (
        b"# -*- coding: latin-1 -*-\r\nimport xarrayops.numpy as np\r\nname = '\xe9'\r\ny = np.sqrt(2.0)  # \xfc\r\n"
    )
    assert path.read_bytes() == wanted
    assert main(["rewrite", str(path), "--in-place", "--backup"]) == 0
    assert path.read_bytes() == wanted


def test_a_byte_order_mark_stays(tmp_path):
    path = tmp_path / "bom.py"
    path.write_bytes(b"\xef\xbb\xbfimport numpy as np\nx = np.ones(3)\n")
    assert main(["rewrite", str(path), "--in-place", "--backup"]) == 0
    assert path.read_bytes() == b"\xef\xbb\xbfimport xarrayops.numpy as np\nx = np.ones(3)\n"


def test_the_difference(tmp_path, capsys):
    path = tmp_path / "program.py"
    path.write_text(PROGRAM)
    assert main(["rewrite", str(path), "--diff"]) == 0
    shown = capsys.readouterr().out
    assert "-    y[0] = x[1]\n+    y = xo.at(y)[0].assign(x[1])\n" in shown
    assert path.read_text() == PROGRAM


def test_the_output(tmp_path, capsys):
    path, out = tmp_path / "program.py", tmp_path / "port.py"
    path.write_text(PROGRAM.replace("y[0]", "x[0] = 3\n    y[0]"))
    assert main(["rewrite", str(path), "-o", str(out)]) == 0
    shown = capsys.readouterr().out
    assert "line 9: item assignment: nothing else refers to the array" in shown
    assert "line 7: TODO(port): x is written in place" in shown
    assert "2 edits, 1 place to decide" in shown
    assert path.read_text() != out.read_text()
    assert out.read_text() == rewrite(path).text


@pytest.mark.parametrize(
    ("name", "content", "problem"),
    [
        ("broken.py", "def f(:\n", "line 1"),
        ("old.py", "x = 1\nprint x\n", "line 2"),
    ],
)
def test_what_cannot_be_read(name, content, problem, tmp_path, capsys):
    path = tmp_path / name
    path.write_text(content)
    with pytest.raises(PortError, match=problem):
        rewrite(path)
    assert main(["rewrite", str(path)]) == 2
    assert problem in capsys.readouterr().err
    assert path.read_text() == content
