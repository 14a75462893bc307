"""Arrays of the default library combined with the caller's: new arrays without like=, and arrays of the module."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from xarrayops._surface import CREATION
from xarrayops.port.findings import Finding, finding
from xarrayops.port.source import Program
from xarrayops.port.source.names import FunctionNode, arguments
from xarrayops.port.source.value import UNKNOWN

_NEW = CREATION - {"asarray"} | {"identity", "array", "tri"}


def rules(program: Program) -> Iterator[Finding]:
    """Findings about functions that combine new arrays, or arrays of the module, with arrays of the caller."""
    yield from _of_module(program)
    given: dict[FunctionNode, tuple[str, bool] | None] = {}
    for place in program.places:
        node, function = place.node, place.function
        if function is None or not isinstance(node, ast.Call) or program.names.numpy_name(node.func) not in _NEW:
            continue
        if any(keyword.arg == "like" for keyword in node.keywords) or _copies(program, node):
            continue
        if function not in given:
            given[function] = _array_parameter(program, function)
        if (found := given[function]) is not None:
            name, certain = found
            what = f"the new array belongs to the default library, which is NumPy, and {name} to the caller's"
            text = program.text(node)
            instead = f"{text[:-1]}, like={name}), or the call in a block with xo.use({name})"
            yield finding(program, node, "creation", what, instead, certain=certain)


def _of_module(program: Program) -> Iterator[Finding]:
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


def _array_parameter(program: Program, function: FunctionNode) -> tuple[str, bool] | None:
    """The first parameter that is an array, and whether that is certain; one with an index is a guess."""
    indexed = {
        node.value.id
        for node in ast.walk(function)
        if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name) and isinstance(node.ctx, ast.Load)
    }
    found = []
    for name in (argument.arg for argument in arguments(function)):
        value = program.values.parameter(function, name)
        if value.is_array or (value.kind == UNKNOWN and name in indexed):
            found.append((name, value.is_proved))
    return max(found, key=lambda pair: pair[1]) if found else None
