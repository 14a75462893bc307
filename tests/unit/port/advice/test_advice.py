"""The code that advice names is executed in place of what it is about, on every library, and compared with NumPy."""

import ast
import runpy
import warnings
from pathlib import Path

import numpy
import pytest

import xarrayops as xo
from xarrayops.port import rewrite
from xarrayops.port.checking import findings
from xarrayops.port.findings import COSTS
from xarrayops.port.source import Program

FOLDER = Path(__file__).parent
PROGRAMS = runpy.run_path(str(FOLDER / "programs.py"))
FINDINGS, TODOS = PROGRAMS["FINDINGS"], PROGRAMS["TODOS"]
BY_HAND = runpy.run_path(str(FOLDER / "by_hand.py"))["BY_HAND"]
SETTING = "jax_enable_x64"
LIBRARIES = ("numpy", "torch", "jax", "dask")
VALUES = numpy.array([-1.5, 2.0, 0.5, 3.0, -4.0])


def code_of(text):
    """The code of an advice; None for prose."""
    try:
        return text if ast.parse(text).body else None
    except SyntaxError:
        return None


def advised(source, folder, *, is_inner_first):
    """The program after the code of each advice was put in the place that it marks, until there is no more advice."""
    for _ in range(12):
        found = [each for each in checked(source, folder) if code_of(each.instead) and SETTING not in each.instead]
        if not found:
            return source
        sizes = [(each.end_line, each.end_column, -each.line, -each.column) for each in found]
        by_place = sorted(zip(sizes, found, strict=True), key=lambda each: (each[1].line, each[1].column, each[0]))
        source = replaced(source, by_place[-1 if is_inner_first else 0][1])
    raise AssertionError(f"the advice has no end:\n{source}")


def replaced(source, finding):
    """The program with the code of an advice."""
    lines = source.splitlines()
    text = ast.unparse(ast.parse(finding.instead)).replace("\n", "; ")  # without the remark
    before = lines[finding.line - 1][: finding.column - 1]
    after = lines[finding.end_line - 1][finding.end_column - 1 :]
    lines[finding.line - 1 : finding.end_line] = [before + text + after]
    return "\n".join(lines)


def outcome(source, library, *, is_plain=False):
    """The result of the function f on a library, as NumPy's arrays; a plain call needs no `xarrayops.use`."""
    module = "numpy" if library == "original" else "xarrayops.numpy"
    namespace = {"xo": xo}
    x = VALUES.copy() if library in ("original", "numpy") else xo.convert(VALUES.copy(), library)
    with warnings.catch_warnings(), xo.use("numpy" if library == "original" or is_plain else library):
        warnings.simplefilter("ignore")
        exec(f"import {module} as np\nimport numpy\n{source}", namespace)
        return leaves(namespace["f"](x))


def leaves(value):
    if isinstance(value, list | tuple):
        return [leaf for each in value for leaf in leaves(each)]
    if hasattr(value, "dtype") and hasattr(value, "shape"):
        return [numpy.asarray(xo.convert(xo.compute(value), "numpy"))]
    return [value]


def same(wanted, found):
    assert len(wanted) == len(found)
    for x, y in zip(wanted, found, strict=True):
        if isinstance(x, str | bytes):
            assert x == y
        else:
            numpy.testing.assert_allclose(numpy.asarray(y), numpy.asarray(x), rtol=1e-6)
            if numpy.ndim(x):
                assert numpy.asarray(y).dtype == x.dtype


def checked(source, folder):
    path = folder / "program.py"
    path.write_text(f"import numpy as np\nimport xarrayops as xo\n{source}\n")
    return [f._replace(line=f.line - 2, end_line=f.end_line - 2) for f in findings(Program.read(path))]


@pytest.mark.parametrize("is_inner_first", [False, True], ids=["outer", "inner"])
@pytest.mark.parametrize("source", FINDINGS)
def test_the_code_of_a_finding_runs_on_every_library(source, is_inner_first, tmp_path):
    jax = pytest.importorskip("jax")
    found = [each.instead for each in checked(source, tmp_path) if each.kind not in COSTS or code_of(each.instead)]
    assert any(FINDINGS[source] in each for each in found), found
    assert all(map(code_of, found)), found
    text = advised(source, tmp_path, is_inner_first=is_inner_first)
    expected = outcome(source, "original")
    for library in LIBRARIES:
        with jax.enable_x64(True):
            try:
                same(expected, outcome(text, library))
            except Exception as error:
                raise AssertionError(f"{library}: {type(error).__name__}: {error}\n{text}") from error


@pytest.mark.parametrize("source", TODOS)
def test_the_code_of_a_note_runs_on_every_library(source, tmp_path):
    jax = pytest.importorskip("jax")
    part, old = TODOS[source]
    path = tmp_path / "program.py"
    path.write_text(f"import numpy as np\n{source}\n")
    new = rewrite(path)
    (problem,) = {each.problem for each in new.todos if part in each.problem}
    code = problem.partition("Instead: ")[2]
    assert code_of(code), problem
    code = ast.unparse(ast.parse(code))
    lines = new.text.splitlines()
    if old is None:
        number = next(i for i, line in enumerate(lines) if problem in line)
        number = next(i for i in range(number, len(lines)) if "TODO(port)" not in lines[i])
        indent = lines[number][: len(lines[number]) - len(lines[number].lstrip())]
        lines[number] = indent + code.replace("\n", "; ")
        text = "\n".join(lines)
    else:
        code = code + " * x" if old == "C * x" else code
        text = "\n".join(line if "TODO(port)" in line else line.replace(old, code) for line in lines)
        assert text != new.text.rstrip("\n"), new.text
    expected = outcome(source, "original")
    for library in LIBRARIES:
        with jax.enable_x64(True):
            try:
                same(expected, outcome(f"{text}\n", library, is_plain=True))
            except Exception as error:
                raise AssertionError(f"{library}: {type(error).__name__}: {error}\n{text}") from error


@pytest.mark.parametrize("source", BY_HAND)
def test_advice_that_a_person_follows(source, tmp_path):
    jax = pytest.importorskip("jax")
    part, text = BY_HAND[source]
    found = [each.instead for each in checked(source, tmp_path)]
    found += [each.problem for each in rewrite(tmp_path / "program.py").todos]
    assert any(part in each for each in found), found
    expected = outcome(source, "original")
    for library in LIBRARIES:
        with jax.enable_x64(True):
            same(expected, outcome(text, library, is_plain=True))
