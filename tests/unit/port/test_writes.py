"""The places that change an array, and whether the change is visible elsewhere."""

import pytest

from xarrayops.port.source import Program
from xarrayops.port.source.files import parsed


def found(body):
    return list(Program(parsed("program.py", f"import numpy as np\n{body}\n")).writes)


@pytest.mark.parametrize(
    ("body", "kind", "name"),
    [
        ("x = np.zeros(3)\nx[0] = 1", "item", "x"),
        ("x = np.zeros(3)\nx[0] += 1", "augmented item", "x"),
        ("x = np.zeros(3)\nx += 1", "augmented", "x"),
        ("x = np.zeros(3)\nnp.add(x, 1, out=x)", "out", "x"),
        ("x = np.zeros(3)\nx.sum(out=x)", "out", "x"),
        ("x = np.zeros(3)\nnp.add(x, 1, x)", "out", "x"),
        ("x = np.zeros(3)\nnp.add(x, 1, out=(x,))", "out", "x"),
        ("x = np.zeros(3)\nnp.copyto(x, 1)", "function", "x"),
        ("x = np.zeros(3)\nnp.add.at(x, [0], 1)", "function", "x"),
        ("x = np.zeros(3)\nx.sort()", "method", "x"),
        ("x = np.zeros(3)\nx.shape = (3, 1)", "attribute", "x"),
        ("x = np.zeros(3)\nx[1:][0] = 1", "item", "x"),
        ("x = np.zeros(3)\nx[0], x[1] = 1, 2", "item", "x"),
        ("x = np.zeros(3)\nfor x[0] in range(3):\n    pass", "item", "x"),
        ("def f(self):\n    self.x = np.zeros(3)\n    self.x[0] = 1", "item", "self.x"),
        ("def f():\n    return np.zeros(3)\nf()[0] = 1", "item", None),
    ],
)
def test_kinds(body, kind, name):
    first = found(body)[0]
    assert (first.kind, first.name) == (kind, name)


@pytest.mark.parametrize(
    "body",
    [
        "x = [0]\nx[0] = 1",
        "x = {}\nx['a'] = 1",
        "x = 1\nx += 1",
        "x = [0]\nx += [1]",
        "x = [1]\nx.sort()",
        "x = np.zeros(3)\nnp.add(x, 1, out=None)",
        "x = np.zeros(3)\ny = np.sort(x)",
        "def f(x):\n    x += 1",
    ],
)
def test_what_changes_no_array(body):
    assert found(body) == []


@pytest.mark.parametrize(
    ("body", "is_shared"),
    [
        ("x = np.zeros(3)\nx[0] = 1", False),
        ("x = np.zeros(3)\ny = x\nx[0] = 1", True),
        ("x = np.zeros(3)\ny = x[1:]\nx[0] = 1", True),
        ("x = np.zeros(3)\ny = x[1:].copy()\nx[0] = 1", False),
        ("x = np.zeros(3)\ny = x + 1\nx[0] = 1", False),
        ("x = np.zeros(3)\ny = x[[0, 1]]\nx[0] = 1", False),
        ("x = np.zeros(3)\ny = x\ny = 3\nx[0] = 1", False),
        ("x = np.zeros(3)\ny = x\nx = np.ones(3)\nx[0] = 1", False),
        ("x = np.zeros(3)\ny = x\nz = x\nx = np.ones(3)\ny[0] = 1", True),
        ("x = np.zeros(3)\ny = [x]\nx[0] = 1", True),
        ("x = np.zeros(3)\ny = []\ny.append(x)\nx[0] = 1", True),
        ("x = np.zeros(3)\nd = {}\nd['x'] = x\nx[0] = 1", True),
        ("x = np.zeros(3)\nx[0] = 1\ny = x", False),
        ("x = np.zeros(3)\nfor k in range(3):\n    x[0] = 1\n    y = x", True),
        ("x = np.zeros(3)\nfor k in range(3):\n    y = x\n    x = x + 1\n    x[0] = 1", False),
        ("x = np.zeros(3)\ny = np.asarray(x)\nx[0] = 1", True),
        ("x = np.zeros(3)\ny = x.T.reshape(-1)\nx[0] = 1", True),
        ("x = np.zeros(3)\ny = unknown(x)\nx[0] = 1", True),
        ("x = np.zeros(3)\nn = x.shape[0]\ns = float(x[0])\nx[0] = 1", False),
        ("def f(x):\n    x[0, :] = 1", True),
        ("def f(x):\n    x = x.copy()\n    x[0, :] = 1", False),
        ("def f(x):\n    y = x[1:]\n    y[0, :] = 1", True),
        ("def f(x):\n    if x is None:\n        x = np.zeros(3)\n    x[0] = 1", True),
        ("x = np.zeros(3)\ndef f():\n    x[0] = 1", True),
        ("def f():\n    x = np.zeros(3)\n    def g():\n        return x\n    x[0] = 1\n    return g", False),
        ("def f():\n    x = np.zeros(3)\n    yield x\n    x[0] = 1", True),
        ("def f(self):\n    self.x = np.zeros(3)\n    self.x[0] = 1", True),
        ("x = np.zeros(3)\nfor row in x.reshape(3, 1):\n    row[0] = 1", True),
    ],
)
def test_whether_a_change_is_visible_elsewhere(body, is_shared):
    assert [write.is_shared for write in found(body)] == [is_shared]


def test_parameters_and_other_names():
    (write,) = found("def f(u, n):\n    v = u[1:]\n    v[0, :] = n")
    assert write.parameter
    assert write.aliases == {"u"}
    (write,) = found("def f(n):\n    u = np.zeros(n)\n    v = u[1:]\n    v[0] = n")
    assert not write.parameter
    assert write.aliases == {"u"}
