"""The run with counting arrays: its results equal NumPy's, and its counts are right."""

import runpy
import subprocess
import sys
import textwrap
import warnings
from pathlib import Path

import numpy
import pytest

from tests.unit.port.loaded_modules import process
from xarrayops.port.source import PortError, Program
from xarrayops.port.trace import operations
from xarrayops.port.trace.run import run

SNIPPETS = runpy.run_path(str(Path(__file__).parent / "snippets.py"))
NAMES = ("v", "w", "i", "m", "a", "b", "u", "c", "j")
FIRST = 3
"""The first line of the body of a traced function."""


def traced(body, tmp_path, *, call="f()"):
    """The trace of a function with this body, and what it returned."""
    path = tmp_path / "program.py"
    path.write_text(f"import numpy as np\ndef f(*args):\n{textwrap.indent(textwrap.dedent(body), '    ')}\n")
    return run(Program.read(path), call)


@pytest.mark.parametrize(
    "snippet", [s for name in ("METHODS", "OPERATORS", "ASSIGNMENTS", "UNFLAGGED") for s in SNIPPETS[name]]
)
def test_a_traced_program_does_what_numpy_does(snippet, tmp_path):
    """The traced program compares its values with the same program on NumPy itself."""
    text = f"{SNIPPETS['SETUP']}{snippet}\n"
    wanted = {"np": numpy}
    if "np.ndarray" in snippet and "type(" in snippet:
        pytest.skip("the class of the arrays is that of the trace")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exec(text, wanted)
        variables = []
        path = tmp_path / "program.py"
        path.write_text(f"import numpy as np\n{text}\ndef f(keep):\n    keep(dict(globals()))\n")
        import builtins

        builtins.keep_variables = variables.append
        try:
            run(Program.read(path), "f(keep_variables)")
        finally:
            del builtins.keep_variables
    found = variables[0]
    for name in (*NAMES, *(["r"] if "r" in wanted else [])):
        assert is_same(wanted[name], found[name]), name


def is_same(x, y):
    if isinstance(x, list | tuple):
        return len(x) == len(y) and all(map(is_same, x, y))
    if isinstance(x, numpy.ndarray | numpy.generic):
        y = numpy.asarray(y)
        return x.dtype == y.dtype and x.shape == y.shape and numpy.array_equal(x, y, equal_nan=x.dtype.kind in "fc")
    return bool(x == y) or type(x).__name__ in ("flatiter", "memoryview")


@pytest.mark.parametrize(
    ("body", "numbers"),
    [
        ("x = np.ones(3)\nfor k in range(5):\n    float(x[0])", {5: 5}),
        ("x = np.ones(3)\nwhile x[0] < 4:\n    x = x + 1", {4: 4}),
        ("x = np.ones(3)\nif x.any():\n    pass", {4: 1}),
        ("x = np.ones(3)\ny = f'{x[0]:.2f}' + str(x[0])", {4: 2}),
        ("x = np.arange(3)\ny = [1, 2, 3][x[1]]", {4: 1}),
        ("x = np.ones(3)\ny = x.sum() + x.mean()", {}),
        ("x = np.ones(3)\ny = x[0].item()", {4: 1}),
        ("x = np.ones(3)\ny = round(x[0], 2)", {4: 1}),
        ("x = np.ones(3)\ny = sum(x)", {}),
        ("import math\nx = np.ones(3)\ny = math.sqrt(x[0])", {5: 1}),
    ],
)
def test_numbers(body, numbers, tmp_path):
    assert dict(traced(body, tmp_path).numbers) == numbers


@pytest.mark.parametrize(
    ("body", "kind", "nbytes", "flops"),
    [
        ("args[0] + args[0]", operations.ELEMENTWISE, 3 * 80_000, 0),
        ("np.exp(args[0])", operations.MATH, 2 * 80_000, 0),
        ("args[0].sum()", operations.REDUCTION, 80_000, 0),
        ("args[0] @ args[0]", operations.PRODUCT, 3 * 80_000, 2 * 100**3),
        ("args[0][:8] @ args[0]", operations.THIN_PRODUCT, 80_000 + 2 * 6400, 2 * 8 * 100**2),
        ("np.dot(args[0], args[0][:, :1])", operations.VECTOR_PRODUCT, 80_000 + 2 * 800, 2 * 100**2),
        ("args[0] @ args[0][0]", operations.VECTOR_PRODUCT, 80_000 + 2 * 800, 2 * 100**2),
        ("args[0][1:]", operations.VIEW, 0, 0),
        ("args[0].T.copy()", operations.COPY, 2 * 80_000, 0),
        ("args[0][[1, 2, 3]]", operations.GATHER, 4800, 0),
        ("args[0][0] = 2.0", operations.ASSIGNMENT, 1600, 0),
        ("np.zeros((100, 100))", operations.CREATION, 80_000, 0),
        ("np.sort(args[0])", operations.SORT, 2 * 80_000, 0),
        ("np.linalg.inv(args[0] + np.eye(100))", operations.LINALG, 2 * 80_000, 100**3),
    ],
)
def test_operations(body, kind, nbytes, flops, tmp_path):
    """Sizes are recorded with two binary digits: at least two thirds of the exact number."""
    trace = traced(body, tmp_path, call="f(np.ones((100, 100)))")
    found = [operation for operation in trace.operations if operation.kind == kind]
    assert found
    assert trace.argument_bytes == 80_000
    largest = max(found, key=lambda operation: operation.bytes)
    assert nbytes * 2 / 3 <= largest.bytes <= nbytes
    assert flops * 2 / 3 <= largest.flops <= flops
    assert largest.line == FIRST


def test_functions_and_operators_differ(tmp_path):
    trace = traced("x = args[0]\nx + x\nnp.add(x, x)\nnp.add.reduce(x)\nx.sum()", tmp_path, call="f(np.ones(9))")
    by_line = {operation.line: operation.by_function for operation in trace.operations}
    assert by_line == {FIRST + 1: False, FIRST + 2: True, FIRST + 3: True, FIRST + 4: False}


@pytest.mark.parametrize(
    ("body", "counter", "lines"),
    [
        ("x = np.zeros(4)\ny = x[1:]\ny[0] = 1", "views_written", {5}),
        ("x = np.zeros(4)\ny = x[1:]\ny += 1", "views_written", {5}),
        ("x = np.zeros(4)\ny = x[1:]\nnp.add(y, 1, out=y)", "views_written", {5}),
        ("x = np.zeros(4)\nx[0] = 1\nx += 1\ny = x[1:].copy()\ny[0] = 2", "views_written", set()),
        ("x = np.zeros(4)\nx[1:] += 1\nx[:2] *= 2", "views_written", set()),
        ("x = np.zeros(4)\ny = x[1:]\ny[1:] += 1", "views_written", {5}),
        ("x = np.zeros(4)\nx[[0, 0]] = 1", "duplicates", {4}),
        ("x = np.zeros(4)\nx[np.array([1, 2, 1])] += 1", "duplicates", {4}),
        ("x = np.zeros((4, 4))\nx[[0, 0], [1, 2]] = 1", "duplicates", set()),
        ("x = np.zeros(4)\nnp.add.at(x, [0, 0], 1)", "duplicates", {4}),
        ("x = np.ones(4)\ny = x[x > 0]", "data_dependent", {4}),
        ("x = np.ones(4)\ny = np.nonzero(x)\nz = np.where(x)\nw = np.where(x, 1, 2)", "data_dependent", {4, 5}),
    ],
)
def test_hazards(body, counter, lines, tmp_path):
    assert set(getattr(traced(body, tmp_path), counter)) == lines


def test_foreign_calls(tmp_path):
    pytest.importorskip("scipy")
    body = "from scipy.signal import lfilter\nx = np.ones(1000)\ny = lfilter([1.0, 2.0], [1.0], x)\nreturn y + 1"
    trace = traced(body, tmp_path)
    assert trace.foreign == {5: (1, 16_000)}
    assert [operation.line for operation in trace.operations] == [4, 6]
    assert trace.foreign_s > 0
    assert trace.result_bytes == 8000


def test_numbers_behave_as_those_of_numpy(tmp_path):
    body = """
    x = np.ones(3)
    s = x[0]
    t = s
    s += 1
    assert t == 1 and s == 2
    x[0] = 5
    assert t == 1
    assert {t: 2}[1.0] == 2
    assert x[1].is_integer()
    assert isinstance(x, np.ndarray) and np.float64(t) == 1
    assert list(range(np.argmax(x) + 1)) == [0]
    generator = np.random.default_rng(0)
    return generator.random(3).shape
    """
    traced(body, tmp_path)


@pytest.mark.parametrize(
    ("body", "call", "message"),
    [
        ("return 1 / 0", "f()", "line 3: the call f\\(\\) raises ZeroDivisionError"),
        ("raise SystemExit(3)", "f()", "raises SystemExit: 3. Instead: a call that runs"),
        ("return 1", "f(", "is not Python"),
        ("return 1", "f", "is not a call of a function"),
        ("return 1", "g()", "NameError: name 'g' is not defined"),
    ],
)
def test_errors(body, call, message, tmp_path):
    with pytest.raises(PortError, match=message):
        traced(body, tmp_path, call=call)


def test_the_process_is_as_before(tmp_path, capfd):
    (tmp_path / "sibling.py").write_text("value = 3\n")
    before = process(tmp_path)
    path = tmp_path / "program.py"
    path.write_text(
        "import numpy as np, sibling\nprint('imported')\ndef f():\n    return np.ones(sibling.value)\n"
        "if __name__ == '__main__':\n    raise SystemExit('executed')\n"
    )
    trace = run(Program.read(path), "f()")
    assert trace.result_bytes == 24
    assert process(tmp_path) == before
    assert capfd.readouterr().out == ""


HELPERS = """import numpy as np
TABLE = np.arange(3.0)
def doubled(x):
    return np.asarray(x, dtype=float) * 2 + TABLE
"""


@pytest.mark.parametrize("package", [False, True])
def test_the_other_modules_of_the_program_count(package, tmp_path):
    """Their operations count at the line that calls them, and not as calls of other packages."""
    if package:
        (tmp_path / "__init__.py").touch()
    (tmp_path / "helpers_of_program.py").write_text(HELPERS)
    dot = "." if package else ""
    path = tmp_path / "program.py"
    text = f"import numpy as np\nfrom {dot}helpers_of_program import doubled\ndef f(x):\n    return doubled(x).sum()\n"
    path.write_text(text)
    before = process(tmp_path), list(sys.meta_path)
    trace = run(Program.read(path), "f(np.ones(3))")
    assert not trace.foreign
    assert {operation.kind for operation in trace.operations} >= {operations.ELEMENTWISE, operations.REDUCTION}
    assert {operation.line for operation in trace.operations} == {4}
    assert (process(tmp_path), list(sys.meta_path)) == before


def test_sources_stay_as_they_are(tmp_path):
    """Calls of other packages are counted in a copy of the tree."""
    path = tmp_path / "program.py"
    path.write_text("import math\nimport scipy.special as s\ndef f():\n    return s.gamma(3.0)\n")
    program = Program.read(path)
    run(program, "f()")
    assert "counted" not in subprocess.list2cmdline([__import__("ast").unparse(program.source.tree)])


def test_the_time_without_counting(tmp_path):
    body = """
    x = np.ones(3)
    for k in range(2000):
        s = x[0] * 2.0 + x[1]
    args[0].append(type(s))
    return s
    """
    path = tmp_path / "program.py"
    path.write_text(f"import numpy as np\nseen = []\ndef f(*args):\n{textwrap.indent(textwrap.dedent(body), '    ')}\n")
    trace = run(Program.read(path), "f(seen)")
    assert trace.counts is False
    assert trace.calls == 8001
    assert 0 < trace.plain_s < trace.operation_s, "the trace takes longer than the program"
    assert 0 <= trace.python_s <= trace.plain_s


def test_a_call_that_can_be_made_once_only(tmp_path):
    path = tmp_path / "program.py"
    path.write_text("import numpy as np\nleft = [np.ones(3)]\ndef f():\n    return left.pop() + 1\n")
    trace = run(Program.read(path), "f()")
    assert trace.plain_s is None
    assert trace.calls == 1


def test_views_are_one_operation(tmp_path):
    trace = traced("np.flip(args[0])\nargs[0].T\nnp.reshape(args[0], -1)", tmp_path, call="f(np.ones((2, 2)))")
    assert [operation.kind for operation in trace.operations] == [operations.VIEW] * 2
