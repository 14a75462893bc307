"""``python -m xarrayops.port verify ORIGINAL [--port FILE] --call "f(args)"``: compare a port with its original."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from xarrayops.port.verify import command as verify


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit status."""
    parser = argparse.ArgumentParser(prog="python -m xarrayops.port", description=__doc__)
    commands = parser.add_subparsers(title="commands", dest="command", metavar="COMMAND", required=True)
    verify.add_arguments(commands.add_parser("verify", help=verify.HELP, description=verify.HELP))
    return verify.run(parser.parse_args(arguments))


if __name__ == "__main__":
    sys.exit(main())
