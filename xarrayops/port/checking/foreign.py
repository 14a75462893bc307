"""Functions of other packages, which need host memory."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from xarrayops.port.findings import ALL, NUMPY_CODE, Finding, finding
from xarrayops.port.source import Program
from xarrayops.port.source.names import is_foreign

_COMPILERS = ("numba", "pythran", "transonic", "cython", "numexpr")


def rules(program: Program) -> Iterator[Finding]:
    """Findings about arrays passed to other packages, and functions compiled by other packages."""
    for call in program.nodes(ast.Call):
        yield from _of_call(program, call)
    for function in program.nodes(ast.FunctionDef):
        for decorator in function.decorator_list:
            yield from _of_decorator(program, decorator)


def _of_call(program: Program, node: ast.Call) -> Iterator[Finding]:
    name = program.names.resolve(node.func)
    if name is None or not is_foreign(name):
        return
    values = [program.value(each) for each in (*node.args, *(keyword.value for keyword in node.keywords))]
    arrays = [value for value in values if value.is_array]
    if arrays:
        what = f"{name} takes NumPy arrays in host memory: it refuses arrays on a device, and returns NumPy arrays"
        first = next(each for each in node.args or [node.func] if program.value(each).is_array or each is node.func)
        text = program.text(first)
        instead = f'{name}(xo.convert({text}, "numpy")), and xo.convert(result, {text}) for the result'
        certain = all(value.certain for value in arrays)
        yield finding(program, node, "foreign call", what, instead, ALL, certain=certain)


def _of_decorator(program: Program, node: ast.expr) -> Iterator[Finding]:
    name = program.names.resolve(node.func if isinstance(node, ast.Call) else node)
    if name is not None and name.partition(".")[0] in _COMPILERS:
        what = f"{name} {NUMPY_CODE}"
        instead = "the same computation on whole arrays, without the decorator; or keep the function on the CPU"
        yield finding(program, node, "foreign call", what, instead)
