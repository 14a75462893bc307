"""Names, arguments and generators of NumPy that `xarrayops.numpy` lacks, and functions of other packages."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import numpy

from xarrayops._core.numpy_names import RANDOM, missing
from xarrayops.numpy.random import Generator
from xarrayops.port import advice
from xarrayops.port.findings import NUMPY_CODE, Finding, finding
from xarrayops.port.source import Program
from xarrayops.port.source.interface import has, out_of, signature
from xarrayops.port.source.names import NUMPY, call_arguments, has_starred
from xarrayops.port.source.numpy_results import is_elementwise
from xarrayops.port.source.value import words

_KEPT = ("exceptions", "typing")
"""Modules of NumPy that a port imports as before."""
_SUBMODULES = ("linalg", "fft", "random")
_DTYPE_NAMES = words("object_ str_ bytes_ void datetime64 timedelta64 longdouble clongdouble float128")


def of_stars(program: Program) -> Iterator[Finding]:
    """Imports that hide names."""
    for module, statement in program.names.stars:
        if module in NUMPY:
            what = f"from {module} import * hides which names are NumPy's, and replaces Python's sum, max, min and abs"
            yield finding(
                program, statement, "import", what, "import xarrayops.numpy as np  # and np. before the names"
            )


def of_name(program: Program, node: ast.Attribute | ast.Name) -> Iterator[Finding]:
    """A missing name; for ``np.ma.array`` only ``np.ma``."""
    name = None if node in program.unevaluated else program.names.numpy_name(node)
    if name is None or has(name) or (isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)):
        return
    owner, _, last = name.rpartition(".")
    if (owner and owner not in _SUBMODULES) or (isinstance(node, ast.Name) and name in _KEPT):
        return
    text = str(missing(f"xarrayops.numpy.{owner}" if owner else "xarrayops.numpy", last))
    what, mark, instead = text.partition(". Instead" if ". Instead" in text else ": ")
    instead = f"Instead{instead}".removeprefix("Instead: ") if mark.startswith(".") else instead
    if name in _KEPT:
        instead = f"numpy.{name}"
    if not instead:
        what, _, near = what.partition(";")
        other = f"a name of dir(np): NumPy has no {last} either"
        other = f"numpy.exceptions.{last}" if hasattr(numpy.exceptions, last) else other
        instead = near.removeprefix(" did you mean ").rstrip("?") if near.endswith("?") else other
    yield finding(program, node, "dtype" if last in _DTYPE_NAMES else "name", what, instead)


def of_arguments(program: Program, node: ast.Call) -> Iterator[Finding]:
    """Arguments that a function does not take."""
    name = program.names.numpy_name(node.func)
    if name == "ndarray":
        yield finding(program, node, "name", "np.ndarray is for isinstance only", _empty(node))
    taken = signature(name) if name is not None else None
    if taken is None:
        return
    given = {keyword.arg: program.text(keyword.value) for keyword in node.keywords if keyword.arg is not None}
    if is_elementwise(str(name)) and "where" in given and out_of(node, name) is None:
        what = f"np.{name} with where= and without out= leaves elements undefined"
        new = advice.call_of(node, f"np.{name}", without=("where",))
        instead = f"np.where({given['where']}, {new}, 0)  # 0 where nothing is computed"
        yield finding(program, node, "argument", what, instead)
    parameters = taken.parameters.values()
    if any(p.kind is p.VAR_KEYWORD for p in parameters):
        return
    for keyword in given.keys() - taken.parameters.keys():
        what = f"np.{name} has no {keyword}= (here {given[keyword]})"
        instead = advice.call_of(node, f"np.{name}", without=(keyword,))
        if keyword == "interpolation":
            instead = advice.call_of(node, f"np.{name}", without=(keyword,), method=given[keyword])
        yield finding(program, node, "argument", what, instead)
    if name == "arange" and len(node.args) == 4 and not has_starred(node.args):
        instead = advice.call_of(node, "np.arange", node.args[:3], dtype=program.text(node.args[3]))
        yield finding(program, node, "argument", "np.arange takes the dtype by keyword", instead)


def _empty(node: ast.Call) -> str:
    """``np.empty(shape)`` for ``np.ndarray(shape)``, or the array of a buffer."""
    if len(node.args) > 2 or {"buffer", "strides", "offset"} & {each.arg for each in node.keywords}:
        return "np.frombuffer and np.reshape for the memory of another object"
    return advice.call_of(node, "np.empty")


def of_generators(program: Program) -> Iterator[Finding]:
    """Random numbers: other streams, and methods of generators that `xarrayops.random` lacks."""
    assigned = {node.value: node.targets for node in program.nodes(ast.Assign)}
    generators = set()
    for call in program.nodes(ast.Call):
        if program.names.numpy_name(call.func) == "random.default_rng":
            generators |= set(map(ast.unparse, assigned.get(call, ())))
            what = "the numbers come from xo.random: the same on every library, but different from NumPy's generator"
            instead = (
                f"{advice.call_of(call, 'numpy.random.default_rng')}  # and np.asarray(numbers, like=x) for its numbers"
            )
            yield finding(program, call, "random", what, instead)
    for node in program.nodes(ast.Attribute) if generators else ():
        if ast.unparse(node.value) in generators and not hasattr(Generator, node.attr):
            answer = (RANDOM.answer(node.attr) or ": see dir(np.random.Generator)").removeprefix(": ")
            yield finding(program, node, "name", f"generators of xarrayops have no {node.attr}", answer)


def of_foreign(program: Program, node: ast.Call) -> Iterator[Finding]:
    """Arrays passed to another package, which needs host memory, or to a module that is not ported."""
    name, module = program.foreign.called(node), program.foreign.unported(node)
    arrays = program.foreign_arrays(node)
    if module is not None:
        arrays = [each for each in call_arguments(node) if program.value(each).is_array]
    if not arrays:
        return
    what, instead = f"{module} uses NumPy itself", f"port it too, or {_on_host(program, node)}"
    if module is None:
        taken = program.foreign.what_it_takes(str(name))
        what = f"{name} takes NumPy's arrays: it refuses arrays on a device, and returns NumPy's"
        what = f"{name} takes NumPy's arrays, and also {taken}" if taken else what
        instead = _on_host(program, node)
    certain = all(program.value(each).certain and program.value(each).is_array for each in arrays)
    yield finding(program, node, "foreign call", what, instead, certain=certain)


def _on_host(program: Program, node: ast.Call) -> str:
    """The text of a call by `xarrayops.on_host`, with the call that makes its object in the same way."""
    function = program.text(node.func)
    made = node.func.value if isinstance(node.func, ast.Attribute) else node.func
    if isinstance(made, ast.Call) and program.foreign_arrays(made):
        function = _on_host(program, made) + function.removeprefix(program.text(made))
    given = ", ".join(map(ast.unparse, (*node.args, *node.keywords)))
    return f"xo.on_host({function})({given})"


def of_compiled(program: Program, node: ast.FunctionDef) -> Iterator[Finding]:
    """A function that another package compiles."""
    name = program.foreign.compiled.get(node)
    if name is not None:
        place = node.decorator_list[0] if node.decorator_list else node
        instead = "the same computation on whole arrays, without the decorator; or keep the function on the CPU"
        yield finding(program, place, "foreign call", f"{name} {NUMPY_CODE}", instead)
