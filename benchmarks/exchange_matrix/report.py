"""The reports of the matrix: tables in the terminal, a page of Markdown, and the results files."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.table import Table
from rich.text import Text

from benchmarks.exchange_matrix.cells import FAULTY, OUTCOMES, Pair
from benchmarks.exchange_matrix.runner import Matrix
from benchmarks.exchange_matrix.summary import (
    DtypesAndKinds,
    described,
    dtypes_and_kinds,
    short,
    summary,
    whole,
)

if TYPE_CHECKING:
    from rich.console import Console

_FAULTS_SHOWN = 20
_HEAD = """\
# Exchange matrix

What `xo.convert(x, to)` does between two libraries: it shares the memory, copies it, or refuses. The tables come from a
run of `python -m benchmarks.exchange_matrix`. It converts every cell with `copy=None`, `False` and `True`,
compares the values bit for bit, and checks the outcome against `xo.explain` and `xo.shares_memory`.

- The tables show `copy=None`, which copies only when it must. `copy=False` raises an `ExchangeError` instead of a copy,
  except for the cells in the last column. `copy=True` copies everything that is not refused.
- Kinds of memory: C and F order; sliced, negative and zero strides (broadcast); an axis of extent 1, whose stride has
  no meaning; 0-d; empty; read-only; unaligned; big-endian; and, on request, an array of more than 2 GiB for each pair.
  Kinds that the arrays of a library cannot have are left out.
- A dtype by itself means this dtype in every kind of memory. A kind by itself means this kind in all other dtypes.
- "x64 on" and "x64 off" are the two states of JAX's switch `jax_enable_x64`.
"""
_COLUMNS = "| to | zero-copy | copy (reason) | refused (reason) | `copy=False` |"


def write(matrix: Matrix, folder: Path) -> None:
    """Write ``exchange.jsonl`` (a line per cell), ``exchange.json`` (the summary) and ``exchange.md``."""
    folder.mkdir(parents=True, exist_ok=True)
    lines = (json.dumps(result.as_dict()) for result in matrix.results)
    (folder / "exchange.jsonl").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    found = summary(matrix)
    (folder / "exchange.json").write_text(_by_line(found), encoding="utf-8")
    (folder / "exchange.md").write_text(markdown(found), encoding="utf-8")


def _by_line(found: dict[str, Any]) -> str:
    """JSON with a line for each entry of a pair, which gives readable diffs."""
    head = json.dumps({name: value for name, value in found.items() if name != "pairs"}, indent=1)
    pairs = []
    for pair in found["pairs"]:
        start = json.dumps({name: value for name, value in pair.items() if name != "found"})
        entries = ",\n   ".join(map(json.dumps, pair["found"]))
        pairs.append(f'  {start[:-1]}, "found": [\n   {entries}\n  ]}}')
    return f'{head[:-2]},\n "pairs": [\n' + ",\n".join(pairs) + "\n ]\n}\n"


def show(matrix: Matrix, console: Console) -> None:
    """Print the counts of each pair, the reasons for copies and refusals, and the faults."""
    columns = [outcome for outcome in OUTCOMES if any(result.outcome == outcome for result in matrix.results)]
    table = Table("from -> to", title="Cells by outcome", title_justify="left")
    for outcome in columns:
        table.add_column(outcome, justify="right", style="red" if outcome in FAULTY else None)
    counts: dict[Pair, Counter[str]] = defaultdict(Counter)
    reasons: dict[tuple[str, str], Counter[Pair]] = defaultdict(Counter)
    for result in matrix.results:
        counts[result.pair][result.outcome] += 1
        if result.outcome not in FAULTY:
            reasons[result.outcome, short(result.reason, result.cell.dtype)][result.pair] += 1
    for pair, of_pair in counts.items():
        table.add_row(pair.label, *(str(of_pair[outcome] or "") for outcome in columns))
    by_reason = Table("outcome", "reason", "cells", "pairs", title="Reasons", title_justify="left")
    for (outcome, reason), pairs in sorted(reasons.items(), key=lambda item: OUTCOMES.index(item[0][0])):
        by_reason.add_row(outcome, Text(reason), str(pairs.total()), str(len(pairs)))
    console.print(table, by_reason)
    faults = [result for result in matrix.results if result.outcome in FAULTY]
    for result in faults[:_FAULTS_SHOWN]:
        cell = result.cell
        where = f"{result.pair.label}, {cell.dtype}, {cell.kind}, copy={cell.copy}"
        console.print(Text(f"{result.outcome.upper()}: {where}: {result.reason}", style="red"))
    if len(faults) > _FAULTS_SHOWN:
        console.print(f"... and {len(faults) - _FAULTS_SHOWN} more; --out writes all of them")


def counts_text(matrix: Matrix) -> str:
    """The counts in one line."""
    counts = Counter(result.outcome for result in matrix.results)
    text = ", ".join(f"{counts[outcome]} {outcome}" for outcome in OUTCOMES if counts[outcome])
    return f"{len(matrix.results)} cells: {text or 'none'}"


def markdown(found: dict[str, Any]) -> str:
    """The page with a table for each producer, from a summary."""
    counts = ", ".join(f"{count} {outcome}" for outcome, count in found["counts"].items())
    versions = ", ".join(f"{name} {version}" for name, version in found["versions"].items())
    lines = [_HEAD, f"{found['cells']} cells: {counts}. {versions}; {found['machine']}."]
    by_producer: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for pair in found["pairs"]:
        by_producer[pair["producer"]].append(pair)
    for producer, pairs in by_producer.items():
        lines += ["", f"## From {producer}", "", _COLUMNS]
        lines += ["|---|---|---|---|---|", *_merged(pairs)]
    return "\n".join(lines) + "\n"


def _merged(pairs: list[dict[str, Any]]) -> list[str]:
    """A row for each consumer. Settings with equal rows are merged."""
    rows: dict[tuple[str, str], list[str]] = {}
    for pair in pairs:
        rows.setdefault((pair["consumer"], _row(pair["found"])), []).append(pair["setting"])
    split = Counter(consumer for consumer, _ in rows)
    return [
        f"| {consumer}{f' ({settings[0]})' if split[consumer] > 1 else ''} {row}"
        for (consumer, row), settings in rows.items()
    ]


def _row(found: list[dict[str, Any]]) -> str:
    """The columns of a pair."""
    plain = [e for e in found if e["copy"] == "None" and e["outcome"] not in ("not made", "skipped")]
    made, by_outcome = dtypes_and_kinds(plain), {(e["outcome"], e["reason"]): dtypes_and_kinds([e]) for e in plain}
    merged: dict[tuple[str, str], DtypesAndKinds] = defaultdict(set)
    for (outcome, reason), cells in by_outcome.items():
        merged[outcome, "" if outcome == "zero-copy" else reason] |= cells
    alone = {key: whole(cells, made) for key, cells in merged.items()}
    columns: dict[str, list[str]] = defaultdict(list)
    for (outcome, reason), cells in merged.items():
        elsewhere = {dtype for key, dtypes in alone.items() if key != (outcome, reason) for dtype in dtypes}
        text = described(cells, made, elsewhere)
        text = f"{outcome}: {text}" if outcome in FAULTY else text
        columns["refused" if outcome in FAULTY else outcome].append(f"{text}: {reason}" if reason else text)
    forced = dtypes_and_kinds(e for e in found if e["copy"] == "False" and e["outcome"] == "zero-copy")
    if forced := forced - merged["zero-copy", ""]:
        columns["forced"].append(f"aliases {described(forced, made)}")
    texts = ("<br>".join(columns[name]).replace("|", "\\|") for name in ("zero-copy", "copy", "refused", "forced"))
    return f"| {' | '.join(text or '-' for text in texts)} |"
