"""``python -m xarrayops.tune``: the command line."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from time import monotonic
from typing import Any

from xarrayops._cli.arguments import INTERRUPTED, console, names, seconds, select, table
from xarrayops._cli.terminal import Console, Progress
from xarrayops._core.backends import entry_points, registry
from xarrayops._ops.choices import machine
from xarrayops._ops.choices.calls import Description, key_of, shown
from xarrayops._ops.choices.verdicts import GAIN, Choice, Table, decided, is_promising
from xarrayops._system.process import Worker
from xarrayops._system.texts import counted
from xarrayops.bench.report.tables import CONTENTION
from xarrayops.bench.run.budget import CpuContention
from xarrayops.bench.workloads import WORKLOADS
from xarrayops.tune.calls import LIBRARIES, VERBS, calls_of, default_calls

SECONDS = 120.0
Request = dict[str, Any]
"""For a worker: the description of a call, and the names of the candidates if not all are measured; or a workload."""
START_S, CALL_S = 120.0, 60.0
"""The time limits of the start of a worker, which imports all libraries, and of one call with its candidates."""


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
    try:
        calls = calls_of(options.from_log) if options.from_log else _default(options)
    except (OSError, ValueError) as error:
        parser.error(str(error))
    interrupted, contention = False, CpuContention()
    try:
        undecided, skipped = _measure(calls, options.seconds, out)
    except KeyboardInterrupt:
        interrupted, undecided, skipped = True, 0, {}
    found = decided(machine.store().records(), only_exact=False)
    _report(found, calls, out)
    if undecided:
        out.print(f"{counted(undecided, 'kernel')} faster in one process, but not in the other.")
    others = contention.share(()) or 0.0
    if others > CONTENTION:
        out.print(
            f"Other programs used {others:.0%} of the CPUs: the choices may be wrong when these programs end. "
            "Run tune again on an idle machine."
        )
    for call, reason in skipped.items():
        out.print(f"{call}: {reason}")
    if interrupted:
        return INTERRUPTED
    return 0 if any(key_of(call).kind in found.by_kind for call in calls) else 1


def _default(options: argparse.Namespace) -> list[Description]:
    installed = [name for name in entry_points.names() if name in LIBRARIES and registry.status(name).available]
    libraries = select(installed, options.backends, "installed backend")
    if options.from_bench:
        return [call for call in _of_bench(libraries) if not options.verbs or call["verb"] in options.verbs]
    return default_calls(libraries, select(VERBS, options.verbs, "measured function"))


def _of_bench(libraries: list[str]) -> list[Description]:
    requests = [{"workload": workload.name, "libraries": libraries} for workload in WORKLOADS]
    answers = [answer for _, answer, _ in _answers(_started(), requests, lambda: True)]
    calls = [call for answer in answers for call in answer.get("calls", ())]
    return list({key_of(call): call for call in calls}.values())


def _measure(calls: list[Description], limit: float, out: Console) -> tuple[int, dict[str, str]]:
    """Measure the calls in one process, and the promising candidates in a second one.

    The first process ends when the second one needs the rest of the time. Returns the number of candidates that the
    second one did not confirm, and the failures.
    """
    start, failures = monotonic(), {}
    progress = Progress(console=out, transient=True)
    task = progress.add_task("", total=limit)

    def promising(worker: Worker, requests: list[Request], reserved: list[float]) -> Iterator[tuple[Request, float]]:
        """The requests with the candidates that look faster, and the seconds that these took."""
        for request, answer, seconds in _answers(worker, requests, lambda: monotonic() - start + sum(reserved) < limit):
            for record in answer.get("records", ()):
                machine.store().append(record)
            call = request["description"]
            if answer["status"] != "ok":
                failures[shown(call)] = answer["reason"]
            progress.update(task, completed=monotonic() - start, description=shown(call))
            names = [record["candidate"] for record in answer.get("records", ()) if is_promising(record["ratios"])]
            if names:
                yield {"description": call, "only": names}, seconds

    progress.start()
    try:
        found, worker = [], _started()
        reserved = [monotonic() - start]
        for request, seconds in promising(worker, [{"description": call} for call in calls], reserved):
            found.append(request)
            reserved.append(seconds)
        confirmed = [request for request, _ in promising(_started(), found, [])] if found else []
    finally:
        progress.stop()
    return sum(len(each["only"]) for each in found) - sum(len(each["only"]) for each in confirmed), failures


def _answers(
    worker: Worker, requests: list[Request], has_time: Callable[[], bool]
) -> Iterator[tuple[Request, dict[str, Any], float]]:
    """Each request with the answer and its seconds, as long as there is time. A worker that dies is replaced."""
    try:
        for request in requests:
            if not has_time():
                return
            if not worker.alive:
                worker = _started()
            asked = monotonic()
            answer = worker.ask(request, CALL_S)
            yield request, answer, monotonic() - asked
    finally:
        if worker.alive:
            worker.close()


def _started() -> Worker:
    worker = Worker("xarrayops.tune.worker")
    worker.answer(START_S)
    return worker


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
