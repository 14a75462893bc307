"""``python -m xarrayops.port``: move a NumPy program to other libraries."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from xarrayops._cli.arguments import INTERRUPTED
from xarrayops.port import verifying as verify
from xarrayops.port.checking import command as check
from xarrayops.port.rewriting import command as rewrite
from xarrayops.port.source import PortError

COMMANDS = {"check": check, "rewrite": rewrite, "verify": verify}
"""The module of each command: it has its help text, its options and what runs it."""
_UNUSABLE = 2


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m xarrayops.port", description="Move a NumPy program to the libraries that xarrayops knows."
    )
    commands = parser.add_subparsers(title="commands", dest="command", metavar="COMMAND", required=True)
    for name, module in COMMANDS.items():
        module.add_arguments(commands.add_parser(name, help=module.HELP, description=module.HELP))
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit status: 2 for files and calls that cannot be used, 130 after Ctrl-C."""
    given = _parser().parse_args(arguments)
    try:
        return COMMANDS[given.command].run(given)
    except PortError as error:
        print(f"error: {error}", file=sys.stderr)
        return _UNUSABLE
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return INTERRUPTED


if __name__ == "__main__":
    sys.exit(main())
