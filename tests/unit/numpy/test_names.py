"""Every public name of NumPy is here or its absence has a reason, and signatures have NumPy's parameters in order."""

import inspect
import runpy
import subprocess
import sys
from pathlib import Path

import numpy
import pytest

import xarrayops.numpy as ours
from xarrayops._core.numpy_names import OF_NUMPY

FAMILIES = runpy.run_path(str(Path(__file__).parent / "expressions.py"))
TEXT = "\n".join(call for calls in FAMILIES["FAMILIES"].values() for call in calls) + "\n".join(FAMILIES["HOST"])
MODULES = {"": (numpy, ours), **{n: (getattr(numpy, n), getattr(ours, n)) for n in ("linalg", "fft", "random")}}
CALLED_ELSEWHERE = {
    *("copyto", "fill_diagonal", "place", "put", "put_along_axis", "putmask", "errstate", "seterr", "geterr"),
    *("dtype", "ufunc", "empty_like", "from_dlpack", "argpartition"),
}
"""Functions whose results are not compared by expressions: they write, or have tests of their own."""


def public(module):
    return [name for name in dir(module) if not name.startswith("_")]


def functions(prefix):
    theirs, module = MODULES[prefix]
    return [name for name in public(module) if hasattr(theirs, name) and callable(getattr(module, name))]


@pytest.mark.parametrize("prefix", MODULES)
def test_every_name_of_numpy_is_here_or_its_absence_has_a_reason(prefix):
    theirs, module = MODULES[prefix]
    name = f"xarrayops.numpy.{prefix}".rstrip(".")
    missing = [each for each in public(theirs) if each not in dir(module)]
    answers = OF_NUMPY[name]
    assert not [each for each in missing if each not in answers.names()]
    for each in missing:
        with pytest.raises(AttributeError, match=f"has no {each}"):
            getattr(module, each)


@pytest.mark.parametrize("prefix", MODULES)
def test_names_beyond_numpys_are_not_here(prefix):
    theirs, module = MODULES[prefix]
    assert not [name for name in public(module) if not hasattr(theirs, name)]


def signature(function):
    try:
        return inspect.signature(function)
    except (TypeError, ValueError):
        return None


@pytest.mark.parametrize("prefix", ["", "linalg", "fft"])
def test_parameters_have_numpys_names_and_order(prefix):
    theirs, module = MODULES[prefix]
    compared, differing = 0, {}
    for name in functions(prefix):
        wanted, found = signature(getattr(theirs, name)), signature(getattr(module, name))
        if wanted is None or found is None or inspect.isclass(getattr(theirs, name)):
            continue
        compared += 1
        names = [(p.name, p.kind) for p in wanted.parameters.values() if p.name != "signature"]
        mine = [(p.name, p.kind) for p in found.parameters.values()]
        if mine[: len(names)] != names and name not in ("indices",):
            differing[name] = f"{found}, NumPy {wanted}"
    assert compared >= {"": 200, "linalg": 25, "fft": 15}[prefix]
    assert not differing


@pytest.mark.parametrize("prefix", ["", "linalg", "fft"])
def test_every_function_is_compared_with_numpys(prefix):
    start = f"np.{prefix}.".replace("..", ".")
    names = [name for name in functions(prefix) if not isinstance(getattr(ours, name, None), (ours.dtype, type(ours)))]
    kinds = {"generic", "number", "inexact", "complexfloating", "unsignedinteger"}
    assert not [name for name in names if start + name not in TEXT and name not in CALLED_ELSEWHERE | kinds]


def test_every_function_has_a_docstring_that_names_ours():
    undocumented = [name for name in functions("") if not (getattr(ours, name).__doc__ or "").strip()]
    assert not undocumented


def test_reasons_are_those_of_the_page():
    for name, part in (("loadtxt", "read and written by NumPy"), ("vectorize", "for each element"), ("nosuch", "dir")):
        with pytest.raises(AttributeError, match=part):
            getattr(ours, name)
    with pytest.raises(AttributeError, match="no global random state"):
        ours.random.seed(0)
    with pytest.raises(AttributeError, match=r"did you mean np\.linalg\.lstsq"):
        ours.linalg.lstsqq  # noqa: B018


def test_the_package_does_not_import_it_and_it_imports_no_array_library():
    program = (
        "import sys, xarrayops; assert 'xarrayops.numpy' not in sys.modules; import xarrayops.numpy as np;"
        "assert 'numpy' not in sys.modules; assert np.pi > 3; print(len(dir(np)))"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    assert int(run.stdout) > 300
