"""What changed between two runs, as people read it."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from xarrayops.bench import markdown as md
from xarrayops.bench.compare import by_turns
from xarrayops.bench.results import Results
from xarrayops.bench.text import seconds_text
from xarrayops.bench.verdict import OUTCOMES, Outcome, Verdict

if TYPE_CHECKING:
    from rich.console import Console

COLUMNS = ("workload", "place", "old best", "new best", "ratio", "outcome", "why")
FEW = 10
"""How many of the undecided cells the terminal lists, of which the file has all."""
_UNLISTED: tuple[Outcome, ...] = ("same", "empty")
_OF_THE_RUN = frozenset(
    (
        *("date", "command", "seconds", "load", "others", "roofs", "workloads", "resolution", "launch_s"),
        *("interrupted", "turns"),
    )
)
"""What differs between any two runs."""
_TOLD = ("xarrayops", "python", "machine.", "versions.", "settings.")
_STYLES: dict[Outcome, str] = {"broken": "bold red", "slower": "red", "faster": "green", "mended": "green"}


def environment_difference(old: Results, new: Results) -> list[tuple[str, str, str]]:
    """The entries of the environments that differ and might matter: dotted name, old and new value, "" for none."""
    before, after = (dict(_entries(results.environment)) for results in (old, new))
    names = dict.fromkeys([*before, *after])
    return [(n, before.get(n, ""), after.get(n, "")) for n in names if before.get(n) != after.get(n)]


def _entries(value: Any, name: str = "") -> Iterator[tuple[str, str]]:
    """The leaves of nested data by dotted name."""
    if isinstance(value, dict):
        inner = [(str(key), each) for key, each in value.items() if name or key not in _OF_THE_RUN]
    elif isinstance(value, list):
        inner = [(str(i), each) for i, each in enumerate(value)]
    else:
        yield name, str(value)
        return
    for key, each in inner:
        yield from _entries(each, f"{name}.{key}" if name else key)


def heading(verdicts: Sequence[Verdict], old: Results, new: Results) -> list[str]:
    """Lines above the table: which runs, what differs between their machines and libraries, and the count."""
    turns, best = by_turns(old, new), "times are those of the best round, where the reports have medians"
    names = [_python(results) if turns else results.environment.get("date", "without a date") for results in (old, new)]
    lines = [f"old: {names[0]}; new: {names[1]}; {best}"]
    if turns:
        lines.append(
            "They were measured by turns: a ratio is the median over pairs of rounds that followed each other."
        )
    if turns and new.environment["turns"]["alike"]:
        lines.append("Both are the same environment: unless settings differ, what differs is chance.")
    if other := _other_work(old, new):
        lines.append(f"The code of these workloads differs, and so may what they do: {', '.join(other)}")
    different = [d for d in environment_difference(old, new) if d[0].startswith(_TOLD)]
    lines += [f"{name}: {before or 'none'}, now {after or 'none'}" for name, before, after in different]
    counts = Counter(verdict.outcome for verdict in verdicts)
    empty = counts.pop("empty", 0)
    told = ", ".join(f"{counts[outcome]} {outcome}" for outcome in OUTCOMES if counts[outcome])
    count = f"{counts.total()} cells: {told}" if counts else "no cells"
    return [*lines, f"{count}; and {empty} that neither run measured" if empty else count]


def _python(results: Results) -> str:
    """What started the Python of a side."""
    turns = results.environment["turns"]
    return str(turns["pythons"][turns["side"]])


def _other_work(old: Results, new: Results) -> list[str]:
    """The workloads whose code is known in both and differs."""
    before, after = (
        {name: known["digest"] for name, known in results.environment.get("workloads", {}).items() if "digest" in known}
        for results in (old, new)
    )
    return [name for name in before if name in after and before[name] != after[name]]


def lines(verdicts: Sequence[Verdict]) -> list[tuple[str, ...]]:
    """The verdicts that people need, under `COLUMNS`: not where nothing changed, nor where neither run has a time."""
    return [line(verdict) for verdict in verdicts if verdict.outcome not in _UNLISTED]


def line(verdict: Verdict) -> tuple[str, ...]:
    """A verdict under `COLUMNS`."""
    cell = verdict.cell
    return (
        f"{cell.workload} {cell.dtype} {cell.size}",
        f"{cell.backend} {cell.device}".strip(),
        seconds_text(verdict.old_s),
        seconds_text(verdict.new_s),
        "" if verdict.ratio is None else f"{verdict.ratio:.2f}",
        verdict.outcome,
        verdict.reason,
    )


def show(verdicts: Sequence[Verdict], old: Results, new: Results, console: Console) -> None:
    """Print what changed, the worst first; of what is undecided, what moved most."""
    undecided = [verdict for verdict in verdicts if verdict.outcome == "undecided"]
    unsure = sorted(undecided, key=lambda verdict: abs(math.log(verdict.ratio or 1.0)), reverse=True)[:FEW]
    drawn = [verdict for verdict in verdicts if verdict.outcome not in (*_UNLISTED, "undecided")]
    if drawn or unsure:
        table = Table(box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
        for column in COLUMNS:
            right = column in COLUMNS[2:5]
            table.add_column(column, justify="right" if right else "left", no_wrap=right, overflow="fold")
        for verdict in (*drawn, *unsure):
            table.add_row(*map(Text, line(verdict)), style=_STYLES.get(verdict.outcome, ""))
        console.print(table)
    if len(undecided) > FEW:
        console.print(Text(f"{len(undecided) - FEW} more are undecided that moved less: compare.md lists them."))
    for told in heading(verdicts, old, new):
        console.print(Text(told))


def markdown(verdicts: Sequence[Verdict], old: Results, new: Results) -> str:
    """The same for a pull request, with all that is undecided."""
    told = [f"- {line}" for line in heading(verdicts, old, new)]
    drawn = lines(verdicts)
    return "\n".join(["# What changed", "", *told, "", *(md.table(COLUMNS, drawn) if drawn else [])])
