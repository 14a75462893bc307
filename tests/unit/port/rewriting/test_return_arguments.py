"""``--return-arguments``: functions return the arrays that they write, and their callers take them."""

import numpy as np
import pytest

from xarrayops.port import rewrite
from xarrayops.port.__main__ import main

X = np.arange(12.0).reshape(3, 4)
IN_PLACE = ("numpy", "torch")

WRITES = {
    "elements": ("y[0, 1:] = 1", "y = xo.at(y)[0, 1:].assign(1)"),
    "augmented elements": ("y[1:, 0] += x[1:, 0]", "y = xo.at(y)[1:, 0].assign(y[1:, 0] + x[1:, 0])"),
    "all elements": ("y[:] = x * 2 + y.mean()", "y = xo.at(y)[:].assign("),
    "an operator": ("y -= x.T.T", "y = xo.at(y)[...].assign(y[...] - "),
    "a mask": ("y[y.clip(0, 9) > 3] = 0", "y = xo.at(y)[np.clip(y, 0, 9) > 3].assign(0)"),
    "out": ("np.add(x, y.max(), out=y)", "y = xo.at(y)[...].set(np.add(x, np.max(y)), copy=None)"),
    "copyto": ("np.copyto(y, x + y.size)", "y = xo.at(y)[...].set("),
    "fill": ("y.fill(y.shape[0])", "y = xo.at(y)[...].assign("),
    "sort": ("y.sort(axis=y.ndim - 2)", "y = xo.at(y)[...].set(np.sort("),
    "fill_diagonal": ("np.fill_diagonal(y, y.sum())", "y = xo.at(y)[...].set(xo.fill_diagonal("),
    "a loop": ("for i in range(3):\n        y[i, :2] = x[i, 2:]", "y = xo.at(y)[i, :2].assign("),
    "a choice": ("if x[0, 0] > 1:\n        y[0] = y.size", "y = xo.at(y)[0].assign("),
}


@pytest.mark.parametrize("name", WRITES)
def test_a_function_returns_what_it_writes(name, checked):
    """On every library the caller gets the arrays that NumPy leaves in its arguments."""
    line, written = WRITES[name]
    source = f"import numpy as np\ndef f(x, y):\n    x.shape, y.shape\n    {line}\n"
    checked(source, X, X + 1.0, todo="callers in other files", has=(written, "    return y\n"), return_arguments=True)


RETURNS = {
    "a value": ("    y[0, 1:] = 1\n    return x.sum()\n", "    return np.sum(x), y\n"),
    "a tuple": ("    y[0, 1:] = 1\n    return x.sum(), x.max()\n", "    return (np.sum(x), np.max(x)), y\n"),
    "nothing, early": (
        "    if x.size == 3:\n        return\n    y[0, 1:] = 1\n",
        "        return y\n    y = xo.at(y)[0, 1:].assign(1)\n    return y\n",
    ),
    "a value or nothing": (
        "    y[0, 1:] = 1\n    if x.size == 12:\n        return 3\n",
        "        return 3, y\n    return None, y\n",
    ),
    "on one line": (
        "    y[0, 1:] = 1\n    if x.size == 3: return 3\n    return 4\n",
        "if np.size(x) == 3: return 3, y\n",
    ),
    "the argument": ("    y[0, 1:] = 1\n    return y\n", "def f(x, y):\n"),
    "both": ("    y[0, 1:] = 1\n    x[:, 0] = 2\n", "    return x, y\n"),
    "an annotation": ("    y[0, 1:] = 1\n", "def f(x, y):\n"),
}


@pytest.mark.parametrize("name", RETURNS)
def test_what_a_function_returned_before_stays(name, checked):
    body, has = RETURNS[name]
    arrow = " -> None" if name == "an annotation" else ""
    source = f"import numpy as np\ndef f(x, y){arrow}:\n    x.shape, y.shape\n{body}"
    checked(source, X, X + 1.0, todo="callers in other files", has=has, return_arguments=True)


CALLERS = {
    "a statement": (
        "def _fill(b, x):\n    b[1:] = x[1:] * 2\n",
        "b = np.zeros_like(x[:, :])\n    _fill(b, x)\n    return b",
        "    b = _fill(b, x)\n",
    ),
    "keywords": (
        "def _fill(x, b=None):\n    b[1:] = x[1:] * 2\n",
        "b = np.zeros_like(x[:, :])\n    _fill(b=b, x=x)\n    return b",
        "    b = _fill(b=b, x=x)\n",
    ),
    "a value": (
        "def _fill(b, x):\n    b[1:] = x[1:] * 2\n    return x.sum()\n",
        "b = np.zeros_like(x[:, :])\n    total = _fill(b, x)\n    return b, total",
        "    total, b = _fill(b, x)\n",
    ),
    "an unused value": (
        "def _fill(b, x):\n    b[1:] = x[1:] * 2\n    return x.sum()\n",
        "b = np.zeros_like(x[:, :])\n    _fill(b, x)\n    return b",
        "    _, b = _fill(b, x)\n",
    ),
    "a tuple": (
        "def _fill(b, x):\n    b[1:] = x[1:] * 2\n    return x.sum(), x.max()\n",
        "b = np.zeros_like(x[:, :])\n    s, m = _fill(b, x)\n    return b, s, m",
        "    (s, m), b = _fill(b, x)\n",
    ),
    "a returned call": (
        "def _fill(b, x):\n    b[1:] = x[1:] * 2\n    return x.sum()\n",
        "b = np.zeros_like(x[:, :])\n    return _fill(b, x)",
        "    value, b = _fill(b, x)\n    return value\n",
    ),
    "the argument itself": (
        "def _fill(b, x):\n    b[1:] = x[1:] * 2\n    return b\n",
        "b = np.zeros_like(x[:, :])\n    c = _fill(b, x)\n    _fill(b, x + 1)\n    b = _fill(b, x + 2)\n    return b",
        ("    c = b = _fill(b, x)\n", "    b = _fill(b, x + 1)\n", "    b = _fill(b, x + 2)\n"),
    ),
    "a chain": (
        "def _fill(b, x):\n    b[1:] = x[1:] * 2\ndef _both(b, x):\n    _fill(b, x)\n    b[0] += 1\n",
        "b = np.zeros_like(x[:, :])\n    for i in range(2):\n        _both(b, x + i)\n    return b",
        ("    b = _fill(b, x)\n", "        b = _both(b, x + i)\n"),
    ),
    "two arrays": (
        "def _swap(a, b):\n    c = np.copy(a)\n    a[:] = b * 1.0\n    b[:] = c\n",
        "a = np.zeros_like(x)\n    b = np.ones_like(x)\n    _swap(b, a)\n    return a, b",
        "    b, a = _swap(b, a)\n",
    ),
}


@pytest.mark.parametrize("name", CALLERS)
def test_the_callers_take_it(name, checked):
    """The file needs no more changes: a function with a leading underscore has no other callers."""
    functions, body, has = CALLERS[name]
    checked(f"import numpy as np\n{functions}def f(x):\n    x.shape\n    {body}\n", X, has=has, return_arguments=True)


FILL = "def fill(b, x):\n    b[1:] = x[1:] * 2\n"
KEPT = {
    "a value": (FILL, "g = fill\n    g(b, x)", "the function is a value here"),
    "a map": (FILL, "list(map(fill, [b], [x]))", "the function is a value here"),
    "an element": (FILL, "fill(b[:], x)", "the argument b of this call is not a variable"),
    "a part of an expression": (f"{FILL}    return 1\n", "c = fill(b, x) + 1", "a part of another expression"),
    "a view that is read later": (FILL, "v = b[1:]\n    fill(b, x)\n    b = b * v.sum()", "v may share its memory"),
    "the same array twice": (FILL, "fill(b, b[:])", "another argument may share its memory"),
    "a try statement around the call": (
        FILL,
        "try:\n        fill(b, x)\n    except ValueError:\n        pass",
        "inside a try statement",
    ),
    "unpacked arguments": (FILL, "fill(*[b, x])", "unpacks its arguments"),
    "a try statement": (
        "def fill(b, x):\n    try:\n        b[1:] = x[1:] * 2\n    finally:\n        pass\n",
        "fill(b, x)",
        "it has a try statement",
    ),
    "another name": (
        "def fill(b, x):\n    b[1:] = x[1:] * 2\n    b = b * 2\n",
        "fill(b, x)",
        "b is bound to something else",
    ),
    "a view that is written": (
        "def fill(b, x):\n    v = b[1:]\n    v[0] = x[1] * 2.0\n",
        "fill(b, x)",
        "v may share the memory of b",
    ),
    "a decorator": (f"import functools\n@functools.lru_cache\n{FILL}", "fill.__wrapped__(b, x)", "it has a decorator"),
    "an array of the module": (
        f"{FILL}STATE = np.ones((3, 4))\ndef step(x):\n    fill(STATE, x)\n",
        "fill(b, x)",
        "STATE belongs to the code around this function",
    ),
}


@pytest.mark.parametrize("name", KEPT)
def test_what_cannot_be_followed_stays(name, checked):
    """The function keeps its signature, libraries without writes raise, and a note says why."""
    functions, lines, problem = KEPT[name]
    start = f"import numpy as np\n{functions}def f(x):\n    x.shape\n    b = x[:, :] * 1.0\n"
    source = f"{start}    {lines}\n    return b + 0.0\n"
    checked(source, X, todo=problem, runs=IN_PLACE, lacks=("return b\n", "b = fill("), return_arguments=True)


def test_a_list_stays_a_list(checked):
    source = """
import numpy as np
def fill(b, v):
    b[0] = v
def f(x):
    b = [1, 2]
    fill(b, 3)
    return b, x.sum()
"""
    checked(source, X, todo="nothing proves that b is an array", has="    b[0] = v\n", return_arguments=True)


def test_a_dictionary_stays_a_dictionary(checked):
    source = """
import numpy as np
def note(memo, i, j):
    memo[i, j] = i * j
def f(x):
    memo = {}
    note(memo, 1, 2)
    return memo, x.sum()
"""
    checked(source, X, todo="nothing proves that memo is an array", has="    memo[i, j] = i * j", return_arguments=True)


def test_without_the_option_signatures_stay(tmp_path):
    path = tmp_path / "program.py"
    path.write_text(f"import numpy as np\n{FILL}")
    assert "    b[1:] = x[1:] * 2\n" in rewrite(path).text
    assert rewrite(path).returned == ()


def test_the_command(tmp_path, capsys):
    path = tmp_path / "program.py"
    path.write_text(f"import numpy as np\n{FILL.replace('fill', '_fill')}\ny = np.ones((3, 4))\n_fill(y, y + 1)\n")
    assert main(["rewrite", str(path), "--return-arguments", "--style", "xo"]) == 0
    shown = capsys.readouterr().out
    assert "y = _fill(y, y + 1)" in shown
    assert "    return b\n" in shown
