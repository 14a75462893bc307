"""What is to be measured, and who is told how far it is."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple, Protocol

from xarrayops.bench.results import Results
from xarrayops.bench.source import BUILT_IN
from xarrayops.bench.workloads import WORKLOADS, Workload

PROCESSES = 2
"""How many processes measure each backend, one after the other: what they differ by is the resolution of the table."""
ROUNDS = 8
"""Rounds of a cell in each process, if the budget allows; from six in all, the interval has 95 % confidence."""
ROUND_S = 0.05
"""How long a round of one cell lasts, in seconds; at least one call."""
COLD_ROUNDS = 4
"""After so many rounds of a process a call is timed with cold caches, too."""
BUDGET_S = 300.0
TIMEOUT_S = 30.0


@dataclass(frozen=True)
class Plan:
    """What to measure, and how long that may take: ``budget_s`` in all, ``timeout_s`` for one answer of a worker.

    ``sources`` is where the workers find the workloads; without ``dtypes``, each is measured in its own.
    """

    backends: tuple[str, ...]
    workloads: tuple[Workload, ...] = WORKLOADS
    dtypes: tuple[str, ...] = ()
    size: str = "default"
    budget_s: float = BUDGET_S
    timeout_s: float = TIMEOUT_S
    processes: int = PROCESSES
    rounds: int = ROUNDS
    round_s: float = ROUND_S
    cold_rounds: int = COLD_ROUNDS
    sources: tuple[str, ...] = (BUILT_IN,)
    command: str = ""

    def by_turns(self) -> Plan:
        """The same with many short rounds: what disturbs one of two that follow each other should be rare."""
        return replace(self, rounds=16, round_s=0.02, cold_rounds=1)

    def cells(self) -> list[tuple[Workload, str, int]]:
        """Every workload with its dtypes and sizes."""
        return [
            (workload, dtype, n)
            for workload in self.workloads
            for dtype in workload.asked_in(self.dtypes)
            for n in workload.ladder(self.size)
        ]


class Step(NamedTuple):
    """How far the run is: what happens now, rounds and cells done, and the seconds that the budget leaves.

    Cells of libraries that are missing do not count: there is nothing to wait for.
    """

    phase: str
    rounds_done: int
    rounds: int
    cells_done: int
    cells: int
    seconds_left: float


class Observer(Protocol):
    """Who wants to know how far the run is."""

    def step(self, step: Step) -> None:
        """Something begins."""

    def results(self, results: list[Results]) -> None:
        """The results of each environment as they stand."""
