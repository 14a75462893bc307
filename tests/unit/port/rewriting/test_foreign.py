"""Calls of other packages go through `xarrayops.on_host`; code that they compile keeps NumPy's own functions."""

import numpy as np
import pytest

from xarrayops.port import rewrite

X = np.arange(12.0).reshape(3, 4) + 1
V = np.asarray([0.3, 0.1, 0.7, 0.2, 0.9, 0.4])

CALLS = {
    "a function": ("import scipy.special", "scipy.special.expit(x)", "xo.on_host(scipy.special.expit)(x)"),
    "keywords": ("from scipy import ndimage", "ndimage.convolve1d(input=x, weights=x[0])", "xo.on_host(ndimage.conv"),
    "a name": ("from scipy.linalg import pinv", "pinv(x)", "xo.on_host(pinv)(x)"),
    "several results": ("from scipy import linalg", "linalg.svd(x, full_matrices=False)[1]", "xo.on_host(linalg.svd)"),
    "a record": ("from scipy import stats", "stats.linregress(x[0], x[1]).slope", "xo.on_host(stats.linregress)"),
    "an object": ("from scipy.interpolate import interp1d", "interp1d(x[0], x[1])(x[0])", "xo.on_host(xo.on_host(in"),
    "a method": (
        "from scipy.interpolate import CubicSpline",
        "CubicSpline(x[0], x[1]).integrate(x[0, 0], x[0, 1])",
        "xo.on_host(xo.on_host(CubicSpline)(x[0], x[1]).integrate)(",
    ),
}


@pytest.mark.parametrize("name", CALLS)
def test_calls_get_and_return_arrays_of_every_library(name, checked):
    pytest.importorskip("scipy")
    start, lines, has = CALLS[name]
    checked(f"import numpy as np\n{start}\ndef f(x):\n    n, m = x.shape\n    return {lines}\n", X, has=has)


def test_objects_of_another_package_keep_their_methods(checked):
    pytest.importorskip("scipy")
    source = """
import numpy as np
from scipy.interpolate import interp1d
def f(x: np.ndarray):
    g = interp1d(x, x * x)
    return g(x[1:]) + np.sin(x[1:])
"""
    checked(source, np.sort(V), has="xo.on_host(g)(x[1:])")


def test_numbers_and_text_need_nothing(checked):
    pytest.importorskip("scipy")
    start = "import numpy as np\nimport scipy.special"
    source = f"{start}\ndef f(x):\n    n, m = x.shape\n    return x * scipy.special.gamma(0.5 * n)\n"
    checked(source, X, lacks="on_host")


def test_modules_of_the_own_package_are_not_foreign(tmp_path):
    package = tmp_path / "mine" / "inner"
    package.mkdir(parents=True)
    for folder in (package, package.parent):
        (folder / "__init__.py").touch()
    path = package / "program.py"
    path.write_text("import numpy as np\nfrom mine.other import g\ndef f(x: np.ndarray):\n    return g(x)\n")
    assert "on_host" not in rewrite(path).text
    (package.parent / "__init__.py").unlink()
    (package / "__init__.py").unlink()
    assert "xo.on_host(g)(x)" in rewrite(path).text


def test_arrays_of_another_library_are_not_moved(tmp_path):
    path = tmp_path / "program.py"
    path.write_text("import numpy as np\nimport torch\ndef f(x: np.ndarray):\n    return torch.asarray(x)\n")
    assert "on_host" not in rewrite(path).text


COMPILED = """
import numpy as np
import numba
from numba import njit

@njit
def total(x):
    s = 0.0
    for i in range(x.shape[0]):
        s += np.sqrt(x[i])
    return s

@numba.njit(cache=False)
def fill(x, out):
    for i in range(x.shape[0]):
        out[i] = np.exp(x[i])

def plain(x):
    return np.log(x)

quick = njit(plain)

def f(x: np.ndarray):
    return total(x) + np.sum(x)

def g(x: np.ndarray):
    out = np.empty_like(x)
    fill(x, out)
    return out
"""


def test_compiled_functions_keep_numpys_functions(tmp_path):
    path = tmp_path / "program.py"
    path.write_text(COMPILED)
    new = rewrite(path)
    assert "s += numpy.sqrt(x[i])" in new.text
    assert "out[i] = numpy.exp(x[i])" in new.text
    assert "return numpy.log(x)" in new.text
    assert "xo.on_host(total)(x) + np.sum(x)" in new.text
    (todo,) = [each.problem for each in new.todos]
    assert todo.startswith("fill is compiled for NumPy's arrays and writes out")


def test_compiled_functions_run(tmp_path):
    pytest.importorskip("numba")
    torch = pytest.importorskip("torch")
    path = tmp_path / "program.py"
    path.write_text(COMPILED)
    found = {}
    exec(compile(rewrite(path).text, str(path), "exec"), found)
    assert np.isclose(found["f"](V), np.sqrt(V).sum() + V.sum())
    assert np.allclose(found["g"](V), np.exp(V))
    assert isinstance(found["f"](torch.from_numpy(V)), torch.Tensor | float)
