"""The recipes to add a function of the standard, a verb with a hook, and a backend, each tried in a copy of the tree.

A test edits the copy by hand, runs the generator if the recipe needs it, and runs the result in a separate process. It
checks which files change; those that the generator writes are listed separately.
"""

import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("xarrayops", "backends", "tools")
IMPORT = "import numpy as np, xarrayops as xo\n"


class Tree:
    """A copy of the sources, which a test edits."""

    def __init__(self, folder):
        self.folder = folder
        for name in FOLDERS:
            shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copy(ROOT / "pyproject.toml", folder)
        self.original = self.contents()

    def contents(self):
        files = [self.folder / "pyproject.toml", *(p for name in FOLDERS for p in (self.folder / name).rglob("*.py*"))]
        return {str(p.relative_to(self.folder)): p.read_text().splitlines() for p in files if p.suffix != ".pyc"}

    def insert(self, path, before, text):
        """Insert text before a string that occurs once; append it if the string is empty."""
        lines = (self.folder / path).read_text()
        assert lines.count(before) == 1 or not before, f"{path}: {before!r} occurs {lines.count(before)} times"
        (self.folder / path).write_text(lines.replace(before, text + before) if before else lines + text)

    def write(self, path, text):
        (self.folder / path).write_text(text)

    def changed(self):
        """The number of lines by which each changed file has grown."""
        return {
            path: len(lines) - len(self.original.get(path, ()))
            for path, lines in self.contents().items()
            if lines != self.original.get(path)
        }

    def run(self, *command):
        """The output of a Python process that imports from this tree; the process must succeed."""
        path = os.pathsep.join([str(self.folder), str(self.folder / "backends")])
        environment = {**os.environ, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"}
        command = [sys.executable, *command]
        done = subprocess.run(command, cwd=self.folder, env=environment, text=True, capture_output=True)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def generate(self):
        return self.run("tools/generate.py")

    def install(self):
        """Write the metadata that ``pip install -e .`` would write: the entry points of pyproject.toml."""
        project = tomllib.loads((self.folder / "pyproject.toml").read_text())["project"]
        metadata = self.folder / "xarrayops-0.dist-info"
        metadata.mkdir()
        (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: xarrayops\nVersion: 0\n")
        points = "".join(f"{k} = {v}\n" for k, v in project["entry-points"]["xarrayops.backends"].items())
        (metadata / "entry_points.txt").write_text(f"[xarrayops.backends]\n{points}")

    def call(self, program):
        own = f"assert xo.__file__.startswith({str(self.folder)!r})\n"
        return self.run("-c", IMPORT + own + program)


@pytest.fixture
def tree(tmp_path):
    pytest.importorskip("ruff", reason="the generator needs ruff")
    return Tree(tmp_path)


SUITE = """
from xarrayops.testing import ContractSuite, Variant, check_row
from xarrayops.testing._suite.suite import rows
try:
    ContractSuite().test_every_verb_is_exercised()
except AssertionError as error:
    print(error)
for row in rows(ContractSuite):
    if row.verb == {verb!r}:
        for library in ({libraries}):
            check_row(Variant(library), row)
            print(row, "passes")
"""
"""Prints the message for missing rows, and runs the rows of a verb on some libraries."""


def test_a_function_of_the_standard_needs_one_line_and_a_row(tree):
    table, suite = "tools/standard.pyi", "xarrayops/testing/_suite/standard/elementwise.py"
    tree.insert(table, "def ceil(", 'def exp2(x: array, /) -> array: "2 to the power of each element."\n')
    printed = tree.generate()
    assert 'standard/elementwise.py has no row yet: row("exp2", oracle' in printed
    tree.install()
    try_suite = SUITE.format(verb="exp2", libraries='"numpy",')
    assert 'add row("exp2", oracle, call(...)) to xarrayops/testing/_suite/standard/elementwise.py' in tree.call(
        try_suite
    )
    tree.insert(suite, '    unary("ceil",', '    unary("exp2", np.exp2, FLOATS),\n')
    assert "no row" not in tree.generate()
    assert tree.call(try_suite) == "exp2 passes\n"
    assert tree.call('print(xo.exp2(np.asarray([1.0])), xo.explain("exp2", np.ones(2)).chosen)') == "[2.] numpy:exp2\n"
    assert tree.call('print("exp2" in dir(xo), xo.backend("numpy").namespace.exp2(1.0))') == "True 2.0\n"
    changed = tree.changed()
    generated = {"xarrayops/standard.py", "xarrayops/standard.pyi", "xarrayops/_surface.py"}
    assert changed.keys() == {table, suite, *generated}
    assert (changed[table], changed[suite]) == (1, 1)


FAMILY = '''"""softmin: exponentials that sum to one."""

from __future__ import annotations

from xarrayops._core.dispatch.lookup import function_for
from xarrayops._ops.explained import explain_call
from xarrayops._ops.verb import Verb
from xarrayops.plugin.arrays import ArrayT


def softmin(x: ArrayT, /, *, axis: int = -1) -> ArrayT:
    """The exponentials of -x, scaled so that they sum to one along an axis."""
    return function_for("softmin", type(x))(x, axis=axis)


VERBS = (Verb("softmin", softmin, hook="softmin", explain=explain_call),)
'''
HOOK = '''

def softmin(xp: ModuleType, x: Array, /, *, axis: int = -1) -> Array:
    """The exponentials of -x, divided by their sum along an axis."""
    powers = xp.exp(xp.min(x, axis=axis, keepdims=True) - x)
    return powers / xp.sum(powers, axis=axis, keepdims=True)
'''
ROW = """    row(
        "softmin",
        lambda x, axis=-1: np.exp(-x) / np.exp(-x).sum(axis=axis, keepdims=True),
        call(sample("float32", CUBE)),
        call(sample("float64", CUBE), axis=0),
    ),
"""


def test_a_verb_with_a_hook_needs_three_files_and_a_line_for_each_backend(tree):
    pytest.importorskip("torch")
    pytest.importorskip("array_api_strict")
    torch = "backends/xarrayops_backends/torch/__init__.py"
    tree.write("xarrayops/_ops/softmin.py", FAMILY)
    tree.insert("xarrayops/_generic/hooks/arrays.py", "", HOOK)
    tree.insert("xarrayops/testing/_suite/standard/reductions.py", '    row("argmax",', ROW)
    tree.insert(torch, "", "def softmin(x, /, *, axis=-1): return torch.softmax(-x, axis)\n")
    tree.generate()
    tree.install()
    program = "import array_api_strict, torch\nfor library in np, array_api_strict, torch:\n"
    explained = tree.call(f'{program}    print(xo.explain("softmin", library.ones((2, 2))).candidates)')
    generic, own = "xarrayops' generic function", "completed by the backend"
    origins = {"numpy": generic, "array_api_strict": generic, "torch": own}
    for line, (name, origin) in zip(explained.splitlines(), origins.items(), strict=True):
        assert f"'{name}:softmin', ok=True" in line
        assert origin in line
    suite = SUITE.format(verb="softmin", libraries='"numpy", "torch", __import__("array_api_strict")')
    misspelt = 'try: xo.explain("softmn")\nexcept xo.Unsupported as error: print(error)'
    printed = tree.call(suite + misspelt)
    assert printed == "softmin passes\n" * 3 + "xo.explain knows no verb 'softmn'; did you mean 'softmin'?\n"
    changed = tree.changed()
    generated = {"xarrayops/__init__.py", "xarrayops/_surface.py"}
    assert changed.pop(torch) == 1
    assert len(changed.keys() - generated) == 3


BACKEND = '''"""array-api-strict."""

import array_api_strict

NAMESPACE = array_api_strict
ARRAY_TYPES = (type(array_api_strict.empty(0)),)
'''


def test_a_backend_needs_one_file_and_one_line(tree):
    pytest.importorskip("array_api_strict")
    tree.write("backends/xarrayops_backends/strict.py", BACKEND)
    line = 'array_api_strict = "xarrayops_backends.strict"\n'
    tree.insert("pyproject.toml", 'cupy = "xarrayops_backends.cupy"', line)
    tree.install()
    program = """
x = xo.ones((2, 3), backend="array_api_strict")
print(type(x).__module__.partition(".")[0], xo.backend(x).module.__name__, xo.explain("sum", x).chosen)
print(xo.convert(xo.sum(xo.relayout(x, "a b -> b a"), axis=0), "numpy"))
"""
    printed = "array_api_strict xarrayops_backends.strict array_api_strict:sum\n[3. 3.]\n"
    assert tree.call(program) == printed
    assert tree.changed() == {"backends/xarrayops_backends/strict.py": 6, "pyproject.toml": 1}
