"""The summary of the results: for each pair, the dtypes and kinds of memory with the same outcome and reason."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Set
from itertools import groupby
from typing import Any

from benchmarks.exchange_matrix.cells import ALL_KINDS, DTYPES, OUTCOMES, Result
from benchmarks.exchange_matrix.memory_kinds import LARGE
from benchmarks.exchange_matrix.runner import Matrix

DtypesAndKinds = set[tuple[str, str]]
"""Pairs of a dtype and a kind of memory."""
_FAMILIES = {
    "integers": tuple(name for name in DTYPES if "int" in name),
    "float8": tuple(name for name in DTYPES if name.startswith("float8")),
    "complex": tuple(name for name in DTYPES if name.startswith("complex")),
}
_KINDS = (*ALL_KINDS, LARGE)


def summary(matrix: Matrix) -> dict[str, Any]:
    """The content of ``exchange.json``: counts, and the cells of each pair by outcome and reason."""
    counts = Counter(result.outcome for result in matrix.results)
    return {
        "machine": matrix.machine,
        "versions": dict(sorted(matrix.versions.items())),
        "cells": len(matrix.results),
        "counts": {outcome: counts[outcome] for outcome in OUTCOMES if counts[outcome]},
        "pairs": [_of_pair(list(results)) for _, results in groupby(matrix.results, key=lambda result: result.pair)],
    }


def _of_pair(results: list[Result]) -> dict[str, Any]:
    pair = results[0].pair
    found: dict[tuple[str, str, str], dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for result in results:
        key = (str(result.cell.copy), result.outcome, short(result.reason, result.cell.dtype))
        found[key][result.cell.kind].append(result.cell.dtype)
    return {
        "producer": pair.origin,
        "consumer": pair.consumer,
        "setting": pair.setting,
        "found": [
            {"copy": copy, "outcome": outcome, "reason": reason, "cells": _grouped(cells)}
            for (copy, outcome, reason), cells in found.items()
        ],
    }


def _grouped(cells: dict[str, list[str]]) -> list[dict[str, list[str]]]:
    """Kinds of memory, grouped by their dtypes."""
    by_dtypes: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for kind, dtypes in cells.items():
        by_dtypes[tuple(dtypes)].append(kind)
    return [{"kinds": kinds, "dtypes": list(dtypes)} for dtypes, kinds in by_dtypes.items()]


def short(reason: str, dtype: str) -> str:
    """A reason without its alternative, and without the parts that depend on the dtype."""
    reason = reason.partition(". Instead: ")[0].partition(": it has ")[0]
    return re.sub(rf"\b{dtype}\b|>[a-z]\d+", "[dtype]", reason)


def dtypes_and_kinds(found: Iterable[dict[str, Any]]) -> DtypesAndKinds:
    """The dtypes and kinds in these entries of a pair."""
    groups = [group for entry in found for group in entry["cells"]]
    return {(dtype, kind) for group in groups for kind in group["kinds"] for dtype in group["dtypes"]}


def whole(cells: DtypesAndKinds, made: DtypesAndKinds) -> set[str]:
    """The dtypes of which the cells include every kind of memory that can be made."""
    return {dtype for dtype, _ in cells} - {dtype for dtype, _ in made - cells}


def described(cells: DtypesAndKinds, made: DtypesAndKinds, elsewhere: Set[str] = frozenset()) -> str:
    """A short description of a subset of the cells that can be made: by kind, by dtype, then by both.

    The dtypes in ``elsewhere`` are described by other entries and may be omitted.
    """
    if cells == made:
        return "everything"
    if whole(cells, made) == (dtypes := {dtype for dtype, _ in cells}):
        return _named(dtypes, {dtype for dtype, _ in made})
    made = {cell for cell in made if cell[0] not in elsewhere}
    included, excluded = ({kind for _, kind in some} for some in (cells, made - cells))
    kinds = [kind for kind in _KINDS if kind in included - excluded]
    rest = {cell for cell in cells if cell[1] not in kinds}
    dtypes = whole(rest, {cell for cell in made if cell[1] not in kinds})
    by_dtypes: dict[frozenset[str], list[str]] = defaultdict(list)
    for kind in _KINDS:
        left = frozenset(dtype for dtype, k in rest if k == kind and dtype not in dtypes)
        if left:
            by_dtypes[left].append(kind)
    universe = {dtype for dtype, _ in made}
    parts = [", ".join(kinds), _named(dtypes, universe)]
    parts += [f"{', '.join(kinds)} ({_named(left, universe)})" for left, kinds in by_dtypes.items()]
    return "; ".join(filter(None, parts))


def _named(dtypes: Set[str], universe: Set[str]) -> str:
    """Dtypes as text: families by name, or "all but" the missing ones where these are fewer."""
    missing = universe - dtypes
    return f"all but {_listed(missing)}" if len(missing) < len(dtypes) / 2 else _listed(dtypes)


def _listed(dtypes: Set[str]) -> str:
    names = []
    for dtype in DTYPES:
        family = next((name for name, members in _FAMILIES.items() if dtype in members and dtypes >= {*members}), dtype)
        if dtype in dtypes and family not in names:
            names.append(family)
    return ", ".join(names)
