"""Worker processes that compile one case after the other. A process that dies is a record, not the end."""

from __future__ import annotations

import json
import os
import re
import sys
from argparse import Namespace
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from queue import Empty, SimpleQueue
from typing import Any

from xarrayops._system.process import Worker, die_with_parent, keep_stdout

_START_S = 180.0
_LOGGED = re.compile(r"\b[EFIW]\d{4} [\d:.]+ +\d+ ")
"""The time and the process before a message of XLA, which differ between equal runs."""
Case = dict[str, Any]
Record = dict[str, Any]


def start(module: str, *, environment: Mapping[str, str] | None = None, python: str = sys.executable) -> Worker:
    """A process that answers cases by ``compiled(case)`` of a module."""
    worker = Worker("benchmarks.compile_devices._workers", module, environment=environment, python=(python,))
    worker.answer(_START_S)
    return worker


def compile_cases(
    module: str,
    cases: Sequence[Case],
    arguments: Namespace,
    keep: Callable[[Record], None],
    environment: Mapping[str, str] | None = None,
) -> None:
    """Give ``compiled(case)`` of a module each case, in worker processes, and ``keep`` the records.

    A record is the case with its "state", "compiled", "declared" or "failed", the CPU time in "seconds" and what the
    function adds, such as the "reason".
    """
    waiting: SimpleQueue[Case] = SimpleQueue()
    for case in cases:
        waiting.put(case)

    def serve(_: int) -> None:
        worker: Worker | None = None
        try:
            while True:
                case = waiting.get_nowait()
                if worker is None or not worker.alive:
                    worker = start(module, environment=environment)
                found = worker.ask(case, arguments.seconds)
                if "status" in found:  # the worker died, or took too long
                    reason = _LOGGED.sub("", f"{found['status']}: {found['reason']}")
                    found = {"state": "failed", "reason": reason[:300]}
                keep({**case, **found})
        except Empty:
            pass
        finally:
            if worker is not None:
                worker.close()

    with ThreadPoolExecutor(max(1, arguments.workers)) as pool:
        list(pool.map(serve, range(max(1, arguments.workers))))


def _answer(compiled: Callable[[Case], Record], case: Case) -> Record:
    """The result of a case; an exception is a failure."""
    start = _cpu_seconds()
    try:
        found = compiled(case)
    except Exception as error:
        found = {"state": "failed", "reason": f"{type(error).__name__}: {' '.join(str(error).split())}"[:1000]}
    return {**found, "seconds": round(_cpu_seconds() - start, 2)}


def _cpu_seconds() -> float:
    """The CPU time of this process and of the compilers that it ran."""
    return sum(os.times()[:4])


def main() -> None:
    """``python -m benchmarks.compile_devices._workers MODULE``: answer the cases on stdin."""
    die_with_parent()
    with keep_stdout() as answers:
        compiled = import_module(sys.argv[1]).compiled
        print("{}", file=answers, flush=True)
        for line in sys.stdin:
            print(json.dumps(_answer(compiled, json.loads(line))), file=answers, flush=True)


if __name__ == "__main__":
    main()
