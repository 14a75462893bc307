"""Calls of other packages by `xarrayops.on_host`, and code that they compile, which keeps NumPy's own functions."""

from __future__ import annotations

import ast
import sys

import libcst as cst

from xarrayops.port.rewriting.context import VARIABLE, Context, argument, dotted
from xarrayops.port.rewriting.edits import Edit
from xarrayops.port.rewriting.lines import Change, Layout
from xarrayops.port.rewriting.reference import exists, measured
from xarrayops.port.source.names import Names, call_arguments
from xarrayops.port.source.value import OTHER, SCALAR, SEQUENCE

OPTION = "--scipy-array-api"


def call(context: Context, node: ast.Call, updated: cst.BaseExpression) -> cst.BaseExpression | None:
    """``scipy.f(x)`` as ``xo.on_host(scipy.f)(x)``, if an argument may be an array."""
    module = context.program.foreign.unported(node)
    if module is not None and any(context.value(each).is_array for each in call_arguments(node)):
        if module not in context.unported:  # one decision for all calls of the module
            context.unported.add(module)
            function = ast.unparse(node.func)
            context.todo(node, f"{module} is not ported: port it too, or xo.on_host({function})")
        return None
    compiled = context.names.function(node)
    if compiled in context.program.foreign.compiled:
        written = context.ownership.summary(compiled).written
        if written:
            names = " and ".join(sorted(written))
            context.todo(
                node, f"{compiled.name} is compiled for NumPy's arrays and writes {names}: give it NumPy's arrays"
            )
            return None
        name, is_given = compiled.name, True
    else:
        found = context.program.foreign.called(node)
        if found is None and context.program.foreign.is_own(node) and measured(node):
            _note_result(context, node, ast.unparse(node.func))
        if found is None or context.program.foreign.is_of_library(found):
            return None
        name, is_given = found, bool(context.program.foreign_arrays(node))
    if not is_given:
        if context.program.foreign.makes_arrays_of_numpy(name):
            _note_result(context, node, name)
        return None
    if any(each.arg in ("out", "output") for each in node.keywords):
        context.todo(node, f"{name} writes into an array of NumPy: let it return the result, in xo.on_host({name})(..)")
        return None
    for given in call_arguments(node):
        if (array := _array_of_closure(context, given)) is not None:
            text = f"{name} gives NumPy's arrays to {ast.unparse(given)}, which uses {array}"
            context.announce(node, f"{text}: convert them to the library of {array}, and the result to NumPy")
    foreign = context.program.foreign
    if context.program.takes_all(node.func):
        _leave(context, node, name)
        return None
    reason = f"{name} takes NumPy's arrays: xo.on_host converts the arguments and the result"
    taken = foreign.what_it_takes(name)
    option = f" ({OPTION} leaves the call)" if foreign.takes_eager_arrays(name) else ""
    assert isinstance(updated, cst.Call)
    context.edit(node, "foreign call", f"{reason}. It also takes {taken}{option}" if taken else reason)
    return updated.with_changes(func=context.xo_call("on_host", argument(updated.func)))


def _array_of_closure(context: Context, given: ast.expr) -> str | None:
    """An array of the function around a call that a function among its arguments uses, if any."""
    outer = context.function(given)
    if outer is None:
        return None
    inner = {node.name: node for node in ast.walk(outer) if isinstance(node, ast.FunctionDef) and node is not outer}
    function = given if isinstance(given, ast.Lambda) else inner.get(given.id) if isinstance(given, ast.Name) else None
    variables = context.names.inside(outer)
    for node in (each for each in ast.walk(function) if isinstance(each, ast.Name)) if function is not None else ():
        is_parameter = context.program.values.parameter(outer, node.id).is_array
        if context.names.scope_of(node).owner(node.id) is variables and (is_parameter or context.value(node).is_array):
            return node.id
    return None


def _note_result(context: Context, node: ast.Call, name: str) -> None:
    """A note on a call that makes arrays without getting one, if they meet an array of the caller."""
    partner = context.program.company(node).partner
    if partner is None or context.value(node).kind in (SCALAR, SEQUENCE, OTHER):
        return
    problem = f"{name} gets no array and may make NumPy's, and {partner} may be an array of another library"
    if not exists(context, partner, node):
        context.todo(node, f"{problem}: convert the result to that library")
        return
    call, statement = ast.unparse(node), context.statement(node)
    is_unpacked = isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Tuple)
    each = f"np.asarray({'each' if is_unpacked else call}, like={partner})"
    context.todo(node, f"{problem}. Instead: {f'[{each} for each in {call}]' if is_unpacked else each}")


def _leave(context: Context, node: ast.Call, name: str) -> None:
    """Note that SciPy's setting is needed: written into the file that starts the program, otherwise to be written."""
    is_known = _sets_variable(context) or VARIABLE in context.needs
    context.needs.add(VARIABLE)
    if not is_known and not context.program.is_entry:
        what = f"{name} takes the arrays of every library only with {VARIABLE}=1 before SciPy is imported"
        context.todo(node, f"{what}: set it at the start of the program")


def _sets_variable(context: Context) -> bool:
    """Whether the program itself has SciPy's setting."""
    return any(node.value == VARIABLE for node in context.program.nodes(ast.Constant))


def in_compiled(context: Context, node: ast.AST, updated: cst.BaseExpression) -> cst.BaseExpression | None:
    """``np.sqrt`` as ``numpy.sqrt`` in code that another package compiles."""
    name = context.numpy_name(node) if isinstance(node, ast.Attribute | ast.Name) else None
    parent = context.parent(node)
    if name is None or (isinstance(parent, ast.Attribute) and context.names.numpy_name(parent) is not None):
        return None
    context.needs.add("numpy")
    context.edit(node, "name", "compiled code takes NumPy's own functions only")  # type: ignore[arg-type]
    return dotted(f"{context.host}.{name}")


def variable(context: Context, layout: Layout) -> list[Change]:
    """SciPy's setting before the first import of a package, if the file starts the program."""
    program = context.program
    if VARIABLE not in context.needs or _sets_variable(context) or not program.is_entry:
        return []
    body, units = program.source.tree.body, layout.units
    place = next(i for i, each in enumerate(body) if _packages(each) - sys.stdlib_module_names)
    before = (each for each in body[:place] if units[each] is not units[body[place]])
    has_os = any("os" in _packages(each) for each in before) and context.imported("os") == "os"
    lines = ([] if has_os else ["import os"]) + [f'os.environ.setdefault("{VARIABLE}", "1")']
    context.edits.append(Edit(1, "foreign call", f"SciPy reads {VARIABLE} when it is imported"))
    start = units[body[place]].start
    return [Change(start, start, tuple(lines))]


def _packages(statement: ast.stmt) -> set[str]:
    """The packages that a statement of the module imports."""
    names = Names(ast.Module([statement], []))
    return {name.partition(".")[0] for name in names.packages if "." not in name or name[0] == "."}
