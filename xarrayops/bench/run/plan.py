"""What is to be measured, and who is told how far it is."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Protocol

from xarrayops.bench.results import Results
from xarrayops.bench.workload_sources import BUILT_IN
from xarrayops.bench.workloads import WORKLOADS, Workload

PROCESSES = 2
"""How many processes measure each backend, one after the other: what they differ by is the resolution of the table."""
ROUNDS = 8
"""Rounds of a cell in each process, if the budget allows; from six in all, the interval has 95 % confidence."""
ROUND_S = 0.05
"""How long a round of one cell lasts, in seconds; at least one call."""
COLD_ROUNDS = 4
"""After so many rounds of a process a call is timed with cold caches, too."""
AUTO, DEFAULT, LARGE = "", "default", "large"
"""The size where none is asked for: `LARGE` on a machine with an accelerator, `DEFAULT` on others."""
BUDGET_S = 300.0
TIMEOUT_S = 30.0

NO_ACCELERATORS = ("cpu", "xla")
"""Kinds of devices for which the default sizes take long enough; an XLA device may be the CPU."""


@dataclass(frozen=True)
class Plan:
    """What to measure, and how long that may take: ``budget_s`` in all, ``timeout_s`` for one answer of a worker.

    ``sources`` is where the workers find the workloads; without ``dtypes``, each is measured in its own. ``devices``
    are the kinds of devices that count, all where none is named.
    """

    backends: tuple[str, ...]
    workloads: tuple[Workload, ...] = WORKLOADS
    dtypes: tuple[str, ...] = ()
    devices: tuple[str, ...] = ()
    size: str = DEFAULT
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

    def chosen(self, devices: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
        """Those of a library's devices that count."""
        return [device for device in devices if not self.devices or device["kind"] in self.devices]

    def sized(self, devices: Iterable[dict[str, Any]]) -> Plan:
        """The same with a size for these devices, if none was asked for."""
        accelerated = any(device["kind"] not in NO_ACCELERATORS for device in self.chosen(devices))
        return self if self.size != AUTO else replace(self, size=LARGE if accelerated else DEFAULT)

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
