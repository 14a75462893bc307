"""The subcommand ``check``."""

from __future__ import annotations

import argparse
import json
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

from rich.text import Text

from xarrayops._cli.arguments import console
from xarrayops.port.checking import page
from xarrayops.port.checking.report import Report, check
from xarrayops.port.checking.verdict import READY, REDESIGN, SMALL_FIXES, STAY, Verdict
from xarrayops.port.findings import Finding, alike, times
from xarrayops.port.source import PortError, write

if TYPE_CHECKING:
    from rich.console import Console

HELP = "list what differs by library, line by line, with a verdict for each backend"
FORMATS = ("terminal", "json")
_STYLES = {READY: "green", SMALL_FIXES: "yellow", REDESIGN: "bold red", STAY: "bold red"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the subcommand."""
    parser.add_argument(
        "file", type=Path, metavar="FILE", help="a Python file or a notebook; without --call it is only read"
    )
    parser.add_argument(
        "--call", metavar="CALL", help="execute the program and this call once on NumPy: 'f(np.ones(9))'"
    )
    parser.add_argument(
        "--machine",
        type=_folder,
        metavar="DIR",
        help="forecast for the machine that measured these results of the benchmark",
    )
    parser.add_argument("--format", choices=FORMATS, default=FORMATS[0], help="the output (default: %(default)s)")
    parser.add_argument(
        "--page", type=Path, metavar="OUT.html", help="also write a page with the source and its findings"
    )


def _folder(text: str) -> Path:
    path = Path(text)
    if not path.is_dir():
        raise argparse.ArgumentTypeError(f"{text} is not a folder of results of python -m xarrayops.bench")
    return path


def run(arguments: argparse.Namespace) -> int:
    """Run the subcommand and return its exit status, 0. Raises PortError for unusable arguments."""
    if arguments.machine is not None and arguments.call is None:
        raise PortError("--machine is for the forecast of a call. Instead: --call 'f(np.ones(10))' with it")
    report = check(arguments.file, arguments.call, machine=arguments.machine)
    if arguments.page is not None:
        write(arguments.page, page.html(report).encode())
    if arguments.format == "json":
        print(json.dumps(report.as_dict(), indent=1))
    else:
        _show(report, console())
    return 0


def _show(report: Report, console: Console) -> None:
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
