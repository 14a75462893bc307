"""The CuPy backend on the real CuPy, which imports without a GPU: every name and argument that it uses exists.

Run by make cupy-signatures, in an environment of its own.
"""

from __future__ import annotations

import ast
import inspect
import json
import runpy
from pathlib import Path

import array_api_compat.cupy
import cupy
import pytest
import xarrayops_backends.cupy

import xarrayops as xo
from xarrayops.plugin import gap_of

ROOT = Path(__file__).parents[2]
TOOL = runpy.run_path(str(ROOT / "tools" / "cupy_signatures.py"))
BACKEND = sorted(Path(xarrayops_backends.cupy.__file__).parent.glob("*.py"))
COMPAT = sorted(Path(array_api_compat.cupy.__file__).parent.glob("*.py"))
GAPS = {"pin_memory", "compiled", "value_and_grad", "vjp", "vmap"}
"""What CuPy lacks: a function that pins the memory of its arrays, a compiler of functions, and transformations."""


def test_this_is_the_real_cupy():
    assert "standin" not in cupy.__version__
    assert cupy.__version__ == json.loads(TOOL["FILE"].read_text())["cupy"]


def test_the_backend_loads_without_missing_functions():
    backend = xo.backend("cupy")
    assert {name for name, function in backend.functions.items() if gap_of(function) is not None} == GAPS
    assert backend.sparse is not None


def named(path):
    """The dotted names under ``cupy`` and ``cupyx`` in a module, except those that it tests with ``hasattr``.

    Each name comes with the call of which it is the function, or None.
    """
    tree = ast.parse(path.read_text())
    aliases = {
        alias.asname or alias.name.partition(".")[0]: alias.name if alias.asname else alias.name.partition(".")[0]
        for node in ast.walk(tree)
        if isinstance(node, ast.Import)
        for alias in node.names
        if alias.name.partition(".")[0] in ("cupy", "cupyx")
    }
    aliases |= {
        alias.asname or alias.name: f"{node.module}.{alias.name}"
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] in ("cupy", "cupyx")
        for alias in node.names
        if alias.name != "*"
    }
    calls = {id(node.func): node for node in ast.walk(tree) if isinstance(node, ast.Call)}
    tested = {ast.unparse(call.args[1]).strip("'") for call in calls.values() if ast.unparse(call.func) == "hasattr"}
    inner = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    for node in ast.walk(tree):
        if isinstance(node, (ast.Attribute, ast.Name)) and id(node) not in inner:
            root, _, rest = ast.unparse(node).partition(".") if _is_dotted(node) else ("", "", "")
            if root in aliases and rest.rpartition(".")[2] not in tested:
                yield ".".join(filter(None, (aliases[root], rest))), calls.get(id(node))


def _is_dotted(node):
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name)


def resolved(name):
    """The object with this name; if the name ends in attributes of a value, the object of its longest part in CuPy."""
    found = TOOL["resolve"](name.partition(".")[0])
    for attribute in name.split(".")[1:]:
        found = getattr(found, attribute)
    return found


@pytest.mark.parametrize("path", BACKEND + COMPAT, ids=lambda path: f"{path.parts[-3]}-{path.stem}")
def test_names_and_arguments_exist(path):
    wrong = []
    for name, call in named(path):
        try:
            found = resolved(name)
        except AttributeError as error:
            wrong.append(f"{name}: {error}")
            continue
        text = TOOL["signature_of"](name, found) if call is not None and callable(found) else None
        if text is None or any(isinstance(arg, ast.Starred) for arg in call.args):
            continue
        signature = inspect.signature(eval(f"lambda {text}: None"))
        keywords = {k.arg: None for k in call.keywords if k.arg is not None}
        try:
            (signature.bind_partial if len(keywords) < len(call.keywords) else signature.bind)(*call.args, **keywords)
        except TypeError as error:
            wrong.append(f"line {call.lineno}: {ast.unparse(call)}: {error}")
    assert not wrong, "\n".join(wrong)


def test_the_scan_finds_what_does_not_exist(tmp_path):
    module = tmp_path / "module.py"
    module.write_text("import cupy as cp\nfrom cupy.cuda import runtime\ncp.sort(1, stable=True)\nruntime.no_such()\n")
    assert [name for name, _ in named(module)] == ["cupy.sort", "cupy.cuda.runtime.no_such"]
    with pytest.raises(AssertionError, match=r"(?s)stable.*no_such|no_such.*stable"):
        test_names_and_arguments_exist(module)
