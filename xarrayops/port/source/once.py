"""Indices that are evaluated once: an edit that needs one twice gives names to the calls in it."""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator, Mapping

from xarrayops.port.source.names import FOR_ALL, Comprehension, Names

_ACTING = ("builtins.next", "builtins.input", "builtins.eval", "builtins.exec")
_PURE = ("builtins", "math", *FOR_ALL)


def evaluated_once(index: ast.expr, names: Names, used: set[str]) -> tuple[ast.expr, ast.expr]:
    """An index with names for its calls, which ``used`` does not have, and the index by these names."""
    found = [*_calls(index, names)]
    if not found:
        return index, index
    free = (name for name in (f"index{i}" for i in range(1, len(used) + len(found) + 2)) if name not in used)
    given = dict(zip(found, map(ast.Name, free), strict=False))
    named = {node: ast.NamedExpr(name, node) for node, name in given.items()}
    return _replaced(index, named), _replaced(index, given)


def _calls(node: ast.AST, names: Names) -> Iterator[ast.expr]:
    """The outermost parts that may do something or give another value when they are evaluated again."""
    if isinstance(node, Comprehension):
        if any(True for child in ast.iter_child_nodes(node) for _ in _calls(child, names)):
            yield node
    elif isinstance(node, ast.NamedExpr | ast.Await | ast.Yield | ast.YieldFrom | ast.Call) and _acts(node, names):
        yield node
    elif not isinstance(node, ast.Lambda):
        for child in ast.iter_child_nodes(node):
            yield from _calls(child, names)


def _acts(node: ast.expr, names: Names) -> bool:
    if not isinstance(node, ast.Call):
        return True
    name = names.resolve(node.func)
    is_pure = name is not None and name.partition(".")[0] in _PURE and ".random." not in name
    return name in _ACTING or not is_pure


def _replaced(node: ast.expr, new: Mapping[ast.expr, ast.expr]) -> ast.expr:
    """A copy of an expression with new parts."""
    copies: dict[int, ast.AST] = {id(old): part for old, part in new.items()}
    return copy.deepcopy(node, copies)
