"""The functions of a program by their lines, and which of them to port first to a device that is not here."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

from xarrayops.port.trace.forecast import shown
from xarrayops.port.trace.model import STAYS, Modelled

_NAMED = 3


def functions_of(tree: ast.Module, file: str = "", first: int = 0) -> dict[str, frozenset[int]]:
    """The lines of each function of a file, and those outside of functions, if ``first`` lines are before the file."""
    nodes = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    found = {f"{file}{node.name} (line {node.lineno})": _lines(node, first) for node in nodes}
    whole = frozenset[int]().union(*(_lines(node, first) for node in tree.body))
    return {**found, f"{file}code outside of functions": whole.difference(*found.values())}


def _lines(node: ast.stmt, first: int) -> frozenset[int]:
    return frozenset(range(first + node.lineno, first + (node.end_lineno or node.lineno) + 1))


def port_first(models: Sequence[Modelled]) -> list[Modelled]:
    """The functions that a device may make faster, by the greatest certain gain, and then by the possible one."""
    parts = [each for each in models[1:] if each.verdict != STAYS]
    return sorted(parts, key=lambda each: (-max(each.numpy_s - each.high_s, 0.0), each.low_s - each.numpy_s))


def as_dict(models: Sequence[Modelled]) -> dict[str, Any]:
    """The models as plain data, with the names of what to port first."""
    found = [{**each._asdict(), "verdict": each.verdict} for each in models]
    return {"models": found, "port_first": [each.name for each in port_first(models)]}


def answer(models: Sequence[Modelled]) -> list[str]:
    """Whether a port to the device would pay, and what to port first, in a few lines."""
    whole, *parts = models
    first = port_first(models)
    sure = [each for each in first if each.high_s <= each.numpy_s]
    lines = [
        f"{whole.device} (model, not run): {whole.text()}",
        *(f"{place}. {each.text()}" for place, each in enumerate(first, 1)),
    ]
    if stay := [each.name for each in parts if each not in first]:
        lines.append(f"stay on NumPy (model): {', '.join(stay)}")
    if whole.verdict == STAYS:
        lines.append(f"Port nothing to {whole.device}: {whole.name} stays on NumPy (model).")
    elif sure:
        named = ", ".join(each.name for each in sure[:_NAMED])
        spent = f"{shown(sum(each.numpy_s for each in sure[:_NAMED]))} of {shown(whole.numpy_s)} on NumPy"
        lines.append(f"Port first: {named}: {spent} (model: {whole.name} {whole.verdict}).")
    elif first:
        lines.append(f"No part surely pays (model): {whole.reason}. Measure {first[0].name} on the device first.")
    return [*lines, f"figures of the model: {whole.source}"]
