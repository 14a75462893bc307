"""The findings name the libraries on which a program differs, and no others: every snippet runs on every library."""

import runpy
import warnings
from pathlib import Path

import numpy
import pytest

import xarrayops as xo
from xarrayops.port.checking.report import findings
from xarrayops.port.findings import COSTS
from xarrayops.port.source import Program

SNIPPETS = runpy.run_path(str(Path(__file__).parent / "snippets.py"))
SETUP, UNFLAGGED = SNIPPETS["SETUP"], SNIPPETS["UNFLAGGED"]
DIFFERENT = (*SNIPPETS["METHODS"], *SNIPPETS["OPERATORS"], *SNIPPETS["ASSIGNMENTS"])
LIBRARIES = ("torch", "jax", "dask")
FIRST = SETUP.count("\n") + 2


def program(snippet, library):
    module = "numpy" if library == "numpy" else "xarrayops.numpy"
    return f"import {module} as np\n{SETUP}{snippet}\n"


def flagged(snippet, folder):
    """The libraries that the findings about a snippet name; costs are not differences."""
    path = folder / "program.py"
    path.write_text(program(snippet, "numpy"))
    found = [f for f in findings(Program.read(path)) if f.line >= FIRST and f.kind not in COSTS]
    assert all(finding.instead for finding in found)
    return {backend for finding in found if finding.certain for backend in finding.backends} & set(LIBRARIES)


def as_numpy(value):
    if isinstance(value, list | tuple):
        return [as_numpy(each) for each in value]
    if hasattr(value, "dtype") and hasattr(value, "shape"):
        return numpy.asarray(xo.convert(xo.compute(value), "numpy"))
    return value


def state(snippet, library):
    """The result of a snippet, which it binds to r, and all arrays after it."""
    variables = {}
    with warnings.catch_warnings(), xo.use(library):
        warnings.simplefilter("ignore")
        exec(program(snippet, library), variables)
        names = ("r", "v", "w", "i", "m", "a", "b", "u", "c", "j")
        return {name: as_numpy(variables[name]) for name in names if name in variables}


def is_same(x, y):
    if isinstance(x, list):
        return isinstance(y, list) and len(x) == len(y) and all(map(is_same, x, y))
    if isinstance(x, numpy.ndarray):
        if not isinstance(y, numpy.ndarray):
            return x.ndim == 0 and bool(numpy.isclose(x, y))
        return x.dtype == y.dtype and x.shape == y.shape and numpy.allclose(x, y, equal_nan=True)
    return bool(x == y)


def differs(snippet, library):
    """Whether a snippet differs between a library and NumPy."""
    wanted = state(snippet, "numpy")
    try:
        found = state(snippet, library)
    except Exception:
        return True
    return not all(is_same(wanted[name], found[name]) for name in wanted)


@pytest.fixture(scope="module", autouse=True)
def with_64_bits():
    jax = pytest.importorskip("jax")
    with jax.enable_x64(True):
        yield


@pytest.mark.parametrize("snippet", DIFFERENT)
def test_findings_name_the_libraries_that_differ(snippet, tmp_path):
    for library in LIBRARIES:
        pytest.importorskip(library)
    assert flagged(snippet, tmp_path) == {library for library in LIBRARIES if differs(snippet, library)}


@pytest.mark.parametrize("snippet", UNFLAGGED)
def test_what_runs_the_same_everywhere_is_not_flagged(snippet, tmp_path):
    assert flagged(snippet, tmp_path) == set()


@pytest.mark.parametrize("snippet", UNFLAGGED)
def test_what_is_not_flagged_runs_the_same_everywhere(snippet):
    assert not [library for library in LIBRARIES if differs(snippet, library)]
