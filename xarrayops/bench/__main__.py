"""``python -m xarrayops.bench``: the command line of the benchmark."""

from __future__ import annotations

import argparse
import shlex
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby
from pathlib import Path

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from xarrayops._cli import doctor
from xarrayops._cli.arguments import INTERRUPTED, console, names, seconds, select
from xarrayops._core import registry
from xarrayops.bench import workload_sources
from xarrayops.bench.compare import compare
from xarrayops.bench.report import comparison, markdown, page, tables, terminal
from xarrayops.bench.results import Results
from xarrayops.bench.run.environment import Identity
from xarrayops.bench.run.journal import Journal
from xarrayops.bench.run.plan import AUTO, BUDGET_S, DEFAULT, LARGE, TIMEOUT_S, Plan
from xarrayops.bench.run.progress import Watcher
from xarrayops.bench.run.runner import in_turns
from xarrayops.bench.workload import DTYPES, SIZES
from xarrayops.bench.workloads import WORKLOADS, Workload

AGAINST = "against"
"""The folder, in that of the results, with those of the other environment."""


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m xarrayops.bench",
        usage="%(prog)s [--all] [options], of which --help tells",
        description="The same work on every library that is here: time, throughput, memory, error, part of the roof. "
        "No time without a checked answer; no empty cell without a reason.",
        epilog="Ends with 1 if nothing was measured, with 2 if the arguments make no sense, with 130 if it was "
        "interrupted: then, too, it reports what was measured. --compare and --against end with 1 if something became "
        "slower or broke, with 3 if nothing could be decided.",
    )
    parser.add_argument("--all", action="store_true", help="every workload on every backend")
    parser.add_argument("--backends", type=names, default=(), metavar="A,B", help="only these backends")
    parser.add_argument("--workloads", type=names, default=(), metavar="X,Y", help="only these workloads, or groups")
    parser.add_argument("--workload-file", action="append", default=[], metavar="FILE.py", help="more workloads")
    parser.add_argument(
        "--dtype", type=names, default=(), metavar="D,E", help=f"instead of each workload's own: {', '.join(DTYPES)}"
    )
    parser.add_argument(
        "--devices", type=names, default=(), metavar="K,L", help="only devices of these kinds, such as cpu or cuda"
    )
    parser.add_argument(
        "--size",
        choices=SIZES,
        default=AUTO,
        help=f"how large the inputs are; otherwise {LARGE} where there is an accelerator, and {DEFAULT} elsewhere",
    )
    parser.add_argument(
        "--budget",
        type=seconds,
        default=BUDGET_S,
        metavar="TIME",
        help="for all cells: 90 or 90s, 5m, 1h (%(default)g s)",
    )
    parser.add_argument(
        "--timeout", type=seconds, default=TIMEOUT_S, metavar="TIME", help="for one cell (%(default)g s)"
    )
    choice = parser.add_mutually_exclusive_group()
    choice.add_argument("--resume", action="store_true", help="go on in DIR: only what is missing or has changed")
    choice.add_argument(
        "--against", metavar="PYTHON", help="measure by turns with that environment's libraries, and compare"
    )
    choice.add_argument("--compare", nargs=2, type=Path, metavar=("OLD", "NEW"), help="two folders of results")
    parser.add_argument("--out", type=Path, default=Path("bench-results"), metavar="DIR", help="%(default)s")
    parser.add_argument("--list", action="store_true", help="list workloads and backends, and end")
    return parser


def _check_writable(folder: Path) -> None:
    """Find out before the measuring whether its results can be kept."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except FileExistsError:
        raise ValueError(f"argument --out: {folder} is a file, and the results are several in a folder") from None
    except OSError as error:
        raise ValueError(f"argument --out: cannot write in {folder}: {error.strerror}") from None


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; the exit status tells whether anything was measured."""
    parser = _parser()
    options = parser.parse_args(arguments)
    try:
        workloads = workload_sources.load((workload_sources.BUILT_IN, *options.workload_file))
        if options.list:
            _list(workloads, console())
            return 0
        if options.compare:
            return _compare(options.compare, options.out)
        plan = _plan(options, workloads)
        if plan is None:
            parser.error("say --all, or choose by --backends, --workloads or --workload-file; --list shows them")
        _check_writable(options.out)
        against = _other(options, plan.sources)
    except ValueError as error:
        parser.error(str(error))
    given = sys.argv[1:] if arguments is None else arguments
    plan = replace(plan, command=f"python -m xarrayops.bench {shlex.join(given)}")
    return measure(plan, options.out, resume=options.resume, against=against)


def _other(options: argparse.Namespace, sources: Sequence[str]) -> Identity | None:
    """The other environment, if one is asked for."""
    if options.against is None:
        return None
    try:
        return Identity.of(options.against, sources)
    except ValueError as error:
        raise ValueError(f"argument --against: {error}") from None


def _plan(options: argparse.Namespace, workloads: tuple[Workload, ...]) -> Plan | None:
    """What the options ask for; None if nothing. A file of workloads, without more words, asks for its own alone."""
    wanted = options.workloads
    if not (options.all or wanted):
        wanted = [workload.name for workload in workloads if workload not in WORKLOADS]
    if not (options.all or options.backends or wanted):
        return None
    groups = list(dict.fromkeys(workload.group for workload in workloads))
    known = [*groups, *(workload.name for workload in workloads if workload.name not in groups)]
    chosen = select(known, wanted, "workload or group of workloads", groups)
    plan = Plan(
        backends=tuple(select(registry.names(), options.backends, "backend")),
        workloads=tuple(workload for workload in workloads if {workload.name, workload.group} & set(chosen)),
        dtypes=tuple(select(DTYPES, options.dtype, "dtype")) if options.dtype else (),
        devices=tuple(options.devices),
        size=options.size,
        budget_s=options.budget,
        timeout_s=options.timeout,
        sources=(workload_sources.BUILT_IN, *options.workload_file),
    )
    return plan.by_turns() if options.against is not None else plan


def measure(plan: Plan, out: Path, *, resume: bool = False, against: Identity | None = None) -> int:
    """Run a plan, print the tables, write results and reports; 1 if nothing was measured.

    With another environment, its results are in a folder of their own, and what is printed, written and told by the
    exit status is what changed from there to here. An interrupt ends the measuring, and what was measured until then is
    reported all the same.
    """
    identities = [Identity.here(plan.workloads), *([against] if against else ())]
    folders = [out, out / AGAINST][: len(identities)]
    journals = [Journal(folder, resume=resume) for folder in folders]
    interrupted = False
    with Watcher(folders, Console(stderr=True)) as watcher:
        try:
            found = in_turns(plan, watcher, list(zip(identities, journals, strict=True)))
        except KeyboardInterrupt:
            found, interrupted = watcher.latest, True
    if not found:
        print(f"Interrupted before anything was measured; {out} is as it was.", file=sys.stderr)
        return INTERRUPTED
    for results, folder in zip(found, folders, strict=True):
        results.write(folder)
        (folder / "report.md").write_text(markdown.report(results), encoding="utf-8")
        (folder / "report.html").write_text(page.html(results), encoding="utf-8")
    shown = console()
    new, *others = found
    if others:
        for warning in dict.fromkeys(warning for results in found for warning in tables.warnings(results)):
            shown.print(Text(warning))
    else:
        terminal.show(new, shown)
    told = "; ".join(filter(None, (tables.counted(new), tables.size_text(new)))) if others else tables.summary(new)
    shown.print(Text(f"{told}. See {out}/report.html or {out}/report.md"))
    changed = [_changes(old, new, out) for old in others]
    if interrupted:
        going_on = "" if others else "; --resume goes on"
        print(f"{tables.INTERRUPTED} {out} holds what was measured until then{going_on}.", file=sys.stderr)
        return INTERRUPTED
    return changed[0] if changed else 0 if any(row.measured for row in new.rows) else 1


def _compare(folders: Sequence[Path], out: Path) -> int:
    """What changed between two folders of results."""
    old, new = map(Results.read, folders)
    _check_writable(out)
    return _changes(old, new, out)


def _changes(old: Results, new: Results, out: Path) -> int:
    """Print what changed, write it down, and give the exit status."""
    verdicts = compare.compare(old, new)
    comparison.show(verdicts, old, new, console())
    (out / "compare.md").write_text(comparison.markdown(verdicts, old, new), encoding="utf-8")
    (out / "compare.html").write_text(page.html(new, old), encoding="utf-8")
    print(f"See {out}/compare.html or {out}/compare.md.")
    return compare.exit_status(verdicts)


def _list(workloads: tuple[Workload, ...], console: Console) -> None:
    listed = Table(title="Workloads, by groups that --workloads takes too", title_justify="left", box=SIMPLE_HEAD)
    for column in ("group", "workload", "dtypes", "sizes", "what is timed"):
        listed.add_column(column, overflow="fold")
    for group, members in groupby(workloads, key=lambda workload: workload.group):
        for i, workload in enumerate(members):
            sizes = ", ".join(map(str, workload.ladder("default")))
            cells = ("" if i else group, workload.name, ", ".join(workload.dtypes), sizes, workload.timed)
            listed.add_row(*map(Text, cells))
        listed.add_section()
    backends = Table(title="Backends", title_justify="left", box=SIMPLE_HEAD)
    for column in ("backend", "here", "why not, and what helps"):
        backends.add_column(column, overflow="fold")
    for found in doctor.examine_all(registry.names()):
        told = "" if found["available"] else f"{found['reason']}. {found['hint']}"
        backends.add_row(found["name"], "yes" if found["available"] else "no", Text(told))
    console.print(listed, backends)


if __name__ == "__main__":
    sys.exit(main())
