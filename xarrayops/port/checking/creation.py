"""Arrays of the default library combined with the caller's: new arrays without like=, and arrays of the module."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from xarrayops._surface import CREATION
from xarrayops.port import advice
from xarrayops.port.findings import Finding, finding
from xarrayops.port.source import Program
from xarrayops.port.source.reference import Reference

_NEW = {name for name in CREATION if not name.startswith("random.")} - {"asarray"} | {"identity", "array", "tri"}


def of_call(program: Program, node: ast.Call) -> Iterator[Finding]:
    """A new array in a function that takes arrays."""
    if program.names.numpy_name(node.func) not in _NEW or _copies(program, node):
        return
    is_given = any(keyword.arg == "like" for keyword in node.keywords)
    found = None if is_given else next(_references(program, node), None)
    if found is not None:
        name, certain = found.name, found.certain
        what = f"the new array belongs to the default library, which is NumPy, and {name} to the caller's"
        instead = advice.call_of(node, program.text(node.func), like=name)
        yield finding(program, node, "creation", what, instead, certain=certain)


def of_module(program: Program) -> Iterator[Finding]:
    """Arrays of the module that are combined with arrays of the caller."""
    for node, partner, certain in program.meetings:
        what = f"{node.id} was made by the default library when the module was loaded, and {partner} by the caller's"
        yield finding(program, node, "creation", what, f"np.asarray({node.id}, like={partner})", certain=certain)


def _copies(program: Program, node: ast.Call) -> bool:
    """Whether the argument decides the library: it is an array, or unknown and may be one."""
    if program.names.numpy_name(node.func) != "array" or not node.args:
        return False
    value = program.value(node.args[0])
    members = value.items or ((value.element,) if value.element is not None else ())
    return value.kind not in ("scalar", "sequence") or any(each.kind != "scalar" for each in members)


def _references(program: Program, node: ast.expr) -> Iterator[Reference]:
    """The reference array by each function around a node."""
    for function in program.functions(node):
        found = program.references.of(function, node, program.hidden_names(node, function))
        if found is not None:
            yield found
