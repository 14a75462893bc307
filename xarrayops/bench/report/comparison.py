"""The report of a comparison of two runs."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import Literal

from xarrayops._cli.terminal import SIMPLE_HEAD, Console, Table, Text
from xarrayops.bench.compare.compare import is_interleaved
from xarrayops.bench.compare.environments import changed_workloads, shown_differences
from xarrayops.bench.compare.verdict import OUTCOMES, Outcome, Verdict
from xarrayops.bench.report import markdown as md
from xarrayops.bench.report.formatting import seconds_text
from xarrayops.bench.results import Results

COLUMNS = ("workload", "backend and device", "old", "new", "ratio", "outcome", "reason")
FEW = 10
"""The maximum number of undecided cells, and of unchanged cells, in the terminal. The file has all of them."""
_STYLES: dict[Outcome, str] = {"broken": "bold red", "slower": "red", "faster": "green", "fixed": "green"}


def heading(verdicts: Sequence[Verdict], old: Results, new: Results) -> list[str]:
    """The lines above the table: the two runs, the differences between their environments, and the counts."""
    interleaved = is_interleaved(old, new)
    dates = [results.environment.get("date", "without a date") for results in (old, new)]
    names = [_own(results, "pythons") for results in (old, new)] if interleaved else dates
    times = "times are medians" if interleaved else "times are the best rounds (the reports show medians)"
    lines = [f"old: {names[0]}; new: {names[1]}; {times}"]
    if interleaved:
        lines.append("The rounds were interleaved: a ratio is the median over pairs of consecutive rounds")
        lines += _one_sided(old, new)
        before, after = (_own(results, "packages") for results in (old, new))
        both = f"Both use the xarrayops in {before}"
        lines.append(both if before == after else f"xarrayops: old in {before}, new in {after}")
    both_environments = (old.environment, new.environment)
    if changed := changed_workloads(both_environments):
        lines.append(f"The code of these workloads differs between the runs: {', '.join(changed)}")
    different = shown_differences(both_environments)
    lines += [f"{name}: {before or 'none'}, now {after or 'none'}" for name, before, after in different]
    counts = Counter(verdict.outcome for verdict in verdicts)
    empty = counts.pop("empty", 0)
    outcomes = ", ".join(f"{counts[outcome]} {outcome}" for outcome in OUTCOMES if counts[outcome])
    plural = "s" * (counts.total() != 1)
    count = f"{counts.total()} cell{plural}: {outcomes}" if counts else "no cells"
    return [*lines, f"{count}; {empty} more were measured in neither run" if empty else count]


def _own(results: Results, what: Literal["pythons", "packages"]) -> str:
    """The Python executable, or the folder of xarrayops, of this environment of an interleaved run."""
    position = results.environment["interleaved"]
    return position[what][position["index"]] if position else ""


def _one_sided(old: Results, new: Results) -> list[str]:
    """The backends that were measured in one environment only, and the reason."""
    lines = []
    for results, other in ((old, new), (new, old)):
        here, there = ({row.backend for row in each.rows if row.measured} for each in (results, other))
        reasons = {row.backend: f"{row.status}: {row.reason}" for row in results.rows if row.backend in there - here}
        python = _own(results, "pythons")
        lines += [f"No cell of {backend} was measured with {python}. {why}" for backend, why in reasons.items()]
    return lines


def lines(verdicts: Sequence[Verdict], *, same: bool = False) -> list[tuple[str, ...]]:
    """The verdicts under `COLUMNS`. Unchanged cells are included on request; cells without any time never are."""
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
    """Print the changes, worst first, and the undecided cells with the largest ratios."""
    undecided = [verdict for verdict in verdicts if verdict.outcome == "undecided"]
    unsure = sorted(undecided, key=lambda verdict: abs(math.log(verdict.ratio or 1.0)), reverse=True)[:FEW]
    same = sum(verdict.outcome == "same" for verdict in verdicts)
    unlisted = {"empty", "undecided"} if is_interleaved(old, new) and same <= FEW else {"empty", "undecided", "same"}
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
        console.print(Text(f"{len(undecided) - FEW} more cells with smaller ratios are undecided; see compare.md."))
    for text in heading(verdicts, old, new):
        console.print(Text(text))


def markdown(verdicts: Sequence[Verdict], old: Results, new: Results) -> str:
    """The comparison in Markdown, for a pull request, with all undecided cells."""
    items = [f"- {line}" for line in heading(verdicts, old, new)]
    drawn = lines(verdicts, same=is_interleaved(old, new))
    return "\n".join(["# Changes", "", *items, "", *(md.table(COLUMNS, drawn) if drawn else [])])
