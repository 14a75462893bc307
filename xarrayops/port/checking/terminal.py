"""The report in the terminal."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from rich.text import Text

from xarrayops.port.checking.report import Report
from xarrayops.port.checking.verdict import READY, REDESIGN, SMALL_FIXES, STAY, Verdict
from xarrayops.port.findings import Finding, alike, times

if TYPE_CHECKING:
    from rich.console import Console

_STYLES = {READY: "green", SMALL_FIXES: "yellow", REDESIGN: "bold red", STAY: "bold red"}


def show(report: Report, console: Console) -> None:
    """Print the findings line by line, and the verdicts."""
    for line, found in groupby(report.findings, key=lambda finding: finding.line):
        place = report.source.place(line)
        console.print(Text(f"{place}: {report.source.lines[line - 1].strip()}", style="bold"), soft_wrap=True)
        for finding, count in alike(found).items():
            console.print(_finding(finding, count), soft_wrap=True)
    console.print(Text(f"{report.source.path}: {report.summary()}"), soft_wrap=True)
    for forecast in report.forecasts:
        console.print(Text(f"{forecast.backend} {forecast.device}: {forecast.text()}"), soft_wrap=True)
    for note in report.notes:
        console.print(Text(note), soft_wrap=True)
    for verdict in report.verdicts:
        console.print(_verdict(verdict), soft_wrap=True)


def _finding(finding: Finding, count: int) -> Text:
    guess = "" if finding.certain else ", if this is an array"
    return Text.assemble(
        (f"  {finding.kind}", "yellow" if finding.certain else "dim"),
        (f" [{', '.join(finding.backends)}]{guess}: ", "dim"),
        f"{finding.what}. Instead: {finding.instead}{times(count)}",
    )


def _verdict(verdict: Verdict) -> Text:
    return Text.assemble(
        f"{verdict.backend}: ", (verdict.verdict, _STYLES[verdict.verdict]), f" ({'; '.join(verdict.reasons)})"
    )
