"""Each text that the checker's rules and the notes of `rewrite` are made of is made by a program of these tests."""

import ast
import runpy
from pathlib import Path

import pytest

import xarrayops.port
from tests.entered import hooked
from xarrayops.port import rewrite
from xarrayops.port.checking import findings
from xarrayops.port.source import Program

FOLDER = Path(__file__).parent
PORT = Path(xarrayops.port.__file__).parent
FILES = [
    PORT / "advice.py",
    *(PORT / "checking" / f"{name}.py" for name in ("creation", "dtypes", "indices", "methods", "names", "operators")),
    *(PORT / "checking" / f"{name}.py" for name in ("scalars", "unknown", "writes")),
    *(PORT / "rewriting" / f"{name}.py" for name in ("calls", "creation", "methods", "names", "stores", "foreign")),
]
OTHERS = runpy.run_path(str(FOLDER / "others.py"))["OTHERS"]


def texts(path):
    """The places of the texts in the functions of a file: texts of several words and those with values."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    docs = {node.body[0].value for node in functions if isinstance(node.body[0], ast.Expr)}
    for node in functions:
        parts = {part for each in ast.walk(node) if isinstance(each, ast.JoinedStr) for part in ast.walk(each)}
        tuples = {part: each for each in ast.walk(node) if _is_constant(each) for part in ast.walk(each)}
        for each in (each for statement in node.body for each in ast.walk(statement)):
            is_text = isinstance(each, ast.Constant) and isinstance(each.value, str) and " " in each.value
            is_text = is_text and each not in parts and each not in docs
            if (is_text or isinstance(each, ast.JoinedStr)) and "import " not in ast.unparse(each):
                place = tuples.get(each, each)  # a tuple of constants is one constant
                yield place.lineno, place.col_offset, place.end_lineno, place.end_col_offset


def _is_constant(node):
    is_tuple = isinstance(node, ast.Tuple)
    return is_tuple and all(isinstance(each, ast.Constant) or _is_constant(each) for each in node.elts)


def executed(run):
    """The places of the instructions of these files that run."""
    files, found = {str(path) for path in FILES}, set()

    def trace(frame, event, argument):
        if event == "call":
            if frame.f_code.co_filename not in files:
                return None
            frame.f_trace_opcodes = True
        elif event == "opcode":
            found.add((frame.f_code, frame.f_lasti))
        return trace

    with hooked(trace, "trace"):
        run()
    positions = {code: [*code.co_positions()] for code, _ in found}
    return {(code.co_filename, positions[code][at // 2]) for code, at in found}


def programs():
    by_hand = runpy.run_path(str(FOLDER / "by_hand.py"))["BY_HAND"]
    mechanical = runpy.run_path(str(FOLDER / "programs.py"))
    return [*mechanical["FINDINGS"], *mechanical["TODOS"], *by_hand, *OTHERS]


def test_each_text_has_a_program(tmp_path):
    pytest.importorskip("libcst")
    path, package = tmp_path / "program.py", tmp_path / "package"
    package.mkdir()
    (package / "__init__.py").touch()
    (tmp_path / "helper.py").write_text("import numpy as np\ndef g(x):\n    return np.sin(x)\n")

    def run():
        for source in programs():
            path.write_text(f"import numpy as np\nimport xarrayops as xo\n{source}\n")
            findings(Program.read(path))
            rewrite(path)
            if source in OTHERS:
                rewrite(path, return_arguments=True, style="xo")
                for each in (path, package / "module.py"):
                    each.write_text(path.read_text())
                    rewrite(each, scipy_array_api=True)

    reached: dict[str, set[tuple[int, int, int, int]]] = {}
    for name, (line, end_line, column, end_column) in executed(run):
        if None not in (line, end_line, column, end_column):
            reached.setdefault(name, set()).add((line, column, end_line, end_column))
    missing = []
    for file in FILES:
        for line, column, end_line, end_column in texts(file):
            spans = reached.get(str(file), set())
            if not any((line, column) <= s[:2] and s[2:] <= (end_line, end_column) for s in spans):
                missing.append(f"{file.name}:{line}: {file.read_text().splitlines()[line - 1].strip()}")
    assert not missing, "\n".join(missing)
