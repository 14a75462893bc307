"""``python -m xarrayops.bench``: the command line of the benchmark."""

from __future__ import annotations

import argparse
import shlex
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from xarrayops import _doctor, registry
from xarrayops.bench import report, results
from xarrayops.bench.command import INTERRUPTED, console, names, seconds
from xarrayops.bench.progress import Watcher
from xarrayops.bench.runner import BUDGET_S, TIMEOUT_S, Plan, run, select
from xarrayops.bench.workloads import WORKLOADS
from xarrayops.bench.workloads._contract import SIZES

DTYPES = ("float32", "float64")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m xarrayops.bench",
        description="The same work on every library that is here: time, throughput, memory, error, part of the roof. "
        "No time without a checked answer; no empty cell without a reason.",
        epilog="Ends with 1 if nothing was measured, with 2 if the arguments make no sense, with 130 if it was "
        "interrupted: then, too, it reports what was measured.",
    )
    parser.add_argument("--all", action="store_true", help="every workload on every backend")
    parser.add_argument("--backends", type=names, default=(), metavar="A,B", help="only these backends")
    parser.add_argument("--workloads", type=names, default=(), metavar="X,Y", help="only these workloads")
    parser.add_argument("--dtype", type=names, default=("float32",), metavar="D,E", help=", ".join(DTYPES))
    parser.add_argument("--size", choices=SIZES, default="default", help="how large the inputs are")
    parser.add_argument("--budget", type=seconds, default=BUDGET_S, metavar="SECONDS", help="for all (%(default)s)")
    parser.add_argument(
        "--timeout", type=seconds, default=TIMEOUT_S, metavar="SECONDS", help="for a cell (%(default)s)"
    )
    parser.add_argument("--out", type=Path, default=Path("bench-results"), metavar="DIR", help="%(default)s")
    parser.add_argument("--list", action="store_true", help="list workloads and backends, and end")
    return parser


def _check_writable(folder: Path) -> None:
    """Find out before the measuring whether its results can be kept."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise ValueError(f"argument --out: cannot write in {folder}: {error.strerror}") from None


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; the exit status tells whether anything was measured."""
    parser = _parser()
    options = parser.parse_args(arguments)
    if options.list:
        _list(Console())
        return 0
    if not (options.all or options.backends or options.workloads):
        parser.error("say --all, or choose by --backends or --workloads; --list shows them")
    try:
        backends = select(registry.names(), options.backends, "backend")
        workloads = select([workload.name for workload in WORKLOADS], options.workloads, "workload")
        dtypes = select(DTYPES, options.dtype, "dtype")
        _check_writable(options.out)
    except ValueError as error:
        parser.error(str(error))
    plan = Plan(
        backends=tuple(backends),
        workloads=tuple(workload for workload in WORKLOADS if workload.name in workloads),
        dtypes=tuple(dtypes),
        size=options.size,
        budget_s=options.budget,
        timeout_s=options.timeout,
    )
    given = sys.argv[1:] if arguments is None else arguments
    return measure(plan, options.out, f"python -m xarrayops.bench {shlex.join(given)}")


def measure(plan: Plan, out: Path, command: str) -> int:
    """Run a plan, print the tables, write ``results.jsonl`` and ``report.md``; 1 if nothing was measured.

    An interrupt ends the measuring, and what was measured until then is reported all the same.
    """
    with Watcher(out, Console(stderr=True)) as watcher:
        try:
            rows, interrupted = run(plan, watcher), False
        except KeyboardInterrupt:
            rows, interrupted = watcher.latest, True
    if interrupted and not rows:
        print(f"Interrupted before anything was measured; {out} is as it was.", file=sys.stderr)
        return INTERRUPTED
    results.write(rows, out / "results.jsonl")
    text = report.markdown(rows, plan.workloads, command, interrupted=interrupted)
    (out / "report.md").write_text(text, encoding="utf-8")
    shown = console()
    report.show(rows, shown)
    shown.print(Text(f"{report.summary(rows)}; see {out}/report.md"))
    if interrupted:
        print(f"{report.INTERRUPTED} {out} holds what was measured until then.", file=sys.stderr)
        return INTERRUPTED
    return 0 if any(row.measured for row in rows) else 1


def _list(console: Console) -> None:
    workloads = Table("workload", "what is timed", title="Workloads", title_justify="left")
    for workload in WORKLOADS:
        workloads.add_row(workload.name, Text(workload.timed))
    backends = Table("backend", "here", "why not, and what helps", title="Backends", title_justify="left")
    for found in _doctor.examine_all(registry.names()):
        told = "" if found["available"] else f"{found['reason']}. {found['hint']}"
        backends.add_row(found["name"], "yes" if found["available"] else "no", Text(told))
    console.print(workloads, backends)


if __name__ == "__main__":
    sys.exit(main())
