"""``python -m xarrayops.testing.exchange_matrix``: the command line of the exchange matrix."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.text import Text

from xarrayops._cli.arguments import INTERRUPTED, console, names, seconds, select
from xarrayops.testing.exchange_matrix import cells, report
from xarrayops.testing.exchange_matrix.runner import TIMEOUT_S, run


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m xarrayops.testing.exchange_matrix",
        description="Convert arrays of every library, dtype and kind of memory to every library, and hold what happens "
        "against what explain said before.",
        epilog="Ends with 1 if anything is wrong (a fault, a crash, no answer in time), with 2 if the arguments make "
        "no sense, with 130 if it was interrupted.",
    )
    parser.add_argument("--producer", type=names, default=(), metavar="A,B", help="only from these libraries")
    parser.add_argument("--consumer", type=names, default=(), metavar="A,B", help="only to these libraries")
    parser.add_argument("--dtype", type=names, default=(), metavar="D,E", help=", ".join(cells.DTYPES))
    parser.add_argument(
        "--kind", type=names, default=(), metavar="K,L", help=f"of memory: {', '.join(cells.ALL_KINDS)}"
    )
    parser.add_argument("--large", action="store_true", help="also an array of more than 2 GiB for each pair")
    parser.add_argument(
        "--timeout", type=seconds, default=TIMEOUT_S, metavar="TIME", help="for one cell: 90 or 90s, 5m (%(default)g s)"
    )
    parser.add_argument("--out", type=Path, metavar="DIR", help="write exchange.jsonl, exchange.json and exchange.md")
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; the exit status tells whether anything is wrong."""
    parser = _parser()
    options = parser.parse_args(arguments)
    known = cells.libraries()
    try:
        producers = select(known, options.producer, "library")
        consumers = select(known, options.consumer, "library")
        dtypes = select(cells.DTYPES, options.dtype, "dtype")
        kinds = select(cells.ALL_KINDS, options.kind, "kind of memory")
        if options.out is not None:
            options.out.mkdir(parents=True, exist_ok=True)
    except ValueError as error:
        parser.error(str(error))
    except OSError as error:
        parser.error(f"argument --out: cannot write in {options.out}: {error.strerror}")
    pairs = list(cells.pairs(known, producers, consumers))
    each = list(cells.cells(dtypes, kinds, large=options.large))
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    try:
        with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
            task = progress.add_task("starting", total=len(pairs) * len(each))
            matrix = run(
                pairs,
                each,
                lambda pair, done: progress.update(task, advance=done, description=pair.label),
                timeout_s=options.timeout,
            )
    except KeyboardInterrupt:
        print("Interrupted; nothing was written.", file=sys.stderr)
        return INTERRUPTED
    shown = console()
    report.show(matrix, shown)
    if options.out is not None:
        report.write(matrix, options.out)
    place = f"; see {options.out}/exchange.md" if options.out is not None else ""
    shown.print(Text(f"{report.in_short(matrix)}{place}"))
    return 1 if any(result.outcome in cells.FAULTY for result in matrix.results) else 0


if __name__ == "__main__":
    sys.exit(main())
