"""What the source alone does not say: code that `check` does not see, and objects that it does not follow."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from xarrayops.port.findings import Finding, finding
from xarrayops.port.source import Program
from xarrayops.port.source.names import NUMPY, OTHER_ARRAYS, is_foreign

_FOLLOWED = "a call with --call, which shows what one run does"


def of_imports(program: Program) -> Iterator[Finding]:
    """Packages whose objects have the methods of arrays, and names of other modules that hide behind a star."""
    imports: list[ast.Import | ast.ImportFrom] = [*program.nodes(ast.Import), *program.nodes(ast.ImportFrom)]
    for node in imports:
        module = getattr(node, "module", None)
        packages = {(module or alias.name).partition(".")[0] for alias in node.names} & OTHER_ARRAYS
        for package in sorted(packages):
            what = f"objects of {package} have methods of arrays: check does not tell them from arrays"
            yield finding(program, node, "unknown", what, _FOLLOWED, certain=False)
    for module, statement in program.names.stars:
        if module not in NUMPY and is_foreign(module.lstrip(".") or "."):
            what = f"check does not know which names {module} has"
            yield finding(program, statement, "unknown", what, "an import of each name", certain=False)


def of_call(program: Program, node: ast.Call) -> Iterator[Finding]:
    """A function that is chosen at run time, or that is in a file which check does not find."""
    name = program.names.resolve(node.func)
    is_chosen = len(node.args) > 1 and program.names.resolve(node.args[0]) in NUMPY
    if name in ("builtins.eval", "builtins.exec"):
        yield finding(program, node, "unknown", "check does not see this code", _FOLLOWED, certain=False)
    elif name == "builtins.getattr" and is_chosen and not isinstance(node.args[1], ast.Constant):
        what = f"check does not know which function {program.text(node.args[1])} names"
        yield finding(program, node, "unknown", what, _FOLLOWED, certain=False)
    elif program.foreign.is_own(node) and program.foreign.own_file(node) is None:
        what = f"check does not find the module of {program.text(node.func)}"
        yield finding(program, node, "unknown", what, "a check of that file", certain=False)
