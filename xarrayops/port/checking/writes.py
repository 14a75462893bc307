"""Assignments to elements, changes in place, and writes through views."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from xarrayops.port import advice
from xarrayops.port.findings import Finding, Kind, finding
from xarrayops.port.source import Program, writes
from xarrayops.port.source.expressions import operated
from xarrayops.port.source.indices import MASK, SLICE, has_key, kinds
from xarrayops.port.source.names import arguments
from xarrayops.port.source.values import root
from xarrayops.port.source.writes import Write

JAX, LAZY = ("jax",), ("jax", "dask")


def of_writes(program: Program) -> Iterator[Finding]:
    """Everything that changes an array."""
    for write in program.writes:
        if write.kind in _RULES:
            yield from _RULES[write.kind](program, write)


def of_update(program: Program, node: ast.Call) -> Iterator[Finding]:
    """``xo.at`` in a loop."""
    method = node.func.attr if isinstance(node.func, ast.Attribute) else ""
    is_copy = program.names.updated(node) is not None and method not in ("assign", "get")  # they never copy x
    is_copy = is_copy and not any(each.arg == "copy" for each in node.keywords)
    if is_copy and program.places[node].loops:
        what = "xo.at in a loop copies the whole array in each step"
        function = ast.unparse(node.func)
        instead = f"{advice.call_of(node, function, copy='None')}  # if nothing else needs the previous array"
        yield finding(program, node, "copy", what, instead)


def _of_item(program: Program, write: Write) -> Iterator[Finding]:
    """``x[i] = v`` and ``x[i] += v``: JAX has no such assignment, and on Dask views are copies."""
    node = write.node
    name = program.text(write.target)
    copies = " (in a loop: each step copies the array)" if program.places[node].loops else ""
    code = advice.statement(program, node) if isinstance(node, ast.stmt) else None
    instead = code or f"xo.at on the array that {name} is a view of"
    if isinstance(node, ast.For) and write.subscript is not None:
        instead = f"a variable of the loop, and {advice.at(name, write.subscript)}.assign(variable) inside"
    is_key = isinstance(write.target, ast.Subscript) and has_key(write.target.slice)
    is_unnamed = isinstance(write.target, ast.Subscript | ast.Call) and not is_key  # as in ``x[1:][0] = v``
    if (is_unnamed and not advice.is_copied(program, write.target)) or (write.is_viewed and not write.parameter):
        others = _listed(write.aliases) or "the array that it is a view of"
        what = f"the assignment also changes {others}: JAX has no such assignment, and on Dask views are copies"
        yield finding(program, node, "view", what, instead, LAZY, certain=write.value.certain)
    else:
        what = f"JAX arrays cannot change{copies}"
        assigned = program.value(node.value) if isinstance(node, ast.Assign | ast.AugAssign) else write.value
        certain = write.value.is_proved or assigned.is_proved
        if write.parameter and code is not None:
            instead = advice.shared(code)
        yield finding(program, node, "item assignment", what, instead, JAX, certain=certain)
    yield from _of_assigned(program, write)


def _of_assigned(program: Program, write: Write) -> Iterator[Finding]:
    """The value that is assigned: a list, or a part of the same array that overlaps."""
    node = write.node
    if not isinstance(node, ast.Assign | ast.AugAssign) or write.subscript is None:
        return
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    selected = kinds(write.subscript, program.values.known)
    value = program.value(node.value)
    given = program.text(node.value)
    if isinstance(node.value, ast.List | ast.Tuple) and not isinstance(targets[0], ast.Tuple | ast.List):
        instead = f"np.asarray({ast.unparse(node.value)}, like={program.text(write.target)})"
        yield finding(program, node.value, "item assignment", "torch assigns no lists and tuples", instead, ("torch",))
    if (
        isinstance(node.value, ast.Subscript)
        and write.name == root(node.value)
        and value.views
        and SLICE in selected
        and program.text(node.value.slice) != program.text(write.subscript)
    ):
        what = "the elements that are read and written may overlap: NumPy copies them first, and torch does not"
        yield finding(program, node.value, "item assignment", what, f"np.copy({given})", ("torch",))
    read = (each.slice for each in ast.walk(node.value) if isinstance(each, ast.Subscript))
    reads = isinstance(node, ast.AugAssign) or any(MASK in kinds(each, program.values.known) for each in read)
    if MASK in selected and reads:
        what = "both sides select by a mask: on Dask both sizes are unknown"
        instead = advice.where(program, node) or "np.where with the new values of all elements"
        yield finding(program, node, "item assignment", what, instead, ("dask",))


def _of_augmented(program: Program, write: Write) -> Iterator[Finding]:
    """``x += v`` if something else shares the memory, or if the dtype would change."""
    node = write.node
    assert isinstance(node, ast.AugAssign)
    text = program.text(write.target)
    if write.is_shared:
        others = "the caller's array" if write.parameter else _listed(write.aliases) or "what else refers to it"
        what = f"{text} changes in place, and so does {others}; on JAX and Dask only {text} does"
        kind: Kind = "in place" if write.parameter else "view"
        instead = f"return {text}  # at the end; each caller takes the result"
        is_parameter = write.function is not None and text in {each.arg for each in arguments(write.function)}
        if not is_parameter:
            instead = f"write the change into {others}, and make {text} from it again"
        yield finding(program, node, kind, what, instead, LAZY, certain=write.value.certain)
    new = operated(node.op, write.value, program.value(node.value))
    if new.dtype is not None and write.value.dtype not in (None, new.dtype):
        what = f"{text} keeps {write.value.dtype} on NumPy and torch, and becomes {new.dtype} on JAX and Dask"
        instead = advice.assignment(program, node) or f"xo.at on the array that {text} is a view of"
        yield finding(program, node, "in place", what, instead, LAZY, certain=write.value.certain)


def _of_function(program: Program, write: Write) -> Iterator[Finding]:
    """A function that works in place."""
    assert isinstance(write.node, ast.Call)
    text = f"a new array for {program.text(write.target)}, for example with xo.at or np.where"
    instead = advice.in_place(program, write.node, write.target) or text
    what = f"{program.text(write.node.func)} changes an array, and arrays of JAX and Dask cannot change"
    yield finding(program, write.node, "in place", what, instead, LAZY)


def _of_out(program: Program, write: Write) -> Iterator[Finding]:
    """``np.f(x, out=y)``."""
    assert isinstance(write.node, ast.Call)
    if write.value.is_array:
        code = advice.in_place(program, write.node, write.target)
        code = advice.shared(code) if code is not None and write.parameter else code
        text = f"the result of {program.text(write.node.func)} without out=, and {program.text(write.target)} for it"
        what, certain = "JAX and Dask have no out=", write.value.certain
        yield finding(program, write.node, "in place", what, code or text, LAZY, certain=certain)


def _of_attribute(program: Program, write: Write) -> Iterator[Finding]:
    target = write.node.targets[0] if isinstance(write.node, ast.Assign) else write.target
    name = target.attr if isinstance(target, ast.Attribute) else ""
    instead = advice.attribute(program, write.node, name) or f"a new array for {program.text(write.target)}"
    what = f"the attribute {name} of arrays can be assigned on NumPy and CuPy only"
    yield finding(program, write.node, "in place", what, instead, ("torch", "jax", "dask"))


def _listed(names: frozenset[str]) -> str:
    return " and ".join(sorted(names)[:3])


_RULES: dict[str, Callable[[Program, Write], Iterator[Finding]]] = {
    writes.ITEM: _of_item,
    writes.AUGMENTED_ITEM: _of_item,
    writes.AUGMENTED: _of_augmented,
    writes.OUT: _of_out,
    writes.FUNCTION: _of_function,
    writes.ATTRIBUTE: _of_attribute,
}
