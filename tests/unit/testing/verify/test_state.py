"""The variables of a module are compared after each run, and have their values of before the next run."""

import types

import numpy as np
import pytest

from xarrayops.testing import verify

START = "import numpy as np\nA = np.zeros(4)\nL = [[0]]\nK = L[0]\nS = 0.0\n"
SAME = {
    "another shape": "def f(x):\n    A.shape = (2, 2)\n    return x * 2\n",
    "read-only": "def f(x):\n    A.flags.writeable = False\n    return x * 2\n",
    "a list in a list": "def f(x):\n    K[0] += 1\n    return x * L[0][0]\n",
    "an array of NumPy": "def f(x):\n    A[0] = float(x[2])\n    return x * 2\n",
    "a new variable": "def f(x):\n    global count\n    count = globals().get('count', 0) + 1\n    return x * count\n",
}
DIFFERENT = {
    "NaN": ("def f(x):\n    global S\n    S = float('nan')\n    return x\n", "float('nan')", "5.0"),
    "a new variable": ("def f(x):\n    global T\n    T = 1.5\n    return x\n", "1.5", "2.5"),
}


def function(source):
    module = types.ModuleType("program")
    exec(START + source, vars(module))
    return module.f


@pytest.mark.parametrize("name", SAME)
def test_a_function_verifies_against_itself(name):
    pytest.importorskip("torch")
    f = function(SAME[name])
    report = verify(f, np.arange(4.0), expected=f, libraries=["numpy", "torch:eager"], replay=False)
    assert report.ok, report


@pytest.mark.parametrize("name", DIFFERENT)
def test_another_value_of_a_variable_is_a_difference(name):
    source, old, new = DIFFERENT[name]
    port = function(source.replace(old, new))
    assert not verify(port, np.arange(4.0), expected=function(source), libraries=["numpy"], replay=False).ok
