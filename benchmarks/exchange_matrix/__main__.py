"""``python -m benchmarks.exchange_matrix``: the command line of the exchange matrix."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.text import Text

from benchmarks.exchange_matrix import cells, report
from benchmarks.exchange_matrix.runner import TIMEOUT_S, run
from xarrayops._cli.arguments import INTERRUPTED, console, names, seconds, select


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.exchange_matrix",
        description="Convert arrays of every library, dtype and kind of memory to every library, and compare the "
        "results with the forecasts of explain.",
        epilog="Exit status: 1 if there is a fault, a crash or a timeout, 2 for invalid arguments, 130 after an "
        "interrupt.",
    )
    parser.add_argument("--producer", type=names, default=(), metavar="A,B", help="convert only from these libraries")
    parser.add_argument("--consumer", type=names, default=(), metavar="A,B", help="convert only to these libraries")
    parser.add_argument(
        "--dtype", type=names, default=(), metavar="D,E", help=f"only these dtypes: {', '.join(cells.DTYPES)}"
    )
    parser.add_argument(
        "--kind",
        type=names,
        default=(),
        metavar="K,L",
        help=f"only these kinds of memory: {', '.join(cells.ALL_KINDS)}",
    )
    parser.add_argument("--large", action="store_true", help="also convert an array of more than 2 GiB for each pair")
    parser.add_argument(
        "--timeout",
        type=seconds,
        default=TIMEOUT_S,
        metavar="TIME",
        help="time limit for one cell: 90 or 90s, 5m, 1h (default: %(default)g s)",
    )
    parser.add_argument(
        "--out", type=Path, metavar="DIR", help="write exchange.jsonl, exchange.json and exchange.md to this folder"
    )
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit status."""
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
        parser.error(f"argument --out: cannot write to {options.out}: {error.strerror}")
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
    hint = f"; see {options.out}/exchange.md" if options.out is not None else ""
    shown.print(Text(f"{report.counts_text(matrix)}{hint}"))
    return 1 if any(result.outcome in cells.FAULTY for result in matrix.results) else 0


if __name__ == "__main__":
    sys.exit(main())
