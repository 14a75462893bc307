"""``python -m xarrayops.bench``: the command line of the benchmark."""

from __future__ import annotations

import argparse
import os
import platform
import re
import shlex
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from itertools import groupby
from pathlib import Path

from xarrayops._cli import doctor
from xarrayops._cli.arguments import INTERRUPTED, console, names, seconds, select, table
from xarrayops._cli.terminal import SIMPLE_HEAD, Console, Text
from xarrayops._core.backends import registry
from xarrayops._system import gpus, machine
from xarrayops.bench import workload_sources
from xarrayops.bench.compare import compare, machines
from xarrayops.bench.report import comparison, markdown, page, tables, terminal
from xarrayops.bench.results import Results
from xarrayops.bench.run.environment import Identity
from xarrayops.bench.run.journal import Journal
from xarrayops.bench.run.plan import AUTO, BUDGET_S, DEFAULT, LARGE, TIMEOUT_S, BenchPlan
from xarrayops.bench.run.progress import Watcher
from xarrayops.bench.run.record import short_digest
from xarrayops.bench.run.runner import run_interleaved
from xarrayops.bench.workload import DTYPES, SIZES
from xarrayops.bench.workloads import WORKLOADS, Workload

AGAINST = "against"
"""The subfolder with the results of the other environment."""


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m xarrayops.bench",
        usage="%(prog)s [--all] [options]; see --help",
        description="Run the same workloads on every installed library: time, throughput, memory, error and fraction "
        "of the roofline. No time is shown for an unchecked answer, and every empty cell has a reason.",
        epilog="Exit status: 1 if nothing was measured, 2 for invalid arguments, 130 after an interrupt (results up to "
        "the interrupt are reported). With --compare or --against: 1 if a cell is slower or broken, 3 if no cell could "
        "be decided.",
    )
    add_names = partial(parser.add_argument, type=names, default=())
    add_duration = partial(parser.add_argument, type=seconds, metavar="TIME")
    parser.add_argument("--all", action="store_true", help="run every workload on every backend")
    add_names("--backends", metavar="A,B", help="run only these backends")
    add_names("--workloads", metavar="X,Y", help="run only these workloads or groups of workloads")
    parser.add_argument(
        "--workload-file", action="append", default=[], metavar="FILE.py", help="add the workloads of this file"
    )
    own = "measure in these dtypes instead of each workload's own"
    add_names("--dtype", metavar="D,E", help=f"{own}: {', '.join(DTYPES)}")
    add_names("--devices", metavar="K,L", help="use only devices of these kinds, such as cpu or cuda")
    size = f"size of the inputs (default: {LARGE} if there is an accelerator, otherwise {DEFAULT})"
    add_names("--size", default=(AUTO,), metavar="S,T", help=f"{size}; of {', '.join(SIZES)}")
    part = "run only part I of N; --merge joins the results of all parts"
    parser.add_argument("--part", type=_part, default=(1, 1), metavar="I/N", help=part)
    limit = "time limit for the whole run: 90 or 90s, 5m, 1h (default: %(default)g s)"
    add_duration("--budget", default=BUDGET_S, help=limit)
    add_duration("--timeout", default=TIMEOUT_S, help="time limit for one cell (default: %(default)g s)")
    choice = parser.add_mutually_exclusive_group()
    choice.add_argument(
        "--resume", action="store_true", help="continue the run in DIR: measure only missing or outdated cells"
    )
    choice.add_argument(
        "--against", metavar="PYTHON", help="interleave with the environment of PYTHON and compare the two"
    )
    choice.add_argument(
        "--compare", nargs=2, type=Path, metavar=("OLD", "NEW"), help="compare the results in two folders"
    )
    choice.add_argument(
        "--merge", nargs="+", type=Path, metavar="DIR", help="join the results of several machines in one table"
    )
    price = "with --merge: rank by cost too; the price of an hour of each machine; repeat the option"
    parser.add_argument("--cost", action="append", type=_price, default=[], metavar="MACHINE=PRICE", help=price)
    folder = "folder for results and reports (default: %(default)s)"
    parser.add_argument("--out", type=Path, default=Path("bench-results"), metavar="DIR", help=folder)
    carried = "like --out, with a subfolder for each machine: carry DIR from one to the next, then --merge DIR"
    parser.add_argument("--save-for", type=Path, metavar="DIR", help=carried)
    parser.add_argument("--list", action="store_true", help="list workloads and backends, then exit")
    return parser


def _part(text: str) -> tuple[int, int]:
    """The argument of --part."""
    found = re.fullmatch(r"([1-9]\d*)/([1-9]\d*)", text)
    if found is None or int(found[1]) > int(found[2]):
        raise argparse.ArgumentTypeError(f"{text!r} is not a part such as 1/3, 2/3 or 3/3")
    return int(found[1]), int(found[2])


def _price(text: str) -> tuple[str, float]:
    """The argument of --cost."""
    found = re.fullmatch(r"(.+)=(\d+\.?\d*)", text)
    if found is None:
        raise argparse.ArgumentTypeError(f"{text!r} is not MACHINE=PRICE, such as node1=2.50")
    return found[1], float(found[2])


def _check_writable(folder: Path) -> None:
    """Check before the run that its results can be written."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except FileExistsError:
        raise ValueError(f"argument --out: {folder} is a file; the results need a folder") from None
    except OSError as error:
        raise ValueError(f"argument --out: cannot write to {folder}: {error.strerror}") from None


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit status."""
    parser = _parser()
    options = parser.parse_args(arguments)
    try:
        workloads = workload_sources.load((workload_sources.BUILT_IN, *options.workload_file))
        if options.list:
            _list(workloads, console())
            return 0
        if options.compare:
            return _compare(options.compare, options.out)
        out = options.save_for / _own_folder() if options.save_for else options.out
        command = f"python -m xarrayops.bench {shlex.join(sys.argv[1:] if arguments is None else arguments)}"
        if options.cost and not options.merge:
            raise ValueError("argument --cost: it needs --merge")
        if options.merge:
            return _merge(options.merge, dict(options.cost), command, out)
        plan = _plan(options, workloads)
        if plan is None:
            parser.error("nothing selected: use --all, --backends, --workloads or --workload-file; --list shows them")
        _check_writable(out)
        against = _other_environment(options, plan.sources)
    except ValueError as error:
        parser.error(str(error))
    return measure(replace(plan, command=command), out, resume=options.resume, against=against)


def _own_folder() -> str:
    """The name of this machine, with a digest of what its times depend on."""
    served = [os.environ.get(name, "") for name in ("XARRAYOPS_ENGINES", "XARRAYOPS_MEASURED")]
    return f"{platform.node()}-{short_digest([machine.facts(), gpus.facts(), sys.prefix, served])[:6]}"


def _other_environment(options: argparse.Namespace, sources: Sequence[str]) -> Identity | None:
    """The environment of --against; None without that option."""
    if options.against is None:
        return None
    try:
        return Identity.of(options.against, sources)
    except ValueError as error:
        raise ValueError(f"argument --against: {error}") from None


def _plan(options: argparse.Namespace, workloads: tuple[Workload, ...]) -> BenchPlan | None:
    """The plan that the options select; None if they select nothing.

    --workload-file alone selects the workloads of the file.
    """
    wanted = options.workloads
    if not (options.all or wanted):
        wanted = [workload.name for workload in workloads if workload not in WORKLOADS]
    if not (options.all or options.backends or wanted):
        return None
    groups = list(dict.fromkeys(workload.group for workload in workloads))
    known = [*groups, *(workload.name for workload in workloads if workload.name not in groups)]
    chosen = select(known, wanted, "workload or group of workloads", groups)
    plan = BenchPlan(
        backends=tuple(select(registry.names(), options.backends, "backend")),
        workloads=tuple(workload for workload in workloads if {workload.name, workload.group} & set(chosen)),
        dtypes=tuple(select(DTYPES, options.dtype, "dtype")) if options.dtype else (),
        devices=tuple(options.devices),
        sizes=options.size if options.size == (AUTO,) else tuple(select(SIZES, options.size, "size")),
        part=options.part,
        budget_s=options.budget,
        timeout_s=options.timeout,
        operations=options.all and options.against is None,
        sources=(workload_sources.BUILT_IN, *options.workload_file),
    )
    return plan.interleaved() if options.against is not None else plan


def measure(plan: BenchPlan, out: Path, *, resume: bool = False, against: Identity | None = None) -> int:
    """Run a plan, print the tables, and write results and reports. Returns 1 if nothing was measured.

    With another environment, its results go to the subfolder `AGAINST`. The output and the exit status then describe
    the changes from the other environment to this one. After an interrupt, the results so far are reported.
    """
    identities = [Identity.here(plan.workloads), *([against] if against else ())]
    folders = [out, out / AGAINST][: len(identities)]
    journals = [Journal(folder, resume=resume) for folder in folders]
    interrupted = False
    with Watcher(folders, Console(stderr=True)) as watcher:
        try:
            found = run_interleaved(plan, watcher, list(zip(identities, journals, strict=True)))
        except KeyboardInterrupt:
            found, interrupted = watcher.latest, True
    if not found:
        print(f"Interrupted before anything was measured; {out} is unchanged.", file=sys.stderr)
        return INTERRUPTED
    for results, folder in zip(found, folders, strict=True):
        _write(results, folder)
    shown = console()
    new, *others = found
    if others:
        for warning in dict.fromkeys(warning for results in found for warning in tables.warnings(results)):
            shown.print(Text(warning))
    else:
        terminal.show(new, shown)
    text = "; ".join(filter(None, (tables.counted(new), tables.size_text(new)))) if others else tables.summary(new)
    shown.print(Text(f"{text}. See {out}/report.html or {out}/report.md"))
    changed = [_changes(old, new, out) for old in others]
    if interrupted:
        hint = "" if others else "; --resume continues the run"
        print(f"{tables.INTERRUPTED} The results so far are in {out}{hint}.", file=sys.stderr)
        return INTERRUPTED
    return changed[0] if changed else 0 if any(row.measured for row in new.rows) else 1


def _write(results: Results, folder: Path) -> None:
    """Write the results and their reports."""
    results.write(folder)
    (folder / "report.md").write_text(markdown.report(results), encoding="utf-8")
    (folder / "report.html").write_text(page.html(results), encoding="utf-8")


def _merge(folders: Sequence[Path], prices: dict[str, float], command: str, out: Path) -> int:
    """Join the results of several machines. Returns 1 if nothing was measured."""
    found = machines.merged(machines.folders_of_results(folders), prices, command, tables.warnings)
    _check_writable(out)
    if out.resolve() in {folder.resolve() for folder in folders}:
        raise ValueError(f"argument --out: {out} has the results of one machine; choose another folder")
    _write(found, out)
    shown = console()
    terminal.show(found, shown)
    shown.print(Text(f"{tables.summary(found)}. See {out}/report.html or {out}/report.md"))
    return 0 if any(row.measured for row in found.rows) else 1


def _compare(folders: Sequence[Path], out: Path) -> int:
    """Compare two folders of results and return the exit status."""
    old, new = map(Results.read, folders)
    _check_writable(out)
    return _changes(old, new, out)


def _changes(old: Results, new: Results, out: Path) -> int:
    """Print and write the changes, and return the exit status."""
    verdicts = compare.compare(old, new)
    comparison.show(verdicts, old, new, console())
    (out / "compare.md").write_text(comparison.markdown(verdicts, old, new), encoding="utf-8")
    (out / "compare.html").write_text(page.html(new, old), encoding="utf-8")
    print(f"See {out}/compare.html or {out}/compare.md.")
    return compare.exit_status(verdicts)


def _list(workloads: tuple[Workload, ...], console: Console) -> None:
    title = "Workloads (--workloads accepts names and groups)"
    listed = table(title, ("group", "workload", "dtypes", "sizes", "what is timed"), box=SIMPLE_HEAD)
    for group, members in groupby(workloads, key=lambda workload: workload.group):
        for i, workload in enumerate(members):
            sizes = ", ".join(map(str, workload.ladder("default")))
            cells = ("" if i else group, workload.name, ", ".join(workload.dtypes), sizes, workload.timed)
            listed.add_row(*map(Text, cells))
        listed.add_section()
    backends = [
        (each["name"], *(("yes", "") if each["available"] else ("no", f"{each['reason']}. {each['hint']}")))
        for each in doctor.examine_all(registry.names())
    ]
    console.print(listed, table("Backends", ("backend", "available", "reason and fix"), backends, box=SIMPLE_HEAD))


if __name__ == "__main__":
    sys.exit(main())
