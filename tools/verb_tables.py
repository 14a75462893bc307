"""Read the tables of verbs, ``VERBS = (Verb(...), ...)`` below xarrayops/_ops, without importing them."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "xarrayops"


class Row(NamedTuple):
    """One verb: its name, the hook, whether it creates, and what the public module imports from where."""

    name: str
    hook: str | None
    creates: bool
    imports: dict[str, str]
    """The module of the function and of each public class of its results, by their names."""


class Family(NamedTuple):
    """One table: the module that ends in it, and its rows."""

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
                rows = [_row(call, origins) for call in calls if ast.unparse(call.func) == "Verb"]
                if rows:
                    found.append(Family(module, rows))
    return found


def module_name(path: Path) -> str:
    """The dotted name of a module of the package."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def origins_of(tree: ast.Module, module: str) -> dict[str, str]:
    """The module that defines each function and class that a module defines or imports."""
    origins = {}
    for node in tree.body:
        if isinstance(node, ast.ImportFrom):
            origins |= {alias.asname or alias.name: str(node.module) for alias in node.names}
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            origins[node.name] = module
    return origins


def _row(call: ast.Call, origins: dict[str, str]) -> Row:
    name, function = call.args
    options = {keyword.arg: keyword.value for keyword in call.keywords}
    assert isinstance(name, ast.Constant)
    hook, results = options.get("hook"), options.get("results")
    names = [ast.unparse(each) for each in (function, *(results.elts if isinstance(results, ast.Tuple) else ()))]
    return Row(
        name.value,
        hook.value if isinstance(hook, ast.Constant) else None,
        "creates" in options,
        {each: origins[each] for each in names},
    )
