"""The parent process: it runs a worker process for each pair of libraries and replaces those that died."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass, field
from threading import Event, Lock

from benchmarks.exchange_matrix.cells import Cell, Pair, Result
from benchmarks.exchange_matrix.memory_kinds import LARGE
from xarrayops._system import machine
from xarrayops._system.process import Worker

TIMEOUT_S = 120.0
START_S = 120.0
"""The time limit for importing both libraries, also on a busy machine."""
_LARGE_TIMEOUT_S = 180.0
_LARGE_BYTES = 9 * 2**30
"""The memory that a very large cell needs: source, copy, an intermediate copy, and the libraries."""
_LARGE_LOCK = Lock()
"""Allows one very large cell at a time."""
_WORKERS = 2


@dataclass
class Matrix:
    """The result of every cell, the versions of the libraries, and the machine."""

    results: list[Result] = field(default_factory=list)
    versions: dict[str, str] = field(default_factory=dict)
    machine: str = ""


def run(
    pairs: Sequence[Pair],
    cells: Sequence[Cell],
    report: Callable[[Pair, int], None] = lambda pair, done: None,
    *,
    timeout_s: float = TIMEOUT_S,
    module: str = "benchmarks.exchange_matrix.worker",
) -> Matrix:
    """Examine the cells of every pair. `report` receives the number of further finished cells of a pair.

    After a KeyboardInterrupt the workers are ended, and the exception is raised again.
    """
    matrix, stop = Matrix(machine=machine.summary(machine.facts())), Event()

    def examine(pair: Pair) -> list[Result]:
        return _Examination(pair, timeout_s, module, matrix.versions).run(cells, report, stop)

    with ThreadPoolExecutor(min(_WORKERS, os.cpu_count() or 1)) as pool:
        try:
            for results in pool.map(examine, pairs):
                matrix.results += results
        except BaseException:
            stop.set()
            raise
    return matrix


class _Examination:
    """One pair and its current worker process."""

    def __init__(self, pair: Pair, timeout_s: float, module: str, versions: dict[str, str]) -> None:
        self.pair, self.timeout_s, self.module, self.versions = pair, timeout_s, module, versions
        self.worker: Worker | None = None

    def run(self, cells: Sequence[Cell], report: Callable[[Pair, int], None], stop: Event) -> list[Result]:
        results = []
        try:
            for cell in cells:
                if stop.is_set():
                    break
                results.append(self.examine(cell))
                report(self.pair, 1)
        finally:
            if self.worker is not None:
                self.worker.close(grace_s=1.0)
        return results

    def examine(self, cell: Cell) -> Result:
        """The result of a cell, which is "skipped" if there is too little memory."""
        large = cell.kind == LARGE
        with _LARGE_LOCK if large else nullcontext():
            shortage = _memory_shortage() if large else None
            return self.result(cell) if shortage is None else Result(self.pair, cell, "skipped", shortage)

    def result(self, cell: Cell) -> Result:
        """The worker's answer, or the crash or timeout of the worker."""
        worker = self.live_worker()
        if isinstance(worker, Result):
            return worker._replace(cell=cell)
        answer = worker.ask(cell._asdict(), max(self.timeout_s, _LARGE_TIMEOUT_S if cell.kind == LARGE else 0.0))
        if answer["status"] != "ok":
            outcome = "timeout" if answer["status"] == "timeout" else "crashed"
            return Result(self.pair, cell, outcome, answer["reason"])
        known = {name: answer[name] for name in ("outcome", "reason", "action", "nbytes") if name in answer}
        return Result(self.pair, cell, **known)

    def live_worker(self) -> Worker | Result:
        """A worker after its handshake, or the result of a cell if the worker cannot start."""
        if self.worker is None or not self.worker.alive:
            if self.worker is not None:
                self.worker.close()
            device = (self.pair.device,) if self.pair.device else ()
            arguments = (self.module, self.pair.producer, self.pair.consumer, *device)
            self.worker = Worker(*arguments, environment=dict(self.pair.environment))
            handshake = self.worker.answer(START_S)
            if handshake["status"] != "ok":
                return Result(self.pair, Cell("", "", None), "crashed", handshake["reason"])
            self.versions |= handshake["versions"]
        return self.worker


def _memory_shortage() -> str | None:
    """Why there is too little memory for a very large cell; None if there is enough."""
    free = machine.available_bytes()
    if free is None or free >= _LARGE_BYTES:
        return None
    return f"needs {_LARGE_BYTES / 2**30:.0f} GiB of memory, {free / 2**30:.1f} are free"
