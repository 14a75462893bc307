"""The names that refer to NumPy."""

import ast

import pytest

from xarrayops.port.source.names import Names, of_numpy


def resolved(text):
    """The meaning of the last expression of a text; of the argument of ``mark`` where it is called."""
    tree = ast.parse(text)
    names = Names(tree)
    marks = [
        n for n in ast.walk(tree) if isinstance(n, ast.Call) and isinstance(n.func, ast.Name) and n.func.id == "mark"
    ]
    return names.resolve(marks[-1].args[0] if marks else tree.body[-1].value)


@pytest.mark.parametrize(
    ("text", "meaning"),
    [
        ("import numpy as np\nnp.linalg.norm", "numpy.linalg.norm"),
        ("import numpy\nnumpy.sqrt", "numpy.sqrt"),
        ("import numpy.linalg\nnumpy.linalg.norm", "numpy.linalg.norm"),
        ("import numpy.linalg as la\nla.norm", "numpy.linalg.norm"),
        ("from numpy import sqrt as s\ns", "numpy.sqrt"),
        ("from numpy import linalg\nlinalg.norm", "numpy.linalg.norm"),
        ("from numpy.random import rand\nrand", "numpy.random.rand"),
        ("import numpy as np\nzeros = np.zeros\nzeros", "numpy.zeros"),
        ("import numpy as np\nxp = np\nxp.zeros", "numpy.zeros"),
        ("import xarrayops.numpy as np\nnp.zeros", "xarrayops.numpy.zeros"),
        ("from scipy import signal\nsignal.lfilter", "scipy.signal.lfilter"),
        ("from .local import f\nf", ".local.f"),
        ("float", "builtins.float"),
        ("float = 3\nfloat", None),
        ("x = 3\nx", None),
        ("import numpy as np\nnp.zeros(3).sum", None),
        ("import numpy as np\ndef f(np):\n    mark(np.zeros)", None),
        ("import numpy as np\ndef f(x):\n    mark(np.zeros)", "numpy.zeros"),
        ("import numpy as np\ndef f():\n    np = 3\n    mark(np.zeros)", None),
        ("def f():\n    import numpy as np\n    mark(np.zeros)", "numpy.zeros"),
        ("def f():\n    import numpy as np\nmark(np.zeros)", None),
        ("import numpy as np\n[mark(np.zeros) for np in range(3)]", None),
        ("import numpy as np\n[mark(np.zeros) for i in range(3)]", "numpy.zeros"),
        ("import numpy as np\nf = lambda np: mark(np.zeros)", None),
        ("class A:\n    import numpy as np\n    def f(self):\n        mark(np.zeros)", None),
        ("class A:\n    import numpy as np\n    mark(np.zeros)", "numpy.zeros"),
        ("np = None\ndef f():\n    global np\n    import numpy as np\nmark(np.zeros)", None),
        ("def f():\n    global np\n    import numpy as np\nmark(np.zeros)", "numpy.zeros"),
        ("try:\n    import cupy as np\nexcept ImportError:\n    import numpy as np\nnp.zeros", "cupy.zeros"),
        ("try:\n    import numpy as np\nexcept ImportError:\n    import cupy as np\nnp.zeros", "numpy.zeros"),
        ("import numpy as np\nif cond:\n    np = 3\nnp.zeros", None),
        ("from numpy import *\nzeros", "numpy.zeros"),
        ("from numpy import *\nzeros = 3\nzeros", None),
        ("from numpy import *\nfrom pylab import *\nzeros", None),
        ("from os.path import *\nfloat", None),
        ("a = b\nb = a\na", None),
        ("import numpy as np\nfor np in range(3):\n    pass\nnp.zeros", None),
        ("import numpy as np\nmatch y:\n    case np:\n        pass\nnp.zeros", None),
        ("import numpy as np\ntry:\n    pass\nexcept ValueError as np:\n    pass\nnp.zeros", None),
        ("import numpy as np\n(np := 3)\nnp.zeros", None),
        ("import numpy as np\ndel np\nnp.zeros", None),
    ],
)
def test_meanings(text, meaning):
    assert resolved(text) == meaning


def test_star_imports_are_kept():
    names = Names(ast.parse("from numpy import *\nfrom math import *\n"))
    assert [module for module, _ in names.stars] == ["numpy", "math"]


@pytest.mark.parametrize(
    ("name", "short"),
    [
        ("numpy.linalg.norm", "linalg.norm"),
        ("xarrayops.numpy.zeros", "zeros"),
        ("numpyro.sample", None),
        ("numpy", None),
        (None, None),
    ],
)
def test_names_of_numpy(name, short):
    assert of_numpy(name) == short
