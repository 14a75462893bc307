"""The command ``xarrayops``, also ``python -m xarrayops``: it runs one of the command lines of this package."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from importlib import import_module

COMMANDS = {
    "doctor": ("xarrayops._cli.doctor", "what is installed, what is missing and how to get it (the default)"),
    "bench": ("xarrayops.bench.__main__", "measure the same work on every library that is installed"),
    "port": ("xarrayops.port.__main__", "move a NumPy program to other libraries"),
}
"""The module of each command, and its help text. Only the module of the command that runs is imported."""
_HELP = ("-h", "--help")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="xarrayops",
        usage="%(prog)s [COMMAND] [options]",
        description="One array API over the libraries that you have.",
        epilog="'xarrayops COMMAND --help' lists the options of a command.",
    )
    commands = parser.add_subparsers(title="commands", dest="command", metavar="COMMAND")
    for name, (_, what) in COMMANDS.items():
        commands.add_parser(name, help=what, add_help=False)
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command, by default the doctor, and return its exit status."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    if not given or (given[0].startswith("-") and given[0] not in _HELP):
        given.insert(0, "doctor")
    command = _parser().parse_args(given[:1]).command
    status: int = import_module(COMMANDS[command][0]).main(given[1:])
    return status
