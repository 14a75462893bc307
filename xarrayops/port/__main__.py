"""``python -m xarrayops.port``: the command line for moving NumPy programs to other libraries."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from xarrayops.port.check import command as check

COMMANDS = {"check": check}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a subcommand and return its exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m xarrayops.port", description="Move NumPy programs to other libraries."
    )
    commands = parser.add_subparsers(dest="command", required=True)
    for name, module in COMMANDS.items():
        module.add_arguments(commands.add_parser(name, help=module.HELP))
    given = parser.parse_args(arguments)
    return COMMANDS[given.command].run(given)


if __name__ == "__main__":
    sys.exit(main())
