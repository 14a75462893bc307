"""The report in Markdown, for a pull request."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from xarrayops._system import machine
from xarrayops.bench.compare import ranking
from xarrayops.bench.environment import RunEnvironment
from xarrayops.bench.report import rankings, tables
from xarrayops.bench.report.formatting import rate_text
from xarrayops.bench.results import MEANINGS, Results

LEGEND = "Median time of a call. Bold: the fastest. =: a tie with the fastest. Italics: not measured, with the status."
_MARKS = {ranking.FASTEST: "**{}**", ranking.TIE: "{} =", "missing": "_{}_", "": "{}"}


def report(results: Results) -> str:
    """The matrix, the regret, the table of each workload, the empty cells, rooflines, versions and notes."""
    known, rows = results.environment, results.rows
    lines = ["# xarrayops benchmark", "", f"`{known['command']}`, {known['date']}: {tables.summary(results)}.", ""]
    if "machines" in known:
        lines += table(known["machines"]["columns"], known["machines"]["lines"])
    elif rows:
        lines += [f"{rows[0].machine}.", ""]
    for warning in tables.warnings(results):
        lines += [f"**{warning}**", ""]
    lines += _matrix(results)
    for name, columns, drawn in rankings.rankings(results):
        lines += [f"## {name}", "", *table(columns, drawn)]
    sizes = rankings.break_even_sizes(results)
    if sizes:
        lines += ["## Sizes at which a backend is faster than NumPy", "", *table(("workload", "size"), sizes)]
    for head, drawn in tables.tables(results):
        lines += [f"## {tables.title(head)}", "", f"Timed: {known['workloads'][head.workload]['timed']}.", ""]
        lines += table(tables.COLUMNS, drawn)
    absent = tables.missing(rows)
    if absent:
        lines += ["## Not measured", "", *table(tables.MISSING_COLUMNS, absent)]
    lines += [*_rooflines(known), *_gpus(known), "## Versions", ""]
    for backend, versions in known["versions"].items():
        lines.append(f"- {backend}: {', '.join(f'{name} {version}' for name, version in versions.items())}")
    slow = machine.slow_openblas([pool for pools in known["pools"].values() for pool in pools])
    lines += ["", f"**{slow}**"] if slow else []
    return "\n".join([*lines, "", "## How to read this", "", *(f"- {note}" for note in tables.notes(results)), ""])


def _matrix(results: Results) -> list[str]:
    places, lines = tables.matrix(results)
    if not places:
        return []
    drawn = [(name, *cells) for name, cells in matrix_rows(lines)]
    statuses = {row.status for row in results.rows if row.device}
    why = [f"- _{status}_: {meaning}" for status, meaning in MEANINGS.items() if status in statuses]
    legend = [LEGEND, "", *why, ""] if why else [LEGEND, ""]
    return ["## All cells", "", *legend, *table(("workload, dtype, size", *places), drawn)]


def matrix_rows(lines: Sequence[tuple[str, Sequence[tuple[str, str]]]]) -> list[tuple[str, list[str]]]:
    """The lines of `tables.matrix` in Markdown, as `LEGEND` explains."""
    return [(name, [_MARKS[mark].format(text) if text else "" for text, mark in cells]) for name, cells in lines]


def _rooflines(known: RunEnvironment) -> list[str]:
    lines = [
        (
            f"{roof['device']} {roof['dtype']}",
            f"{rate_text(roof['memory'], 'B/s')} ({roof['memory_by']}{_rated(roof)})",
            f"{rate_text(roof['compute'], 'FLOP/s')} ({roof['compute_by']})",
        )
        for roof in known["roofs"]
        if "memory" in roof
    ]
    return ["## Rooflines", "", *table(("device", "copy", "matrix product"), lines)] if lines else []


def _rated(roof: Mapping[str, Any]) -> str:
    return f", rated at {rate_text(roof['memory_rated'], 'B/s')}" if "memory_rated" in roof else ""


def _gpus(known: RunEnvironment) -> list[str]:
    facts = [f"- {tables.gpu_text(gpu)}" for gpu in known.get("gpus", ())]
    return ["## GPUs", "", *facts, "", *table(tables.GPU_COLUMNS, tables.gpu_lines(known))] if facts else []


def table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """A Markdown table, followed by an empty line."""
    lines = [columns, ["---"] * len(columns), *([cell.replace("|", "\\|") for cell in row] for row in rows)]
    return [*(f"| {' | '.join(line)} |" for line in lines), ""]
