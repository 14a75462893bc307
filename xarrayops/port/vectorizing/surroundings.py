"""What the rest of a program requires of the edit of a loop: the variables that it reads, and memory that it shares."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from xarrayops.port.rewriting.context import Context
from xarrayops.port.vectorizing.rows import Stays

_DYNAMIC = ("eval", "exec", "globals", "locals", "vars")
"""The builtins that read variables by their names."""


def read_after(context: Context, loop: ast.For) -> set[str]:
    """The variables that a program reads after the loop, in the next round of a loop around it, or elsewhere."""
    place, names = context.program.places[loop], context.names
    home = names.scope_of(next(node for node in ast.walk(loop.target) if isinstance(node, ast.Name)))
    inside = {*ast.walk(loop)}
    around = {*ast.walk(place.loops[0])} if place.loops else set()
    nodes = [node for node in ast.walk(place.function or context.program.source.tree) if node not in inside]
    loads = [node for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)]
    if isinstance(home.node, ast.ClassDef) or any(node.id in _DYNAMIC for node in loads):
        return {node.id for node in inside if isinstance(node, ast.Name)}
    others = (each for each in nodes if isinstance(each, ast.For) and loop not in {*ast.walk(each)})
    bound = {node for each in others for node in _bound(each)}
    found = {*home.elsewhere}
    for node in loads:
        scope = names.scope_of(node)
        is_later = scope is not home or node in around or node.lineno > (loop.end_lineno or 0)
        is_same = scope.owner(node.id) is home or node.id in scope.elsewhere or isinstance(scope.node, ast.ClassDef)
        found |= {node.id} if is_later and is_same and node not in bound else set()
    return found


def _bound(loop: ast.For) -> Iterator[ast.AST]:
    """The places where a variable has the value that this loop gives it."""
    targets = {node.id for node in ast.walk(loop.target) if isinstance(node, ast.Name)}
    nodes = (node for each in loop.body for node in ast.walk(each))
    return (node for node in nodes if isinstance(node, ast.Name) and node.id in targets)


def questions_about_memory(
    context: Context, numpy: str, loop: ast.For, name: str, others: Iterable[str]
) -> Iterator[str]:
    """What must be true so that the elements which the steps write are not those which they read from other arrays."""
    for other in sorted(others):
        named = (node for node in ast.walk(loop) if isinstance(node, ast.Name) and node.id == other)
        if other == name or any(name in context.value(node).views for node in named):
            raise Stays(f"{other} may share the memory of {name}")
        yield f"not {numpy}.may_share_memory({name}, {numpy}.asarray({other}))"
