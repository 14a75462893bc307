"""The note that annotations of parameters would settle what is a guess."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from xarrayops.port.source import Program
from xarrayops.port.source.names import arguments
from xarrayops.port.source.value import UNKNOWN

_MOST_NAMES = 4


def note_on_annotations(program: Program, lines: Iterable[int]) -> tuple[str, ...]:
    """A note if functions around some lines have parameters of which nothing says what they are."""
    guessed = {*lines}
    names = [
        f"{each.arg} of {node.name}"
        for node in program.nodes(ast.FunctionDef)
        if not guessed.isdisjoint(range(node.lineno, (node.end_lineno or node.lineno) + 1))
        for each in arguments(node)
        if each.annotation is None and each.arg not in ("self", "cls") and _is_open(program, node, each.arg)
    ]
    if not names:
        return ()
    more = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
    listed = f"{', '.join(names[:_MOST_NAMES])}{more}"
    return (f"annotations such as x: np.ndarray or n: int make the result more precise; without them: {listed}",)


def _is_open(program: Program, node: ast.FunctionDef, name: str) -> bool:
    value = program.values.parameter(node, name)
    return value.kind == UNKNOWN or not value.certain
