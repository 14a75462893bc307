"""What people read: one table for each workload, in the terminal and as Markdown, and a table of what is missing."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from xarrayops._doctor import device_text
from xarrayops.bench import memory
from xarrayops.bench.cell import TRANSFERS
from xarrayops.bench.results import Row
from xarrayops.bench.workloads import Workload

if TYPE_CHECKING:
    from rich.console import Console

COLUMNS = (
    *("backend", "device", "time", "interval", "throughput", "of roof", "peak memory", "first call", "transfer"),
    *("error", ""),
)
NO_INTERVAL = "1 round"
"""What stands under "interval" where there is none."""
INTERRUPTED = "The run was interrupted."
BUSY = 0.5
"""The load per CPU from which on a warning is due."""
_LEFT = ("backend", "device", "")
_DISPENSABLE = ("transfer", "error", "first call", "peak memory", "interval", "throughput")
_GAP = 2  # between columns: the padding, and what the box draws
MISSING_COLUMNS = ("backend", "workloads", "status", "why", "what helps")
NOTES = (
    "time: median of a call over rounds that alternate between all cells; each answer was checked against a float64 "
    "oracle before and after timing. Functions run one by one, under no compiler (no jax.jit, no torch.compile).",
    "interval: holds the true median with the confidence in results.jsonl, 95 % or more from six rounds on; it takes "
    f"two, and {NO_INTERVAL!r} stands where the budget left none for a second. Cells whose intervals overlap that of "
    "the fastest are a tie; without intervals none is called the fastest.",
    "of roof: part of what this device allows, by the best copy and matrix product that any library here reached on "
    "it, their answers checked. More than 100 % has a question mark: it shows that the roof is wrong. Empty where the "
    "budget ended before the probes, or their answers were wrong.",
    f"peak memory: {memory.METHOD}. Empty on accelerators, and where the budget ended first.",
    "first call: the workload's first at this shape, with compilation, without the library's import and start-up. "
    f"transfer: the conversion of the inputs from NumPy, the median of {TRANSFERS}.",
    "error: largest difference from the oracle, as a part of the oracle's largest value.",
)


def disturbance(rows: Sequence[Row]) -> str | None:
    """A warning where other programs kept the CPUs busy before the run."""
    load = rows[0].load if rows else None
    if load is None or load < BUSY * (os.cpu_count() or 1):
        return None
    return (
        f"The machine was busy before the run (load {load:.1f} on {os.cpu_count()} CPUs): times are longer and vary "
        f"more than they would on an idle one, most of all where a library runs several threads."
    )


def suspicion(rows: Sequence[Row]) -> str | None:
    """A warning where a cell is beyond the roof of its device."""
    if not any(_beyond_roof(row) for row in rows):
        return None
    return (
        'A "?" marks more than 100 % of a roof, which no program can reach: the probes of that roof were disturbed, or '
        "the data fit into a cache that the probes are too large for. Rely on no part of that roof."
    )


def _beyond_roof(row: Row) -> bool:
    return row.roof_fraction is not None and row.roof_fraction > 1.0


def warnings(rows: Sequence[Row]) -> list[str]:
    """What must be known before a number is believed."""
    return [warning for warning in (disturbance(rows), suspicion(rows)) if warning]


def fastest(rows: Sequence[Row]) -> dict[str, str]:
    """What is said of the cells of one table, by backend and device: "fastest", or "tie" where intervals overlap."""
    bounded = [row for row in rows if row.low_s is not None and row.high_s is not None]
    if not bounded or len(bounded) < len([row for row in rows if row.measured]):
        return {}
    best = min(bounded, key=lambda row: row.median_s or 0.0)
    first = [row for row in bounded if (row.low_s or 0.0) <= (best.high_s or 0.0)]
    return {_place(row): "fastest" if len(first) == 1 else "fastest (tie)" for row in first}


def tables(rows: Sequence[Row]) -> Iterator[tuple[str, list[Row], dict[str, str]]]:
    """The measured rows by workload and dtype, fastest first, each table with its title and marks."""

    def table(row: Row) -> tuple[str, str, str]:
        return row.workload, row.dtype, shapes_text(row.shape)

    for title, group in groupby(rows, key=table):
        measured = sorted((row for row in group if row.measured), key=lambda row: row.median_s or 0.0)
        if measured:
            workload, dtype, shape = title
            yield f"{workload}: {dtype}, {shape}", measured, fastest(measured)


def cells(row: Row, marks: dict[str, str]) -> tuple[str, ...]:
    """A measured row as text, under `COLUMNS`."""
    return (
        row.backend,
        device_text(row.device, row.device_kind, row.device_label),
        seconds_text(row.median_s),
        NO_INTERVAL if row.low_s is None else f"{seconds_text(row.low_s)} to {seconds_text(row.high_s)}",
        rate_text(row.throughput, row.throughput_unit),
        "" if row.roof_fraction is None else f"{row.roof_fraction:.0%}{'?' * _beyond_roof(row)} {row.roof}",
        bytes_text(row.peak_bytes),
        seconds_text(row.first_call_s),
        seconds_text(row.transfer_s),
        f"{row.error:.0e}" if row.error else "0",
        marks.get(_place(row), ""),
    )


def missing(rows: Sequence[Row]) -> list[tuple[str, ...]]:
    """The empty cells under `MISSING_COLUMNS`; workloads that fail for one reason share a line."""
    lines: dict[tuple[str, ...], list[str]] = {}
    for row in rows:
        if not row.measured:
            place = " ".join(part for part in (row.backend, row.device) if part)
            lines.setdefault((place, row.status, row.reason, row.fix), []).append(f"{row.workload} {row.dtype}")
    every = len({(row.workload, row.dtype) for row in rows})
    return [
        (place, "all" if len(names) == every else ", ".join(names), status, reason, fix)
        for (place, status, reason, fix), names in lines.items()
    ]


def show(rows: Sequence[Row], console: Console) -> None:
    """Print the tables; where the terminal is too narrow, without the columns that matter less."""
    drawn = [(title, [cells(row, marks) for row in measured]) for title, measured, marks in tables(rows)]
    kept = fitting([COLUMNS, *(line for _, lines in drawn for line in lines)], console.width)
    for title, lines in drawn:
        table = _table(title)
        for i in kept:
            table.add_column(COLUMNS[i], justify="left" if COLUMNS[i] in _LEFT else "right", no_wrap=True)
        for line in lines:
            table.add_row(*(Text(line[i], style="green" if line[-1] else "") for i in kept))
        console.print(table)
    absent = missing(rows)
    if absent:
        table = _table("Not measured")
        for column in MISSING_COLUMNS:
            table.add_column(column, overflow="fold")
        for line in absent:
            table.add_row(*map(Text, line))
        console.print(table)
    left_out = [COLUMNS[i] for i in range(len(COLUMNS)) if i not in kept]
    if drawn and left_out:
        console.print(Text(f"This terminal is too narrow for: {', '.join(left_out)}. The report has them."))
    for warning in warnings(rows):
        console.print(Text(f"WARNING: {warning}", style="bold yellow"))


def _table(title: str) -> Table:
    return Table(title=title, title_justify="left", title_style="bold", box=SIMPLE_HEAD, padding=(0, _GAP - 1, 0, 0))


def fitting(lines: Sequence[Sequence[str]], width: int) -> list[int]:
    """The places of the columns that fit into so many characters; those in `_DISPENSABLE` go first, in that order."""
    widths = [max(len(line[i]) for line in lines) + _GAP for i in range(len(COLUMNS))]
    kept = list(range(len(COLUMNS)))
    for name in _DISPENSABLE:
        if sum(widths[i] for i in kept) < width:
            break
        kept.remove(COLUMNS.index(name))
    return kept


def summary(rows: Sequence[Row]) -> str:
    """How many cells were measured, of those that a library which is here could fill."""
    runnable = [row for row in rows if row.device]
    told = f"{sum(row.measured for row in runnable)} of {len(runnable)} cells measured"
    absent = len(rows) - len(runnable)
    return f"{told} (and {absent} of libraries that cannot run here)" if absent else told


def markdown(rows: Sequence[Row], workloads: Sequence[Workload], command: str, *, interrupted: bool = False) -> str:
    """The report as Markdown, with what was timed, the machine and the versions."""
    timed = {workload.name: workload.timed for workload in workloads}
    lines = ["# xarrayops benchmark", ""]
    if rows:
        lines += [f"`{command}` on {rows[0].machine}.", ""]
    for warning in ([f"{INTERRUPTED} This is what was measured until then."] * interrupted) + warnings(rows):
        lines += [f"**{warning}**", ""]
    for title, measured, marks in tables(rows):
        lines += [f"## {title}", "", f"Timed: {timed[measured[0].workload]}.", ""]
        lines += _markdown_table(COLUMNS, [cells(row, marks) for row in measured])
    absent = missing(rows)
    if absent:
        lines += ["## Not measured", "", *_markdown_table(MISSING_COLUMNS, absent)]
    versions = {row.backend: row.versions for row in rows if row.versions}
    lines += ["## Versions", ""]
    for backend, known in versions.items():
        lines.append(f"- {backend}: {', '.join(f'{name} {version}' for name, version in known.items())}")
    return "\n".join([*lines, "", "## How to read this", "", *(f"- {note}" for note in NOTES), ""])


def _markdown_table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    lines = [columns, ["---"] * len(columns), *([cell.replace("|", "\\|") for cell in row] for row in rows)]
    return [*(f"| {' | '.join(line)} |" for line in lines), ""]


def _place(row: Row) -> str:
    return f"{row.backend} {row.device}"


def shapes_text(shapes: Sequence[Sequence[int]]) -> str:
    """Shapes as people write them.

    >>> shapes_text([[3, 4], [4, 5]])
    '3x4, 4x5'
    """
    return ", ".join("x".join(map(str, shape)) for shape in shapes)


def seconds_text(seconds: float | None) -> str:
    """A duration with three digits.

    >>> seconds_text(0.01234), seconds_text(2.5e-6), seconds_text(None)
    ('12.3 ms', '2.50 us', '')
    """
    if seconds is None:
        return ""
    unit, scale = next(((u, s) for u, s in (("s", 1.0), ("ms", 1e-3)) if seconds >= s), ("us", 1e-6))
    return f"{_digits(seconds / scale)} {unit}"


def _digits(value: float) -> str:
    """A value with three digits, trailing zeros too, or more where it is large."""
    return f"{value:#.3g}".rstrip(".") if value < 999.5 else f"{value:.0f}"


def rate_text(rate: float | None, unit: str) -> str:
    """A rate with a decimal prefix.

    >>> rate_text(6.12e10, "FLOP/s"), rate_text(4.2e12, "B/s")
    ('61.2 GFLOP/s', '4.20 TB/s')
    """
    if rate is None:
        return ""
    prefix, scale = next(((p, s) for p, s in (("T", 1e12), ("G", 1e9), ("M", 1e6)) if rate >= s), ("k", 1e3))
    return f"{_digits(rate / scale)} {prefix}{unit}"


def bytes_text(nbytes: int | None) -> str:
    """A size with a binary prefix.

    >>> bytes_text(50331648), bytes_text(0), bytes_text(None)
    ('48.0 MiB', '0', '')
    """
    if nbytes is None:
        return ""
    prefix, scale = next(((p, s) for p, s in (("GiB", 2**30), ("MiB", 2**20)) if nbytes >= s), ("KiB", 2**10))
    return f"{_digits(nbytes / scale)} {prefix}" if nbytes else "0"
