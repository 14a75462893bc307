"""The subcommand ``check``."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from xarrayops._cli.arguments import console
from xarrayops.port.check import terminal
from xarrayops.port.check.report import check
from xarrayops.port.source import PortError

HELP = "list what differs by library, line by line, with a verdict for each backend"
FORMATS = ("terminal", "json")
_INVALID = 2


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the subcommand."""
    parser.add_argument("file", type=Path, metavar="FILE", help="a Python file or a notebook; it is only read")
    parser.add_argument("--format", choices=FORMATS, default=FORMATS[0], help="the output (default: %(default)s)")


def run(arguments: argparse.Namespace) -> int:
    """Run the subcommand and return its exit status: 0, or 2 for a file that cannot be read."""
    try:
        report = check(arguments.file)
    except PortError as error:
        print(f"{error}", file=sys.stderr)
        return _INVALID
    if arguments.format == "json":
        print(json.dumps(report.as_dict(), indent=1))
    else:
        terminal.show(report, console())
    return 0
