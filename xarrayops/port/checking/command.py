"""The subcommand ``check``."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from xarrayops._cli.arguments import console
from xarrayops.port.checking import page, terminal
from xarrayops.port.checking.report import check
from xarrayops.port.source import PortError, write

HELP = "list what differs by library, line by line, with a verdict for each backend"
FORMATS = ("terminal", "json")


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
        "--page", type=Path, metavar="OUT.html", help="also write a page with the findings beside the source"
    )


def _folder(text: str) -> Path:
    path = Path(text)
    if not path.is_dir():
        raise argparse.ArgumentTypeError(f"{text} is not a folder of results of python -m xarrayops.bench")
    return path


def run(arguments: argparse.Namespace) -> int:
    """Run the subcommand and return its exit status, 0. PortError says what cannot be used."""
    if arguments.machine is not None and arguments.call is None:
        raise PortError("--machine is for the forecast of a call. Instead: --call 'f(np.ones(10))' with it")
    report = check(arguments.file, arguments.call, machine=arguments.machine)
    if arguments.page is not None:
        write(arguments.page, page.html(report).encode())
    if arguments.format == "json":
        print(json.dumps(report.as_dict(), indent=1))
    else:
        terminal.show(report, console())
    return 0
