"""The terminal output."""

from __future__ import annotations

from collections.abc import Sequence

from xarrayops._cli import arguments
from xarrayops._cli.terminal import SIMPLE_HEAD, Console, Table, Text
from xarrayops.bench.compare import ranking
from xarrayops.bench.report import rankings, tables
from xarrayops.bench.results import Results

_LEFT = ("backend", "device", "")
_OPTIONAL = ("error", "cold", "transfer", "wins after", "first call", "peak memory", "interval", "throughput")
_COMMAND = len("'xarrayops[cupy-cuda12x]'")
"""The longest word of a command that users copy."""
_GAP = 2  # between columns: padding and box
_STYLES = {ranking.FASTEST: "bold green", ranking.TIE: "green", "missing": "dim", "": ""}
FEW = 6
"""The maximum number of tables, and of workloads in a line of empty cells. The report shows all of them."""


def show(results: Results, console: Console) -> None:
    """Print the matrix or the full tables, the regret, the empty cells, and the warnings."""
    drawn = [(tables.title(head), lines) for head, lines in tables.tables(results)]
    if len(drawn) > FEW:
        _matrix(results, console)
    else:
        _tables(drawn, console)
    for note in tables.cell_notes(results.rows):
        console.print(Text(note))
    for title, columns, lines in rankings.rankings(results):
        console.print(_table(title, columns, lines))
    known = results.environment.get("machines")
    if known:
        console.print(_table("Machines", known["columns"], known["lines"]))
    absent = tables.missing(results.rows, FEW)
    if absent:
        table = _table("Not measured", tables.MISSING_COLUMNS, absent)
        table.columns[-1].min_width = _COMMAND  # the fixes
        console.print(table)
    for warning in tables.warnings(results):
        console.print(Text(f"WARNING: {warning}", style="bold yellow"))


def _matrix(results: Results, console: Console) -> None:
    """One line for each workload, dtype and size; a column for each backend and device."""
    places, lines = tables.matrix(results)
    table = _table(f"Time of a call ({rankings.LEGEND})", ("workload, dtype, size",))
    for place in places:
        table.add_column(place, justify="right")
    group = ""
    for name, drawn in lines:
        if group and name.split()[0] != group:
            table.add_section()
        group = name.split()[0]
        table.add_row(Text(name), *(Text(text + rankings.SIGNS[mark], style=_STYLES[mark]) for text, mark in drawn))
    console.print(table)


def _tables(drawn: Sequence[tuple[str, Sequence[tuple[str, ...]]]], console: Console) -> None:
    """All tables, without the less important columns where the terminal is too narrow."""
    kept = fitting([tables.COLUMNS, *(line for _, lines in drawn for line in lines)], console.width)
    for title, lines in drawn:
        table = _table(title, ())
        for i in kept:
            name = tables.COLUMNS[i]
            table.add_column(name, justify="left" if name in _LEFT else "right", no_wrap=True)
        for line in lines:
            table.add_row(*(Text(line[i], style=_STYLES[line[-1]]) for i in kept))
        console.print(table)
    left_out = [name for i, name in enumerate(tables.COLUMNS) if i not in kept]
    if drawn and left_out:
        console.print(Text(f"Columns omitted in this narrow terminal: {', '.join(left_out)}. The report has them."))


def _table(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]] = ()) -> Table:
    return arguments.table(title, columns, rows, title_style="bold", box=SIMPLE_HEAD, padding=(0, _GAP - 1, 0, 0))


def fitting(lines: Sequence[Sequence[str]], width: int) -> list[int]:
    """The indices of the columns that fit into this width. Columns in `_OPTIONAL` are removed first, in that order."""
    widths = [max(len(line[i]) for line in lines) + _GAP for i in range(len(tables.COLUMNS))]
    kept = list(range(len(tables.COLUMNS)))
    for name in _OPTIONAL:
        if sum(widths[i] for i in kept) < width:
            break
        kept.remove(tables.COLUMNS.index(name))
    return kept
