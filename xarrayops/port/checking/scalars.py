"""Conversions of elements to Python numbers in loops, and Python loops over elements."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from xarrayops.port.findings import Finding, finding
from xarrayops.port.source import Program, indices
from xarrayops.port.source.value import PYTHON_NUMBERS, Value

_ITERATIONS = {
    **{name: f"np.{name}({{0}})" for name in ("min", "max", "any", "all")},
    "sum": "np.sum({0}, axis=0)",
    "sorted": "np.sort({0})",
    **dict.fromkeys(("list", "tuple"), "np.unstack({0})  # or {0} itself"),
}
"""What to write instead of Python's functions that iterate over elements."""
_METHODS = ("item", "tolist")
_LOOPS = ast.For | ast.AsyncFor


def of_call(program: Program, node: ast.Call) -> Iterator[Finding]:
    """An element that is converted to a number in a loop."""
    name = program.names.resolve(node.func)
    is_number = name in PYTHON_NUMBERS or (name is not None and name.startswith("math."))
    target = node.args[0] if is_number and node.args else None
    if name is None and isinstance(node.func, ast.Attribute) and node.func.attr in _METHODS:
        target = node.func.value
    if target is None or not program.places[node].loops or not program.value(target).is_array:
        return
    what = "a number is read from an array in each step of a loop: each step waits for the device, and computes on Dask"
    instead = "keep it as an array (np.where for choices), or read all numbers once after the loop"
    yield finding(program, node, "scalar", what, instead, certain=program.value(target).certain)


def of_test(program: Program, node: ast.While | ast.If | ast.IfExp | ast.Assert) -> Iterator[Finding]:
    """A branch on the value of an array in a loop."""
    if not isinstance(node, ast.While) and not program.places[node].loops:
        return
    for part in node.test.values if isinstance(node.test, ast.BoolOp) else [node.test]:
        tested = part.operand if isinstance(part, ast.UnaryOp) and isinstance(part.op, ast.Not) else part
        if (value := program.value(tested)).is_array:
            what = "a choice by the value of an array in each step of a loop: every step waits for the device"
            instead = "np.where, or a fixed number of steps and one test after several of them"
            yield finding(program, tested, "scalar", what, instead, certain=value.certain)


def of_iteration(program: Program, node: ast.Call) -> Iterator[Finding]:
    """A Python function that iterates over the elements."""
    name = (program.names.resolve(node.func) or "").removeprefix("builtins.")
    if name not in _ITERATIONS or len(node.args) != 1 or isinstance(program.parents[node], ast.Starred):
        return
    value = program.value(node.args[0])
    if value.is_array and value.ndim != 0:
        what = f"Python's {name} visits the elements one by one: one operation and one wait for each"
        instead = _ITERATIONS[name].format(program.text(node.args[0]))
        instead = "functions of NumPy for the whole array" if node.keywords else instead
        yield finding(program, node, "loop", what, instead, certain=value.certain)


def of_loop(program: Program, node: ast.For | ast.AsyncFor) -> Iterator[Finding]:
    """The outermost loop whose variable selects single elements."""
    if any(isinstance(loop, _LOOPS) and _elements(program, loop) for loop in program.places[node].loops):
        return
    if found := _elements(program, node):
        certain = any(value.certain for value in found)
        what = "a loop in Python over the elements of an array: each element costs at least one launch"
        yield finding(program, node, "loop", what, "slices or index arrays for all elements at once", certain=certain)


def _elements(program: Program, loop: ast.For | ast.AsyncFor) -> list[Value]:
    """The arrays that a loop indexes by single elements or iterates over."""
    names = {name.id for name in ast.walk(loop.target) if isinstance(name, ast.Name)}
    found = []
    for node in (inner for statement in loop.body for inner in ast.walk(statement)):
        if isinstance(node, ast.Subscript) and (base := program.value(node.value)).is_array:
            used = {name.id for name in ast.walk(node.slice) if isinstance(name, ast.Name)}
            if used & names and _selects_one(program, node):
                found.append(base)
    iterated = program.value(loop.iter)
    return [*found, iterated] if iterated.is_array and iterated.ndim == 1 else found


def _selects_one(program: Program, node: ast.Subscript) -> bool:
    """Whether an index is known to select one element."""
    found = indices.kinds(node.slice, program.values.known)
    ndim = program.value(node.value).ndim
    is_whole = len(found) == ndim or (ndim is None and len(found) > 1)
    return is_whole and all(kind == indices.INTEGER for kind in found)
