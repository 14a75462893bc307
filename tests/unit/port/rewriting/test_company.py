"""New arrays and what they meet; notes that are not written because nothing can differ."""

import numpy as np
import pytest

X = np.arange(1.0, 7.0).reshape(2, 3)
V = np.asarray([3.0, 1.0, 2.0])
START = "import math\nimport numpy as np\n"
EVERYWHERE = ("numpy", "torch", "jax")

ALONE = {
    "numbers of a loop": "def f(x, n):\n    s = 0.0\n"
    "    for i in np.arange(n):\n        s += float(i)\n    return x * s",
    "a table of numbers": "def f(x, n):\n    t = np.zeros(n)\n    t[0] = math.sqrt(n)\n    return x * float(t[0])",
    "text": "def f(x, n):\n    m = 'n {}'.format(n)\n    m += 'is'\n    return x * len(m)",
    "a number that grows": "def f(x, n):\n    s = 0\n    for k in range(n):\n        s += g(k)\n    return x * s\n"
    "def g(k):\n    return math.sqrt(k)",
    "keys of a dict": "def f(x, n):\n    d = g({}, 'a')\n    return x * d['an']\n"
    "def g(d, key):\n    d[key + 'n'] = 2\n    return d",
    "items of a dict": "def f(x, n):\n    return x * g({n: 2})[n]\n"
    "def g(d):\n    for k, v in d.items():\n        d[k] = v + 1\n    return d",
    "a condition": "def f(x, n):\n    return x * g(n, 2)\n"
    "def g(step, n):\n    step *= n\n    if step > 3:\n        return 1\n    return step",
    "a documented number": "def f(x, n):\n    return x * g(n)\n"
    'def g(step):\n    """Double.\n\n    Parameters\n    ----------\n    step : int\n        A number.\n    """\n'
    "    step *= 2\n    return step",
    "indices": "def f(x, n):\n    i = np.argsort(x[0])\n    return x[:, i], x[:, ~np.isnan(x[1])]",
    "draws": "def f(x, n):\n    rng = np.random.default_rng(0)\n"
    "    k = rng.permutation(np.arange(n))\n    return x * k[0].item() * 0",
}


@pytest.mark.parametrize("name", ALONE)
def test_what_cannot_differ_gets_no_note(name, checked):
    checked(f"{START}{ALONE[name]}\n", X, 3)


def test_methods_that_mean_the_same_get_no_note(checked):
    source = "def f(x):\n    return g(x, len(x))\ndef g(x, n):\n    y = x\n"
    source += "    return y.sum(axis=0), y.max(), y.reshape(3, n)"
    checked(f"{START}{source}\n", X)


def test_an_attribute_that_was_just_made_gets_no_note(checked):
    source = """
class Model:
    def fit(self, x):
        self.mean = np.sum(x, axis=0) * 1.0
        self.mean += x[0]
        self.mean /= 2.0
        return self.mean
def f(x):
    return Model().fit(x)
"""
    checked(f"{START}{source}", X)


MEETS = {
    "an operator": ("return g(x) * np.ones(3)", "like=x"),
    "a store": ("a = np.zeros(3)\n    for i in range(3):\n        a[i] = g(x[i])\n    return a", "like=x"),
    "a table": (
        "t = abs(np.arange(3))[::1]\n    y = g(x)\n    y = y[:2] / t[1:]\n    return y",
        "and y, which it meets later",
    ),
    "two results": ("y = g(x)\n    return y, np.linspace(0.0, 1.0, 3)", "like=y"),
    "a joined array": ("y = g(x)\n    return np.concatenate((y, np.zeros(2)))", "like=y"),
}


@pytest.mark.parametrize("name", MEETS)
def test_a_new_array_that_meets_something_unknown_gets_a_note(name, checked):
    lines, todo = MEETS[name]
    source = f"def f(x):\n    {lines}\ndef g(v):\n    return v\n"
    checked(f"{START}{source}", V, todo=todo, runs=_runs(name))


def _runs(name):
    return ("numpy",) if name in ("two results", "a joined array", "a store") else EVERYWHERE


def test_the_reference_is_what_fills_the_array(checked):
    source = "def f(x, a):\n    lo, hi = np.r_[a]\n    y = np.zeros(len(x))\n"
    source += "    i = x < hi\n    y[i] = x[i] * lo\n    return y"
    checked(f"{START}{source}\n", V, [1.0, 2.5], has="np.zeros(len(x), like=x)")


@pytest.mark.parametrize("header", ["x, w=None", "x, w"])
def test_what_may_be_none_is_no_reference(header, checked):
    source = f"def f({header}):\n    y = np.zeros(3)\n    y[0] = x[:, 0].sum()\n"
    source += "    return y if w is None else y + w.sum() * w.T"
    checked(f"{START}{source}\n", X, None, has="np.zeros(3, like=x)")


def test_files_names_are_no_arrays(checked):
    source = (
        "def f(name, n):\n    if n > 9:\n        return np.loadtxt(name)\n    return (np.arange(n) * 2.0)[0].item()"
    )
    checked(f"{START}{source}\n", "file", 3, todo="only NumPy has loadtxt", lacks="like=name")


def test_masked_arrays_are_numpys(checked):
    source = "def f(x):\n    return x if not np.ma.is_masked(x) else np.ma.masked"
    checked(f"{START}{source}\n", X, has="numpy.ma.is_masked")


def test_rows_of_a_new_array_meet_what_their_loop_uses(checked):
    source = (
        "def f(x):\n    s, out = x.sum(axis=0), []\n    for row in np.zeros((2, 3)):\n        out.append(row + s)\n"
    )
    checked(f"{START}{source}    return out\n", X, has="np.zeros((2, 3), like=")
