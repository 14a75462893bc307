"""Names, arguments and generators of NumPy that `xarrayops.numpy` lacks, and imports that hide names."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from xarrayops._core.numpy_names import RANDOM, missing
from xarrayops.numpy.random import Generator
from xarrayops.port.findings import Finding, finding
from xarrayops.port.source import Program
from xarrayops.port.source.interface import has, signature
from xarrayops.port.source.names import NUMPY
from xarrayops.port.source.numpy_results import is_elementwise
from xarrayops.port.source.value import words

_SUBMODULES = ("linalg", "fft", "random")
_DTYPE_NAMES = words("object_ str_ bytes_ void datetime64 timedelta64 longdouble clongdouble float128")


def rules(program: Program) -> Iterator[Finding]:
    """Findings about names, arguments, imports and random numbers."""
    for module, statement in program.names.stars:
        if module in NUMPY:
            yield finding(
                program,
                statement,
                "import",
                f"from {module} import * hides which names are NumPy's, and replaces Python's sum, max, min and abs",
                "import xarrayops.numpy as np, and np. before the names",
            )
    outer = {place.node: place.parent for place in program.places if isinstance(place.node, ast.Attribute | ast.Name)}
    for node, parent in outer.items():
        name = program.names.numpy_name(node)
        if name is None or (isinstance(parent, ast.Attribute) and name in _SUBMODULES):
            continue
        if isinstance(parent, ast.Attribute) and name.partition(".")[0] not in _SUBMODULES and has(name):
            continue  # a method of a function, such as np.add.at
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            continue
        yield from _of_name(program, node, name)
    for call in program.nodes(ast.Call):
        if (name := program.names.numpy_name(call.func)) is not None:
            yield from _of_arguments(program, call, name)
    yield from _of_generators(program)


def _of_name(program: Program, node: ast.expr, name: str) -> Iterator[Finding]:
    """A missing name; for ``np.ma.array`` only ``np.ma``."""
    owner, _, last = name.rpartition(".")
    if has(name) or (owner and owner not in _SUBMODULES):
        return
    module = f"xarrayops.numpy.{owner}" if owner else "xarrayops.numpy"
    text = str(missing(module, last))
    what, mark, instead = text.partition(". Instead") if ". Instead" in text else text.partition(": ")
    kind = "dtype" if last in _DTYPE_NAMES else "name"
    yield finding(
        program, node, kind, what, f"Instead{instead}".removeprefix("Instead: ") if mark.startswith(".") else instead
    )


def _of_arguments(program: Program, node: ast.Call, name: str) -> Iterator[Finding]:
    if name == "ndarray":
        text = ", ".join(map(program.text, node.args))
        yield finding(program, node, "name", "np.ndarray is for isinstance only", f"np.empty({text}), with dtype=")
        return
    taken = signature(name) if has(name) else None
    if taken is None:
        return
    if is_elementwise(name):
        yield from _of_where(program, node, name)
    parameters = taken.parameters.values()
    if any(p.kind is p.VAR_KEYWORD for p in parameters):
        return
    for keyword in node.keywords:
        if keyword.arg is not None and keyword.arg not in taken.parameters:
            text = program.text(keyword.value)
            yield finding(
                program, node, "argument", f"np.{name} has no {keyword.arg}= (here {text})", f"leave out {keyword.arg}="
            )
    takes = sum(p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) for p in parameters)
    is_open = any(p.kind is p.VAR_POSITIONAL for p in parameters) or any(isinstance(a, ast.Starred) for a in node.args)
    if len(node.args) > takes and not is_open:
        what = f"np.{name} takes {takes} arguments by position, and here are {len(node.args)}"
        yield finding(program, node, "argument", what, "name the options by keyword")


def _of_where(program: Program, node: ast.Call, name: str) -> Iterator[Finding]:
    given = {keyword.arg for keyword in node.keywords}
    if "where" in given and "out" not in given:
        instead = f"np.where(mask, np.{name}(...), other)"
        yield finding(
            program, node, "argument", f"np.{name} with where= and without out= leaves elements undefined", instead
        )


def _of_generators(program: Program) -> Iterator[Finding]:
    """Random numbers: other streams, and methods of generators that `xarrayops.random` lacks."""
    assigned = {node.value: node.targets for node in program.nodes(ast.Assign)}
    generators = set()
    for call in program.nodes(ast.Call):
        if program.names.numpy_name(call.func) == "random.default_rng":
            generators |= set(map(ast.unparse, assigned.get(call, ())))
            what = "the numbers come from xo.random: the same on every library, but different from NumPy's generator"
            instead = (
                "compare distributions; for NumPy's numbers draw them with NumPy, then xo.asarray(numbers, like=x)"
            )
            yield finding(program, call, "random", what, instead)
    for node in program.nodes(ast.Attribute) if generators else ():
        if ast.unparse(node.value) in generators and not hasattr(Generator, node.attr):
            answer = (RANDOM.answer(node.attr) or ": see dir(np.random.Generator)").removeprefix(": ")
            yield finding(program, node, "name", f"generators of xarrayops have no {node.attr}", answer)
