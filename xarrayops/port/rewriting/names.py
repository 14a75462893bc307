"""Imports of NumPy's names, and names, dtypes and classes that only NumPy has: they stay NumPy's own, with a note."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence

import libcst as cst
import numpy
from libcst.helpers import get_full_name_for_node as name_of

from xarrayops._core.numpy_names import FFT, LINALG, MAIN
from xarrayops.port.rewriting.context import Context, dotted
from xarrayops.port.rewriting.lines import Change, Layout, Unit
from xarrayops.port.source.interface import has
from xarrayops.port.source.names import of_numpy

_QUIET = ("random", "typing", "testing", "exceptions", "ma.is_masked", "ma.isMaskedArray", "ma.masked")
"""NumPy modules and names that a port uses unchanged: a masked array is NumPy's."""
_MOVED = ("numpy", "numpy.linalg", "numpy.fft")
"""The modules that xarrayops.numpy has."""
_PORTED = tuple(f"xarrayops.{module}" for module in _MOVED)


def is_host(name: str) -> bool:
    """Whether a name of NumPy, without ``numpy.``, stays NumPy's own."""
    return is_quiet(name) or not has(name)


def is_quiet(name: str) -> bool:
    """Whether a name stays NumPy's own without a note."""
    return name in _QUIET or name.partition(".")[0] in _QUIET


def reference(context: Context, node: ast.Attribute, updated: cst.BaseExpression) -> cst.BaseExpression | None:
    """``np.load`` as ``numpy.load``, if xarrayops.numpy has no such name."""
    name = context.names.numpy_name(node)
    parent = context.parent(node)
    if name is None or (isinstance(parent, ast.Attribute) and context.names.numpy_name(parent) is not None):
        return None
    is_base = name == "ndarray" and isinstance(parent, ast.ClassDef) and node in parent.bases
    if not is_host(name) and not is_base:
        return None
    module = name.partition(".")[0]
    is_date = name in ("datetime64", "timedelta64") and isinstance(parent, ast.Call) and parent.func is node
    if not is_base and not is_date and not is_quiet(name) and node not in context.program.unevaluated:
        names = {"linalg": LINALG, "fft": FFT}.get(module, MAIN)
        last = name.rpartition(".")[2] if module in ("linalg", "fft") else module
        is_old = not has(name, numpy)
        answer = ", and this version of NumPy no longer has it" if is_old else ": it works on NumPy arrays only"
        answer = names.answer(last) or answer
        answer = f". Instead: numpy.exceptions.{last}" if hasattr(numpy.exceptions, last) else answer
        context.todo(node, f"only NumPy has {name}{answer}")
    if context.numpy_name(node) is None or not _is_of_moved(context, node):
        return None
    context.needs.add("numpy")
    context.edit(node, "name", f"numpy.{name} stays NumPy's own")
    return dotted(f"{context.host}.{name}")


def _is_of_moved(context: Context, node: ast.expr) -> bool:
    """Whether this is an attribute of a module whose import changes: not of ``import numpy.typing as npt``."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name) and context.names.resolve(node) in _MOVED


def compare(context: Context, node: ast.Compare, updated: cst.BaseExpression) -> cst.BaseExpression | None:
    """``type(x) is np.ndarray`` as ``isinstance(x, np.ndarray)``."""
    match node:
        case ast.Compare(left=ast.Call(func=function, args=[_]), ops=[ast.Is() | ast.Eq()], comparators=[right]):
            is_test = context.names.resolve(function) == "builtins.type" and context.numpy_name(right) == "ndarray"
        case _:
            return None
    if not is_test or not isinstance(updated, cst.Comparison) or not isinstance(updated.left, cst.Call):
        return None
    context.edit(node, "isinstance", "np.ndarray means the arrays of every library")
    second = cst.Arg(updated.comparisons[0].comparator)
    first = updated.left.args[0].with_changes(comma=cst.Comma(whitespace_after=cst.SimpleWhitespace(" ")))
    return cst.Call(cst.Name("isinstance"), [first, second])


def imported(
    context: Context, node: ast.Import | ast.ImportFrom, updated: cst.SimpleStatementLine
) -> list[cst.SimpleStatementLine] | None:
    """A line with one import statement."""
    lines = _moved_line(context, node, updated)
    if lines is not None:
        reason = "xarrayops.numpy has NumPy's names for every library" if lines else "nothing uses it any more"
        context.edit(node, "import", reason)
    return lines


def _moved_line(
    context: Context, node: ast.Import | ast.ImportFrom, updated: cst.SimpleStatementLine
) -> list[cst.SimpleStatementLine] | None:
    """The lines instead of an import; none if nothing uses it."""
    if context.is_port:
        is_removed = context.is_xo and node in context.program.source.tree.body and not context.imported("numpy")
        return _without_unused(context, updated) if is_removed else None
    statement = updated.body[0]
    if isinstance(statement, cst.Import):
        names = [_moved(context, alias) for alias in statement.names]
        if all(new is alias for new, alias in zip(names, statement.names, strict=True)):
            return None
        return [updated.with_changes(body=[statement.with_changes(names=names)])]
    if isinstance(statement, cst.ImportFrom):
        return _from(context, statement, updated)
    return None


def _without_unused(context: Context, updated: cst.SimpleStatementLine) -> list[cst.SimpleStatementLine] | None:
    """Remove an import of xarrayops.numpy that is unused because the program has our names."""
    statement = updated.body[0]
    has_comment = any(each.comment for each in updated.leading_lines) or bool(updated.trailing_whitespace.comment)
    if has_comment:
        return None
    used = {node.id for node in ast.walk(context.program.source.tree) if isinstance(node, ast.Name)}
    if isinstance(statement, cst.Import):
        found = [(name_of(alias.name), alias.evaluated_alias) for alias in statement.names]
    elif isinstance(statement, cst.ImportFrom) and isinstance(statement.names, Sequence) and statement.module:
        found = [(name_of(statement.module), each.evaluated_alias or name_of(each.name)) for each in statement.names]
    else:
        return None
    is_unused = all(module in _PORTED and name is not None and name not in used for module, name in found)
    return [] if is_unused else None


def _moved(context: Context, alias: cst.ImportAlias) -> cst.ImportAlias:
    module = name_of(alias.name)
    if module not in _MOVED or (alias.asname is None and module != "numpy"):
        return alias
    name = alias.asname or cst.AsName(cst.Name("numpy"))
    return alias.with_changes(name=dotted(f"xarrayops.{module}"), asname=name)


def _from(
    context: Context, statement: cst.ImportFrom, updated: cst.SimpleStatementLine
) -> list[cst.SimpleStatementLine] | None:
    """``from numpy import f, g``: names that xarrayops.numpy has are imported from it."""
    module = None if statement.module is None or statement.relative else name_of(statement.module)
    if module is None or module not in _MOVED:
        return None
    prefix = module.removeprefix("numpy").removeprefix(".")
    names = statement.names
    if isinstance(names, cst.ImportStar):
        names = [cst.ImportAlias(cst.Name(name)) for name in _used(context, prefix)]
    ours = [each for each in names if not is_host(".".join(filter(None, (prefix, name_of(each.name)))))]
    others = [each for each in names if each not in ours]
    imports = ((f"xarrayops.{module}", ours), (module, others))
    lines = [_import(statement, source, found) for source, found in imports if found]
    if not lines:
        return None
    return [updated.with_changes(body=lines[:1]), *(cst.SimpleStatementLine([each]) for each in lines[1:])]


def _import(statement: cst.ImportFrom, module: str, names: Sequence[cst.ImportAlias]) -> cst.ImportFrom:
    """The statement with another module and these names."""
    last = names[-1].with_changes(comma=cst.MaybeSentinel.DEFAULT)
    return statement.with_changes(module=dotted(module), names=[*names[:-1], last])


def _used(context: Context, prefix: str) -> list[str]:
    """The names of a star import that the program uses."""
    names = (node for node in context.program.nodes(ast.Name) if isinstance(node.ctx, ast.Load))
    loaded = (node for node in names if context.names.scope_of(node).owner(node.id) is None)
    found = set() if prefix else {of_numpy(context.names.resolve(node)) for node in loaded}
    return sorted(name for name in found if name is not None and "." not in name)


def imports(context: Context, layout: Layout, replaced: Mapping[Unit, Change]) -> Iterator[Change]:
    """The imports that edits need, before the first import of NumPy's names."""
    lines = []
    if "numpy" in context.needs and not (context.is_port and context.imported("numpy")):
        lines.append("import numpy" if context.host == "numpy" else f"import numpy as {context.host}")
    if "xarrayops" in context.needs and not context.imported("xarrayops"):
        lines.append(f"import xarrayops as {context.xo}")
    if "xarrayops.numpy" in context.needs and not (context.imported("numpy") or context.imported("xarrayops.numpy")):
        lines.append(f"import xarrayops.numpy as {context.numpy}")
    if lines:
        place = _place(layout, replaced)
        yield Change(place, place, tuple(lines))


def _place(layout: Layout, replaced: Mapping[Unit, Change]) -> int:
    """Before the import of xarrayops.numpy, otherwise after the docstring and the imports from __future__."""
    outer = [unit for unit in dict.fromkeys(layout.units.values()) if unit.is_outer]
    place = outer[0].start
    is_after = False
    for i, unit in enumerate(outer):
        first = unit.statements[0]
        is_import = isinstance(first, ast.Import | ast.ImportFrom)
        lines = replaced[unit].lines if unit in replaced else layout.lines[unit.start - 1 : unit.last]
        if is_import and any("xarrayops.numpy" in line for line in lines):
            return unit.start
        if is_after and is_import:
            place = unit.start
        is_text = i == 0 and isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
        is_after = is_text or (isinstance(first, ast.ImportFrom) and first.module == "__future__")
        if is_after:
            place = unit.last + 1
    return place
