"""Read the tables of verbs, and make the imports of the public modules from them.

The tables are the assignments ``VERBS = (Verb(...), ...)`` in xarrayops/_ops. They are parsed, not imported.
"""

from __future__ import annotations

import ast
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "xarrayops"
PUBLIC_MODULES = ("fft", "linalg")
FAMILY_MODULES = ("sparse", "random")
"""The public modules with the verbs of one family. The package imports them when they are first used."""
WITH_PACKAGE = ("arrays", "choices", "creation", "dtypes", "engines")
"""The families that are imported with the package: the standard, and modes that the environment may set."""


class Row(NamedTuple):
    """One verb: its name, its hook, whether it creates arrays, and the imports that the public module needs."""

    name: str
    hook: str | None
    creates: bool
    imports: dict[str, str]
    """The names of the function and of the public classes of its results, each with its module."""


class Family(NamedTuple):
    """One table: its module and its rows."""

    module: str
    rows: list[Row]


def read_families() -> list[Family]:
    """Every table of verbs, by module."""
    found = []
    for path in sorted((PACKAGE / "_ops").rglob("*.py")):
        tree = ast.parse(path.read_text())
        for node in tree.body:
            if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "VERBS":
                module = module_name(path)
                origins = origins_of(tree, module)
                calls = [call for call in ast.walk(node.value) if isinstance(call, ast.Call)]
                rows = [read_row(call, origins) for call in calls if ast.unparse(call.func) == "Verb"]
                if rows:
                    found.append(Family(module, rows))
    return found


def module_name(path: Path) -> str:
    """The full name of a module of the package."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def origins_of(tree: ast.Module, module: str) -> dict[str, str]:
    """The full name of each function, class and module that a module defines or imports."""
    origins = {}
    for node in tree.body:
        if isinstance(node, ast.ImportFrom):
            origins |= {alias.asname or alias.name: f"{node.module}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            origins[node.name] = f"{module}.{node.name}"
    return origins


def read_row(call: ast.Call, origins: dict[str, str]) -> Row:
    """The row for a call of ``Verb`` in a table."""
    name, function = call.args
    options = {keyword.arg: keyword.value for keyword in call.keywords}
    assert isinstance(name, ast.Constant)
    hook, results = options.get("hook"), options.get("results")
    public = (function, *(results.elts if isinstance(results, ast.Tuple) else ()))
    imports = dict(_origin(each, origins) for each in public)
    return Row(name.value, hook.value if isinstance(hook, ast.Constant) else None, "creates" in options, imports)


def _origin(node: ast.expr, origins: dict[str, str]) -> tuple[str, str]:
    """The name of ``function`` or ``module.function``, and the module that defines it."""
    first, _, rest = ast.unparse(node).partition(".")
    if first not in origins:
        raise SystemExit(f"VERBS has {first}, but its module neither defines it nor has a from-import of it")
    module, _, name = f"{origins[first]}.{rest}".rstrip(".").rpartition(".")
    return name, module


def is_late(family: Family) -> bool:
    """Whether the names of a family are at the top level, and their modules are imported at the first use."""
    return family.module.rpartition(".")[2] not in (*WITH_PACKAGE, *FAMILY_MODULES)


def late_imports(standard: list[str], families: list[Family]) -> dict[str, str]:
    """The names at the top level that are imported at their first use, each with its module."""
    rows = [row for family in families if is_late(family) for row in family.rows if row.name not in standard]
    return {name: module for row in rows for name, module in row.imports.items()}


def public_imports(families: list[Family]) -> dict[str, dict[str, str]]:
    """The imports of each public module by name: functions and classes, each with its module.

    Those of whole modules, such as ``from xarrayops.standard import *``, are written by hand.
    """
    public = {"__init__": dict.fromkeys(PUBLIC_MODULES, "xarrayops")} | {module: {} for module in FAMILY_MODULES}
    for family in families:
        for row in () if is_late(family) else family.rows:
            module = row.name.partition(".")[0]
            public[module if module in FAMILY_MODULES else "__init__"] |= row.imports
    return public


def with_imports(source: str, imports: dict[str, str]) -> str:
    """The source of a public module with new imports and, if it has one, a new ``__all__``.

    Without ``__all__``, type checkers consider a name as public if it is imported under its own name by ``as``.
    """
    lines, body = source.splitlines(), ast.parse(source).body
    old = [node for node in body if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("xarrayops")]
    listing = [node for node in body if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__"]
    for node in listing:
        lines[node.lineno - 1 : node.end_lineno] = [f"__all__ = {sorted(imports)}"]
    new = [f"from {module} import {name}" + ("" if listing else f" as {name}") for name, module in imports.items()]
    lines[old[0].lineno - 1 : old[-1].end_lineno] = [*_by_hand(old), *new]
    return "\n".join([*lines, ""])


def with_types_of(source: str, names: dict[str, str]) -> str:
    """The source with imports for type checkers of names that are imported at their first use, each with its module."""
    lines, body = source.splitlines(), ast.parse(source).body
    tests = [node for node in body if isinstance(node, ast.If) and ast.unparse(node.test) == "_typing.TYPE_CHECKING"]
    old = [each for node in tests for each in node.body if isinstance(each, ast.ImportFrom)]
    new = [*_by_hand(old), *(f"from {module} import {name} as {name}" for name, module in names.items())]
    lines[old[0].lineno - 1 : old[-1].end_lineno] = [f"    {line}" for line in new]
    return "\n".join([*lines, ""])


def _by_hand(imports: list[ast.ImportFrom]) -> list[str]:
    """The imports that are written by hand: those with a star, and of private names."""
    return [ast.unparse(node) for node in imports if (node.names[0].asname or node.names[0].name)[0] in "*_"]
