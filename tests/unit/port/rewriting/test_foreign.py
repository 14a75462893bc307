"""Calls of other packages go through `xarrayops.on_host`; code that they compile keeps NumPy's own functions."""

import re
import subprocess
import sys

import numpy as np
import pytest

from xarrayops.port import check, rewrite

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


DIRECT = '''
"""Logarithms."""
import sys
import numpy as np
import scipy.special
from scipy import fft, ndimage

WEIGHTS = np.arange(4.0) + 1
KERNEL = np.ones((3, 3)) / 9

def f(x: np.ndarray):
    logs = scipy.special.xlogy(WEIGHTS, x) + scipy.special.xlogy(np.array([1.0, 2.0, 3.0, 4.0]), x)
    return logs, ndimage.convolve(x, KERNEL), fft.rfft(x, axis=0)

if __name__ == "__main__":
    print(type(f(EXAMPLE)[0]).__module__, sum(float(abs(each).sum()) for each in f(EXAMPLE)))
'''
SETTING = 'os.environ.setdefault("SCIPY_ARRAY_API", "1")'


def test_functions_that_take_every_library_stay_on_request(tmp_path):
    path = tmp_path / "program.py"
    path.write_text(DIRECT)
    plain = rewrite(path)
    assert plain.text.count("xo.on_host(") == 4
    assert SETTING not in plain.text
    assert sum("--scipy-array-api" in each.reason for each in plain.edits) == 2  # two lines
    new = rewrite(path, scipy_array_api=True)
    assert "xo.on_host(ndimage.convolve)(x, KERNEL)" in new.text
    assert new.text.count("xo.on_host(") == 1
    assert "scipy.special.xlogy(np.asarray(WEIGHTS, like=x), x)" in new.text
    assert new.text.index(SETTING) < new.text.index("import xarrayops")
    assert not new.todos
    path.write_text(new.text)
    assert rewrite(path, scipy_array_api=True).text == new.text


def test_programs_with_scipys_setting_run_on_every_library(tmp_path):
    pytest.importorskip("scipy")
    pytest.importorskip("torch")
    path = tmp_path / "program.py"
    example = "np.asarray([[0.5, 1, 2, 3]] * 4)"
    path.write_text(DIRECT.replace("EXAMPLE", example))
    wanted = subprocess.run([sys.executable, path], capture_output=True, text=True, check=True).stdout.split()
    new = rewrite(path, scipy_array_api=True).text
    for library in ("numpy", "torch"):
        before, code = new.split("if __name__")
        start = f"import torch\ntorch.set_default_dtype(torch.float64)\nEXAMPLE = xo.convert({example}, {library!r})\n"
        path.write_text(f"{before}{start}if __name__{code.replace(example, 'EXAMPLE')}")
        found = subprocess.run([sys.executable, path], capture_output=True, text=True, check=True).stdout.split()
        assert found[0] == library
        assert np.isclose(float(found[1]), float(wanted[1]))


STARTS = [("import os\n", 1), ("import os as system\n", 2), ("", 2), ('"""It needs SCIPY_ARRAY_API."""\n', 2)]


@pytest.mark.parametrize(("start", "lines"), STARTS)
def test_the_setting_stands_before_the_first_import_of_a_package(tmp_path, start, lines):
    path = tmp_path / "program.py"
    path.write_text(
        f"{start}import scipy.fft\nimport numpy as np\ndef f(x: np.ndarray):\n    return scipy.fft.fft(x)\n"
    )
    new = rewrite(path, scipy_array_api=True).text
    assert new.index(SETTING) < new.index("import scipy.fft")
    assert new.splitlines().count("import os") == 1
    assert new[: new.index("import scipy")].count("\n") - len(start.splitlines()) == lines


def test_modules_of_a_package_say_what_the_program_must_set(tmp_path):
    (tmp_path / "__init__.py").touch()
    path = tmp_path / "program.py"
    path.write_text("import scipy.fft\nimport numpy as np\ndef f(x: np.ndarray):\n    return scipy.fft.fft(x)\n")
    new = rewrite(path, scipy_array_api=True)
    assert SETTING not in new.text
    (todo,) = new.todos
    assert "SCIPY_ARRAY_API=1 before SciPy is imported" in todo.problem


MODULES = {
    "ported.py": "import xarrayops.numpy as np\ndef f(x):\n    return np.sqrt(x)\n",
    "plain.py": "import math\ndef g(x):\n    return x\n",
    "kept.py": "import numpy as np\ndef h(x):\n    return np.sqrt(x)\nclass Model:\n    def fit(self, x): return x\n",
    "inner/__init__.py": "from .deep import k\n",
    "inner/deep.py": "from numpy import sqrt\ndef k(x):\n    return sqrt(x)\n",
}
CALLER = """
import numpy as np
from {0}ported import f
from {0}plain import g
from {0}kept import h, Model
from {0}inner import k

def start(x: np.ndarray, n: int):
    h(n)
    f(x) + g(x)
    h(x)
    k(x=x)
    return Model().fit(x)
"""


@pytest.mark.parametrize("place", ["package", "relative", "folder"])
def test_modules_of_the_program_that_are_not_ported_are_named(tmp_path, place):
    folder = tmp_path / "mine"
    (folder / "inner").mkdir(parents=True)
    for name, text in MODULES.items():
        (folder / name).write_text(text)
    if place != "folder":
        (folder / "__init__.py").touch()
    path = folder / "program.py"
    path.write_text(CALLER.format({"package": "mine.", "relative": ".", "folder": ""}[place]))
    prefix = "" if place == "folder" else "mine."
    wanted = {11: f"{prefix}kept", 12: f"{prefix}inner.deep", 13: f"{prefix}kept"}
    todos = {each.line: each.problem.partition(" ")[0] for each in rewrite(path).todos}
    assert todos == {11: wanted[11], 12: wanted[12]}  # one note for a module
    found = {each.line: each.what.partition(" ")[0] for each in check(path).findings if each.kind == "foreign call"}
    assert found == wanted
    assert "on_host" not in rewrite(path).text.replace("or xo.on_host", "")


MADE = """
import numpy as np
from scipy.signal import freqz
from scipy.signal.windows import hann
def f(x: np.ndarray):
    return x * hann(len(x))
def g(x: np.ndarray):
    w, h = freqz([1.0, 2.0], worN=len(x))
    return x * w
def alone(n):
    return hann(n)
def number(x: np.ndarray):
    return x * float(hann(3)[1])
"""


def test_arrays_that_another_package_makes_from_numbers_have_a_note(tmp_path):
    pytest.importorskip("scipy")
    path = tmp_path / "program.py"
    path.write_text(MADE)
    new = rewrite(path)
    advised = [each.problem.partition("Instead: ")[2] for each in new.todos]
    assert advised == [
        "np.asarray(hann(len(x)), like=x)",
        "[np.asarray(each, like=x) for each in freqz([1.0, 2.0], worN=len(x))]",
    ]
    torch = pytest.importorskip("torch")
    original, port = {}, {}
    exec(MADE, original)
    text = new.text
    for old, code in zip(("hann(len(x))", "freqz([1.0, 2.0], worN=len(x))"), advised, strict=True):
        text = re.sub(f"^(?! *#)(.*){re.escape(old)}", lambda found, code=code: found[1] + code, text, flags=re.M)
    exec(text, port)
    x = np.linspace(0.0, 1.0, 8)
    for name in ("f", "g", "number"):
        found = port[name](torch.asarray(x))
        assert isinstance(found, torch.Tensor)
        np.testing.assert_allclose(found.numpy(), original[name](x))


def test_a_module_of_the_program_that_gets_the_shape_of_an_array_has_a_note(tmp_path):
    (tmp_path / "masks.py").write_text("import xarrayops.numpy as np\ndef mask(shape):\n    return np.ones(shape)\n")
    path = tmp_path / "program.py"
    path.write_text(
        "import numpy as np\nfrom masks import mask, load\n"
        "def f(x: np.ndarray):\n    return x * mask(x.shape) + load('name')\n"
    )
    (todo,) = rewrite(path).todos
    assert todo.problem.endswith("Instead: np.asarray(mask(x.shape), like=x)")


def test_the_setting_stands_before_a_line_with_several_imports(tmp_path):
    path = tmp_path / "program.py"
    path.write_text(
        "import os; import scipy.fft\nimport numpy as np\ndef f(x: np.ndarray):\n    return scipy.fft.fft(x)\n"
    )
    new = rewrite(path, scipy_array_api=True).text
    assert new.startswith(f"import os\n{SETTING}\nimport os; import scipy.fft\n")


def test_what_is_computed_from_results_of_another_package_is_moved(tmp_path):
    pytest.importorskip("scipy")
    torch = pytest.importorskip("torch")
    source = "import numpy as np\nfrom scipy import ndimage, signal\n"
    source += "def f(x):\n    y = signal.hilbert(x)\n    return ndimage.gaussian_filter1d(np.abs(y), 2)\n"
    path = tmp_path / "program.py"
    path.write_text(source)
    original, port = {}, {}
    exec(source, original)
    exec(rewrite(path).text, port)
    found = port["f"](torch.asarray(V))
    assert isinstance(found, torch.Tensor)
    np.testing.assert_allclose(found.numpy(), original["f"](V))


def test_a_record_of_scipy_is_read_by_check(tmp_path):
    pytest.importorskip("scipy")
    path = tmp_path / "program.py"
    path.write_text(
        "import numpy as np\nfrom scipy import stats\ndef f(x):\n    return stats.linregress(x, x * 2).slope * x\n"
    )
    assert check(path, call="f(np.arange(5.0))").findings


def test_functions_that_get_numpys_arrays_and_use_others_have_a_note(tmp_path):
    path = tmp_path / "program.py"
    source = "import numpy as np\nfrom scipy import optimize\ndef f(x: np.ndarray, y: np.ndarray):\n"
    source += "    def residual(m):\n        return m * x - y\n    def own(m):\n        return m**2\n"
    path.write_text(
        f"{source}    return optimize.root(residual, y), optimize.root(own, y), optimize.root(lambda m: m - y, y)\n"
    )
    new = rewrite(path)
    assert len(new.todos) == 2
    assert all("gives NumPy's arrays to" in each.problem for each in new.todos)
    path.write_text(new.text)
    assert rewrite(path).text == new.text


def test_draws_of_a_generator_share_no_memory_with_it(tmp_path):
    path = tmp_path / "program.py"
    path.write_text(
        "import numpy as np\ndef f(rng, x: np.ndarray):\n    y = rng.normal(size=3)\n    y += x\n    return y\n"
    )
    assert not check(path).findings


def test_lists_of_arrays_and_copies_are_arrays_of_the_caller(tmp_path):
    path = tmp_path / "program.py"
    path.write_text(
        "import numpy as np\nfrom scipy import ndimage\nfrom colour import tstack\n"
        "def f(x: np.ndarray, z):\n    return ndimage.sum([x, x]), tstack([x, 2.0]), ndimage.sum((1, 2)), tstack(z)\n"
        "def g(x):\n    y = h(x).copy()\n    y[1:] = 0.0\n    return y\n"
    )
    text = rewrite(path).text
    assert "xo.on_host(ndimage.sum)([x, x]), xo.on_host(tstack)([x, 2.0]), ndimage.sum((1, 2))" in text
    assert "xo.on_host(tstack)(z)" in text
    assert "y may share the memory" not in text
