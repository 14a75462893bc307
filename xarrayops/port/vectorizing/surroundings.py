"""What the rest of a program requires of the edit of a loop: the variables that it reads, and memory that it shares."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from xarrayops.port.rewriting.context import Context
from xarrayops.port.vectorizing.rows import Stays


def read_after(context: Context, loop: ast.For) -> set[str]:
    """The variables that a program reads after the loop, in the next round of a loop around it, or elsewhere."""
    place, names = context.program.places[loop], context.names
    home = names.scope_of(next(node for node in ast.walk(loop.target) if isinstance(node, ast.Name)))
    inside = {*ast.walk(loop)}
    around = {*ast.walk(place.loops[0])} if place.loops else set()
    found = {*home.elsewhere}
    for node in ast.walk(place.function or context.program.source.tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node not in inside:
            scope = names.scope_of(node)
            is_later = scope is not home or node in around or node.lineno > (loop.end_lineno or 0)
            found |= {node.id} if is_later and scope.owner(node.id) is home else set()
    return found


def questions_about_memory(
    context: Context, numpy: str, loop: ast.For, name: str, others: Iterable[str]
) -> Iterator[str]:
    """What must be true so that the elements which the steps write are not those which they read from other arrays."""
    for other in sorted(others):
        named = (node for node in ast.walk(loop) if isinstance(node, ast.Name) and node.id == other)
        if other == name or any(name in context.value(node).views for node in named):
            raise Stays(f"{other} may share the memory of {name}")
        yield f"not {numpy}.may_share_memory({name}, {numpy}.asarray({other}))"
