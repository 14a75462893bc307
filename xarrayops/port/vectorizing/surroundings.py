"""What the rest of a program requires of the edit of a loop: the variables that it reads, and memory that it shares."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from xarrayops.port.rewriting.context import Context
from xarrayops.port.vectorizing.rows import NeedsStep


def read_after(context: Context, loop: ast.For) -> set[str]:
    """The variables that the program reads after the loop, or in the next round of a loop around it."""
    place = context.program.places[loop]
    scope = place.loops[0] if place.loops else place.function or context.program.source.tree
    inside = {*ast.walk(loop)}
    names = (node for node in ast.walk(scope) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load))
    outside = (node for node in names if node not in inside)
    return {node.id for node in outside if place.loops or node.lineno > (loop.end_lineno or 0)}


def questions_about_memory(
    context: Context, numpy: str, loop: ast.For, name: str, others: Iterable[str]
) -> Iterator[str]:
    """What must be true so that the elements which the steps write are not those which they read from other arrays."""
    for other in sorted(others):
        named = (node for node in ast.walk(loop) if isinstance(node, ast.Name) and node.id == other)
        if other == name or any(name in context.value(node).views for node in named):
            raise NeedsStep(name)
        yield f"not {numpy}.may_share_memory({name}, {numpy}.asarray({other}))"
