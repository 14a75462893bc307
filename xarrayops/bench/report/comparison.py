"""What changed between two runs, as people read it."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from xarrayops.bench.compare.compare import by_turns
from xarrayops.bench.compare.verdict import OUTCOMES, Outcome, Verdict
from xarrayops.bench.report import markdown as md
from xarrayops.bench.report.formatting import seconds_text
from xarrayops.bench.results import Results

if TYPE_CHECKING:
    from rich.console import Console

COLUMNS = ("workload", "place", "old", "new", "ratio", "outcome", "why")
FEW = 10
"""How many of the undecided cells the terminal lists, of which the file has all; and so many that are the same."""
_OF_THE_RUN = frozenset(
    (
        *("date", "command", "seconds", "load", "others", "roofs", "workloads", "resolution", "launch_s"),
        *("interrupted", "turns", "gpu_states"),
    )
)
"""What differs between any two runs."""
_TOLD = ("xarrayops", "python", "machine.", "versions.", "settings.", "switches.", "gpus.")
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
    turns = by_turns(old, new)
    times = "times are medians" if turns else "times are those of the best round, where the reports have medians"
    names = [
        _of_side(results, "pythons") if turns else results.environment.get("date", "without a date")
        for results in (old, new)
    ]
    lines = [f"old: {names[0]}; new: {names[1]}; {times}"]
    if turns:
        lines.append("They were measured by turns: a ratio is the median over pairs of rounds that followed each other")
        lines += _one_sided(old, new)
        before, after = (_of_side(results, "packages") for results in (old, new))
        apart = f"xarrayops: that of old is in {before}, that of new in {after}"
        lines.append(f"Both have the xarrayops in {before}" if before == after else apart)
    if other := _other_work(old, new):
        lines.append(f"The code of these workloads differs, and so may what they do: {', '.join(other)}")
    different = [d for d in environment_difference(old, new) if d[0].startswith(_TOLD)]
    lines += [f"{name}: {before or 'none'}, now {after or 'none'}" for name, before, after in different]
    counts = Counter(verdict.outcome for verdict in verdicts)
    empty = counts.pop("empty", 0)
    told = ", ".join(f"{counts[outcome]} {outcome}" for outcome in OUTCOMES if counts[outcome])
    plural = "s" * (counts.total() != 1)
    count = f"{counts.total()} cell{plural}: {told}" if counts else "no cells"
    return [*lines, f"{count}; and {empty} that neither run measured" if empty else count]


def _of_side(results: Results, what: str) -> str:
    """What is known of each side of a run by turns, of this one."""
    turns = results.environment["turns"]
    return str(turns[what][turns["side"]])


def _one_sided(old: Results, new: Results) -> list[str]:
    """The backends that were measured on one side alone, and why not on the other."""
    told = []
    for results, other in ((old, new), (new, old)):
        here, there = ({row.backend for row in each.rows if row.measured} for each in (results, other))
        reasons = {row.backend: f"{row.status}: {row.reason}" for row in results.rows if row.backend in there - here}
        python = _of_side(results, "pythons")
        told += [f"Nothing of {backend} was measured with {python}. {why}" for backend, why in reasons.items()]
    return told


def _other_work(old: Results, new: Results) -> list[str]:
    """The workloads whose code is known in both and differs."""
    before, after = (
        {name: known["digest"] for name, known in results.environment.get("workloads", {}).items() if "digest" in known}
        for results in (old, new)
    )
    return [name for name in before if name in after and before[name] != after[name]]


def lines(verdicts: Sequence[Verdict], *, same: bool = False) -> list[tuple[str, ...]]:
    """The verdicts that people need, under `COLUMNS`; those of what is the same if they are asked for.

    Where neither run has a time there is nothing to tell.
    """
    unlisted = {"empty"} if same else {"empty", "same"}
    return [line(verdict) for verdict in verdicts if verdict.outcome not in unlisted]


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
    alike = sum(verdict.outcome == "same" for verdict in verdicts)
    unlisted = {"empty", "undecided"} if by_turns(old, new) and alike <= FEW else {"empty", "undecided", "same"}
    drawn = [verdict for verdict in verdicts if verdict.outcome not in unlisted]
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
    drawn = lines(verdicts, same=by_turns(old, new))
    return "\n".join(["# What changed", "", *told, "", *(md.table(COLUMNS, drawn) if drawn else [])])
