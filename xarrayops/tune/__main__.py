"""``python -m xarrayops.tune``: the command line."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from xarrayops._cli.arguments import INTERRUPTED, console, names, seconds, select, table
from xarrayops._cli.terminal import Console
from xarrayops._core.backends import entry_points
from xarrayops._ops.choices import machine
from xarrayops._ops.choices.calls import Description, key_of, shown
from xarrayops._ops.choices.verdicts import GAIN, Choice, Table, decided
from xarrayops._system.texts import counted
from xarrayops.bench.report.tables import CONTENTION
from xarrayops.bench.run.budget import CpuContention
from xarrayops.bench.workloads import WORKLOADS
from xarrayops.tune.calls import LIBRARIES, VERBS, calls_of
from xarrayops.tune.run import Request, Run

SECONDS = 120.0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m xarrayops.tune",
        description="Measure the kernels that can serve calls on this machine, those of other installed libraries "
        "included. Afterwards xo.measured() uses the kernels that are proved to be faster than the default.",
        epilog="Exit status: 1 if nothing was measured, 2 for invalid arguments, 130 after an interrupt (what was "
        "measured is kept).",
    )
    parser.add_argument(
        "--seconds", type=seconds, default=SECONDS, metavar="TIME", help=f"time limit (default: {SECONDS:.0f})"
    )
    parser.add_argument("--verbs", type=names, default=(), metavar="A,B", help="measure only these functions")
    parser.add_argument("--backends", type=names, default=(), metavar="A,B", help="measure arrays of these libraries")
    source = parser.add_mutually_exclusive_group()
    source.add_argument("--from-log", type=Path, metavar="FILE", help="measure the calls of a file of xo.choices")
    text = "measure the calls that the workloads of python -m xarrayops.bench make"
    source.add_argument("--from-bench", action="store_true", help=text)
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, and print the choices. Returns the exit status."""
    parser, out = _parser(), console()
    options = parser.parse_args(arguments)
    if options.verbs and (options.from_log or options.from_bench):
        parser.error("argument --verbs: not with --from-log or --from-bench, whose calls are all measured")
    try:
        given = calls_of(options.from_log) if options.from_log else None
        requests = _lists(options)
    except (OSError, ValueError) as error:
        parser.error(str(error))
    run, contention, interrupted = Run(options.seconds, out), CpuContention(), False
    try:
        run.measure(given, requests)
    except KeyboardInterrupt:
        interrupted = True
        out.print("Interrupted. What was measured is kept.")
    found = decided(machine.store().records(), only_exact=False)
    _report(found, run.calls, out)
    for note in () if interrupted else run.notes():
        out.print(note)
    others = contention.share(()) or 0.0
    if others > CONTENTION:
        out.print(
            f"Other programs used {others:.0%} of the CPUs: the choices may be wrong when these programs end. "
            "Run tune again on an idle machine."
        )
    if interrupted:
        return INTERRUPTED
    return 0 if any(key_of(call).kind in found.by_kind for call in run.calls) else 1


def _lists(options: argparse.Namespace) -> list[Request]:
    """The requests for the calls to measure. This process imports no library: a worker lists them."""
    known = [name for name in entry_points.names() if name in LIBRARIES]
    libraries = select(known, options.backends, "backend")
    if options.from_bench:
        return [{"workload": workload.name, "libraries": libraries} for workload in WORKLOADS]
    return [{"verbs": select(VERBS, options.verbs, "measured function"), "libraries": libraries}]


def _report(found: Table, calls: list[Description], out: Console) -> None:
    keys = set(map(key_of, calls))
    choices = [each for each in found.choices if key_of(each.description) in keys]
    better = [each for each in choices if not each.is_default]
    out.print(
        f"{counted(len(choices), 'call')} measured. For {len(better)} of them another kernel is proved to be at least "
        f"{GAIN} times as fast as the default. The measurements are in {machine.store().place}"
    )
    if better:
        columns = ("call", "served by", "times as fast", "values")
        rows = ((shown(each.description), each.candidate, f"{each.gain:.2f}", _values(each)) for each in better)
        out.print(table("", columns, rows))
        out.print("Use them: with xo.measured(): ..., or XARRAYOPS_MEASURED=1 for a whole program.")


def _values(choice: Choice) -> str:
    return "the same" if choice.exact else 'not to the last bit: numerics="tolerance"'


if __name__ == "__main__":
    sys.exit(main())
