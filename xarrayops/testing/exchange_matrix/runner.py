"""The parent: a worker process for each pair of libraries, a few at a time, and a new one for each that died."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass, field
from threading import Event, Lock

from xarrayops._system import machine
from xarrayops._system.process import Worker
from xarrayops.testing.exchange_matrix.cells import Cell, Pair, Result
from xarrayops.testing.exchange_matrix.memory_kinds import LARGE

TIMEOUT_S = 120.0
START_S = 120.0
"""How long both libraries may take to be imported, on a machine that has other things to do."""
_LARGE_TIMEOUT_S = 180.0
_LARGE_BYTES = 9 * 2**30
"""What a cell of very large memory needs: source, copy, a copy on the way, and the libraries."""
_LARGE_TURN = Lock()
"""Held by the one pair that may try very large memory."""
_WORKERS = 2


@dataclass
class Matrix:
    """What was found: a result for every cell, the versions of the libraries, and the machine."""

    results: list[Result] = field(default_factory=list)
    versions: dict[str, str] = field(default_factory=dict)
    machine: str = ""


def run(
    pairs: Sequence[Pair],
    cells: Sequence[Cell],
    tell: Callable[[Pair, int], None] = lambda pair, done: None,
    *,
    timeout_s: float = TIMEOUT_S,
    module: str = "xarrayops.testing.exchange_matrix.worker",
) -> Matrix:
    """Examine the cells of every pair; `tell` hears how many more of a pair's cells are done.

    At a KeyboardInterrupt the workers are ended, and it is raised further.
    """
    matrix, stop = Matrix(machine=machine.summary(machine.facts())), Event()

    def examine(pair: Pair) -> list[Result]:
        return _Examination(pair, timeout_s, module, matrix.versions).run(cells, tell, stop)

    with ThreadPoolExecutor(min(_WORKERS, os.cpu_count() or 1)) as pool:
        try:
            for results in pool.map(examine, pairs):
                matrix.results += results
        except BaseException:
            stop.set()
            raise
    return matrix


class _Examination:
    """One pair, and the process that serves it now."""

    def __init__(self, pair: Pair, timeout_s: float, module: str, versions: dict[str, str]) -> None:
        self.pair, self.timeout_s, self.module, self.versions = pair, timeout_s, module, versions
        self.worker: Worker | None = None

    def run(self, cells: Sequence[Cell], tell: Callable[[Pair, int], None], stop: Event) -> list[Result]:
        results = []
        try:
            for cell in cells:
                if stop.is_set():
                    break
                results.append(self.examine(cell))
                tell(self.pair, 1)
        finally:
            if self.worker is not None:
                self.worker.close(grace_s=1.0)
        return results

    def examine(self, cell: Cell) -> Result:
        """A cell's result; whoever leaves it without one is charged with that."""
        large = cell.kind == LARGE
        with _LARGE_TURN if large else nullcontext():
            lacking = _lacking() if large else None
            return self.result(cell) if lacking is None else Result(self.pair, cell, "skipped", lacking)

    def result(self, cell: Cell) -> Result:
        """What the worker answers."""
        worker = self.living_worker()
        if isinstance(worker, Result):
            return worker._replace(cell=cell)
        answer = worker.ask(cell._asdict(), max(self.timeout_s, _LARGE_TIMEOUT_S if cell.kind == LARGE else 0.0))
        if answer["status"] != "ok":
            outcome = "timeout" if answer["status"] == "timeout" else "crashed"
            return Result(self.pair, cell, outcome, answer["reason"])
        told = {name: answer[name] for name in ("outcome", "reason", "action", "nbytes") if name in answer}
        return Result(self.pair, cell, **told)

    def living_worker(self) -> Worker | Result:
        """A worker that has greeted; the result of a cell that gets none."""
        if self.worker is None or not self.worker.alive:
            if self.worker is not None:
                self.worker.close()
            device = (self.pair.device,) if self.pair.device else ()
            arguments = (self.module, self.pair.producer, self.pair.consumer, *device)
            self.worker = Worker(*arguments, environment=dict(self.pair.environment))
            greeting = self.worker.answer(START_S)
            if greeting["status"] != "ok":
                return Result(self.pair, Cell("", "", None), "crashed", greeting["reason"])
            self.versions |= greeting["versions"]
        return self.worker


def _lacking() -> str | None:
    """Why very large memory cannot be tried on this machine now, or None."""
    free = machine.available_bytes()
    if free is None or free >= _LARGE_BYTES:
        return None
    return f"needs {_LARGE_BYTES / 2**30:.0f} GiB of memory, {free / 2**30:.1f} are free"
