"""Lists as indices: JAX refuses them, so that they are taken by xo.at or have a note."""

import numpy as np
import pytest

X = np.arange(12.0).reshape(4, 3)
RIGHT = {
    "a variable": "rows = []\n    for i in range(3): rows.append(i)\n    return x[rows]",
    "a comprehension": "return x[[i for i in range(3) if i != 1]]",
    "a range": "return x[range(2)]",
    "a sorted list": "return x[sorted([2, 0])]",
    "the list of an array": "rows = np.arange(2).tolist()\n    return x[rows]",
    "members of a list": "groups = [[] for _ in range(2)]\n    for i in range(4): groups[i % 2].append(i)\n"
    "    return [x[rows].sum(axis=0) for rows in groups]",
    "members of a dict": "groups = {0: [], 1: []}\n    for i in range(4): groups[i % 2].append(i)\n"
    "    return [np.mean(x[rows], axis=0) for key, rows in groups.items()]",
}
NOTED = {
    "a view or a copy": "rows = [0, 1] if n else 1\n    if n: rows = [0, 2]\n    y = x[rows]\n    return y",
    "a parameter": "groups = [[0, 1], [2]]\n    return g(groups, x)\n"
    "def g(groups, y):\n    for k, rows in enumerate(groups):\n        z = np.sum(y[rows])\n    return z",
}


@pytest.mark.parametrize("body", RIGHT.values(), ids=RIGHT)
def test_xo_at_takes_lists(checked, body):
    checked(f"import numpy as np\ndef f(x):\n    x = np.asarray(x)\n    {body}\n", X, has="xo.at(x)[")


@pytest.mark.parametrize("body", NOTED.values(), ids=NOTED)
def test_what_may_be_a_list_has_a_note(checked, body):
    source = f"import numpy as np\ndef f(x, n):\n    x = np.asarray(x)\n    {body}\n"
    checked(source, X, 1, todo="takes no lists", runs=("numpy", "torch"))


@pytest.mark.parametrize(
    "body",
    [
        "rows = (0, 1)\n    return x[rows]",
        "for i in range(2): y = x[i]\n    return y",
        "for i in order: y = x[i]\n    return y",
        "columns = {'a': x}\n    return columns['a']",
    ],
)
def test_other_indices_stay(checked, body):
    checked(f"import numpy as np\ndef f(x, order):\n    x = np.asarray(x)\n    {body}\n", X, [0, 1], lacks="xo.at")
