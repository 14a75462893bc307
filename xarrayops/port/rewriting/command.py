"""``python -m xarrayops.port rewrite``."""

from __future__ import annotations

import argparse
import io
import tokenize
from pathlib import Path

from rich.text import Text

from xarrayops._cli.arguments import console
from xarrayops.port.rewriting import STYLES, Rewritten, rewrite
from xarrayops.port.source import write

HELP = "rewrite a NumPy program for every library, with only those edits that keep its meaning"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    parser.add_argument("file", type=Path, metavar="FILE", help="the program")
    parser.add_argument(
        "--style",
        choices=STYLES,
        default="numpy",
        help="numpy: NumPy's names, from xarrayops.numpy; xo: the functions of xarrayops (default: numpy)",
    )
    parser.add_argument(
        "--return-arguments",
        action="store_true",
        help="functions that write into their arguments return them, and the calls in the file take them",
    )
    output = parser.add_mutually_exclusive_group()
    output.add_argument("-o", "--out", type=Path, metavar="OUT", help="write the result to this file")
    output.add_argument("--in-place", action="store_true", help="write the result over the program")
    output.add_argument("--diff", action="store_true", help="print the change as a diff")


def run(arguments: argparse.Namespace) -> int:
    """Run the command and return its exit status, 0. Without an output, the result is printed."""
    result = rewrite(arguments.file, style=arguments.style, return_arguments=arguments.return_arguments)
    if arguments.diff:
        print(result.diff(), end="")
        return 0
    out = arguments.file if arguments.in_place else arguments.out
    if out is None:
        print(result.text, end="")
        return 0
    write(out, _encoded(result, arguments.file))
    _show(result, out)
    return 0


def _encoded(result: Rewritten, original: Path) -> bytes:
    """The text in the encoding and with the most frequent line ending of the original."""
    data = original.read_bytes()
    encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
    text = result.text.removeprefix("\ufeff")
    windows = data.count(b"\r\n")
    if windows > data.count(b"\n") - windows:
        text = text.replace("\n", "\r\n")
    return text.encode(encoding)


def _show(result: Rewritten, out: Path) -> None:
    """Print the edits with their reasons, and the places to decide."""
    shown = console()
    for edit in result.edits:
        shown.print(Text(f"line {edit.line}: {edit.kind}: {edit.reason}"), soft_wrap=True)
    for todo in result.todos:
        shown.print(Text(f"line {todo.line}: TODO(port): {todo.problem}"), soft_wrap=True)
    shown.print(Text(f"{out}: {len(result.edits)} edits, {len(result.todos)} places to decide"), soft_wrap=True)
