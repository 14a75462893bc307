"""Writes that the caller or another name sees, and functions that write: ``out=``, ``sort``, ``copyto``."""

import numpy as np
import pytest

X = np.arange(12.0).reshape(3, 4)
IN_PLACE = ("numpy", "torch")
"""The libraries whose arrays can be written."""

NOTED = {
    "an argument": ("y[0] = 1", "the caller passes y"),
    "an argument, augmented": ("y[0] += 1", "the caller passes y"),
    "an argument as a whole": ("y[:] = x", "the caller passes y"),
    "an argument by an operator": ("y -= x", "the caller passes y"),
    "a view of an argument": ("z = y[1:]\n    z[0] = 5", "z may share the memory of y"),
    "a row of an argument": ("for row in y:\n        row[0] = 7", "row may share the memory of y"),
    "an argument that is reshaped": ("z = np.reshape(y, -1)\n    z[3] = 5", "z may share the memory of y"),
    "asarray of an argument": ("z = np.asarray(y)\n    z[0] = 5", "z may share the memory of y"),
    "a transposed argument": ("z = y.T\n    z[0] = 5", "z may share the memory of y"),
    "a part of a view": ("y[0][1:] = 3", "not a variable"),
    "either of two": ("z = y if x[0, 0] < 0 else x\n    z[0] = 5", "z may share the memory of"),
}


@pytest.mark.parametrize("name", NOTED)
def test_arrays_of_the_caller(name, checked):
    """The caller sees the change on libraries that can write; the others raise, and the note says so."""
    line, problem = NOTED[name]
    result = "y.sum()" if "operator" not in name else "None"
    source = f"import numpy as np\ndef f(x, y):\n    {line}\n    return x.shape, y.shape, {result}\n"
    checked(source, X, X + 1.0, todo=problem, runs=IN_PLACE)


SHARED = {
    "a view that is read later": ("v = y[1:]\n    y[1] = 5\n    return v + 0.0", "v may share its memory"),
    "a view of a view": ("v = y[1:]\n    w = v[:, 1:]\n    y[2] = 5\n    return w + 0.0", "w may share its memory"),
    "another name": ("v = y\n    y[1] = 5\n    return v + 0.0", "v may share its memory"),
    "a write through a view": ("v = y[1:]\n    v[0] = 5\n    return y + 0.0", "y may share its memory"),
    "a view in a loop": (
        "v = y[0]\n    for i in range(2):\n        y[0] = v + 1\n    return y + 0.0",
        "v may share its memory",
    ),
    "a list": ("kept = [y]\n    y[1] = 5\n    return kept[0] + 0.0", "kept may share its memory"),
    "an inner function": (
        "def inner():\n        return y\n    v = inner()\n    y[1] = 5\n    return v + 0.0",
        "an inner function uses y",
    ),
    "a function that hands it back": (
        "v = same(y)\n    y[1] = 5\n    return v + 0.0",
        "v may share its memory",
    ),
    "a function that keeps it": ("keep(y)\n    y[1] = 5\n    return KEPT[-1] + 0.0", "keeps it"),
    "a generator": ("it = steps(y)\n    next(it)\n    y[1] = 5\n    return next(it) + 0.0", "keeps it"),
    "an iterator": (
        "total = 0.0\n    for row in y:\n        y[2] = 5\n        total = total + row\n    return total",
        "share its memory",
    ),
    "swapped rows": ("y[0], y[1] = y[1] + 0.0, y[0] + 0.0\n    return y + 0.0", "one of several targets"),
}
HELPERS = """
import numpy as np
KEPT = []
def same(a):
    return a
def keep(a):
    KEPT.append(a)
def steps(a):
    yield 0
    yield a
"""


@pytest.mark.parametrize("name", SHARED)
def test_arrays_with_another_name(name, checked):
    """The other name shows the change on NumPy: so the write stays in place, and libraries without writes raise."""
    lines, problem = SHARED[name]
    checked(f"{HELPERS}def f(x):\n    y = x[:, :] * 2\n    {lines}\n", X, todo=problem, runs=IN_PLACE)


OUT = {
    "out by keyword": "np.add(x, 1, out=y)",
    "out by position": "np.multiply(y, x, y)",
    "out in a tuple": "np.exp(x, out=(y,))",
    "out of a reduction": "np.sum(x, axis=0, out=y[0])",
    "out of a function": "np.matmul(x, x.T, out=s)",
    "copyto": "np.copyto(y, x)",
    "fill": "y.fill(4.0)",
    "sort": "y.sort()",
    "sort along an axis": "y.sort(axis=0)",
    "fill_diagonal": "np.fill_diagonal(y, 9.0)",
    "maximum.at": "np.maximum.at(y, 1, 20.0)",
    "clip": "np.clip(x, 1, 4, out=y)",
}
VIEWS = ("out of a reduction",)


@pytest.mark.parametrize("name", OUT)
def test_functions_that_write(name, checked):
    start = "import numpy as np\ndef f(x):\n    y = 3 - x[:, :]\n    s = np.zeros((3, 3), like=x)\n"
    source = f"{start}    {OUT[name]}\n    return y, s\n"
    if name in VIEWS:
        checked(source, X, todo="not a variable", runs=IN_PLACE)
    else:
        checked(source, X)


@pytest.mark.parametrize("name", ["out by keyword", "copyto", "fill_diagonal", "maximum.at"])
def test_functions_that_write_into_arguments(name, checked):
    checked(f"import numpy as np\ndef f(x, y):\n    {OUT[name]}\n", X, X + 1, todo="the caller passes y", runs=IN_PLACE)
