"""Conversions of elements to Python numbers in loops, and Python loops over elements."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from xarrayops.port.findings import ALL, Finding, finding
from xarrayops.port.source import Place, Program, indices
from xarrayops.port.source.value import Value

_PULLS = frozenset(f"builtins.{name}" for name in ("float", "int", "bool", "complex"))
_ITERATIONS = frozenset(f"builtins.{name}" for name in ("sum", "min", "max", "any", "all", "sorted", "list", "tuple"))
_METHODS = ("item", "tolist")
_LOOPS = ast.For | ast.AsyncFor


def rules(program: Program) -> Iterator[Finding]:
    """Findings about elements that are converted to Python numbers one at a time."""
    for place in program.places:
        node = place.node
        if isinstance(node, _LOOPS):
            yield from _of_loop(program, place, node)
        elif place.loops and isinstance(node, ast.Call):
            yield from _of_call(program, node)
        if isinstance(node, ast.While) or (place.loops and isinstance(node, ast.If | ast.IfExp | ast.Assert)):
            yield from _of_test(program, node.test)
        if isinstance(node, ast.Call) and not isinstance(place.parent, ast.Starred):
            yield from _of_iteration(program, node)


def _of_call(program: Program, node: ast.Call) -> Iterator[Finding]:
    name = program.names.resolve(node.func)
    is_number = name in _PULLS or (name is not None and name.startswith("math."))
    target = node.args[0] if is_number and node.args else None
    if name is None and isinstance(node.func, ast.Attribute) and node.func.attr in _METHODS:
        target = node.func.value
    if target is not None and (value := program.value(target)).is_array:
        yield _pull(program, node, value)


def _pull(program: Program, node: ast.expr, value: Value) -> Finding:
    what = "a number is read from an array in each step of a loop: each step waits for the device, and computes on Dask"
    instead = "keep it as an array (np.where for choices), or read all numbers once after the loop"
    return finding(program, node, "scalar", what, instead, ALL, certain=value.certain)


def _of_test(program: Program, test: ast.expr) -> Iterator[Finding]:
    """A branch on the value of an array."""
    for part in test.values if isinstance(test, ast.BoolOp) else [test]:
        tested = part.operand if isinstance(part, ast.UnaryOp) and isinstance(part.op, ast.Not) else part
        if (value := program.value(tested)).is_array:
            what = "a choice by the value of an array in each step of a loop: every step waits for the device"
            instead = "np.where, or a fixed number of steps and one test after several of them"
            yield finding(program, tested, "scalar", what, instead, ALL, certain=value.certain)


def _of_iteration(program: Program, node: ast.Call) -> Iterator[Finding]:
    """A Python function that iterates over the elements."""
    name = program.names.resolve(node.func)
    value = program.value(node.args[0]) if len(node.args) == 1 else None
    if name in _ITERATIONS and value is not None and value.is_array and value.ndim != 0:
        short = name.removeprefix("builtins.") if name else ""
        text = program.text(node.args[0])
        instead = f"np.{short}({text})" if short in ("sum", "min", "max", "any", "all") else f"np.sort({text})"
        instead = (
            instead
            if short in ("sum", "min", "max", "any", "all", "sorted")
            else f"np.unstack({text}), or {text} itself"
        )
        what = f"Python's {short} visits the elements one by one: one operation and one wait for each"
        yield finding(program, node, "loop", what, instead, ALL, certain=value.certain)


def _of_loop(program: Program, place: Place, node: ast.For | ast.AsyncFor) -> Iterator[Finding]:
    """The outermost loop whose variable selects single elements."""
    if any(isinstance(loop, _LOOPS) and _elements(program, loop) for loop in place.loops):
        return
    found = _elements(program, node)
    if not found:
        return
    certain = any(value.certain for value in found)
    what = "a loop in Python over the elements of an array: each element costs at least one launch"
    yield finding(program, node, "loop", what, "slices or index arrays for all elements at once", ALL, certain=certain)


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
    if iterated.is_array and iterated.ndim == 1:
        found.append(iterated)
    return found


def _selects_one(program: Program, node: ast.Subscript) -> bool:
    """Whether an index is known to select one element."""
    found = indices.kinds(node.slice, program.values.known)
    ndim = program.value(node.value).ndim
    is_whole = len(found) == ndim or (ndim is None and len(found) > 1)
    return is_whole and all(kind == indices.INTEGER for kind in found)
