"""The plan of a run, and the interface of its observer."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Protocol

from xarrayops.bench.results import Results
from xarrayops.bench.workload_sources import BUILT_IN
from xarrayops.bench.workloads import WORKLOADS, Workload

PROCESSES = 2
"""How many processes measure each backend, one after the other. Their differences give the resolution of the table."""
ROUNDS = 8
"""Rounds of a cell in each process, if the budget allows. Six in total give the interval 95 % confidence."""
ROUND_S = 0.05
"""The duration of a round of one cell in seconds. A round has at least one call."""
COLD_ROUNDS = 4
"""In this many rounds of a process, a call with cold caches is timed too."""
AUTO, DEFAULT, LARGE = "", "default", "large"
"""`AUTO` means `LARGE` on a machine with an accelerator, and `DEFAULT` on others."""
BUDGET_S = 300.0
TIMEOUT_S = 30.0

NO_ACCELERATORS = ("cpu", "xla")
"""Kinds of devices for which the default sizes are large enough. An XLA device may be the CPU."""


@dataclass(frozen=True)
class BenchPlan:
    """What to measure, and the time limits: ``budget_s`` for the run, ``timeout_s`` for one answer of a worker.

    ``sources`` are the modules and files that define the workloads. Without ``dtypes``, each workload uses its own.
    ``devices`` are the selected kinds of devices; empty selects all. With ``operations``, the kinds of operations are
    measured on each device, for the forecasts of `xarrayops.port`. ``sizes`` are names of sizes, or `AUTO` alone.
    ``part`` (i, n) selects every n-th cell from the i-th on.
    """

    backends: tuple[str, ...]
    workloads: tuple[Workload, ...] = WORKLOADS
    dtypes: tuple[str, ...] = ()
    devices: tuple[str, ...] = ()
    sizes: tuple[str, ...] = (DEFAULT,)
    part: tuple[int, int] = (1, 1)
    budget_s: float = BUDGET_S
    timeout_s: float = TIMEOUT_S
    processes: int = PROCESSES
    rounds: int = ROUNDS
    round_s: float = ROUND_S
    cold_rounds: int = COLD_ROUNDS
    operations: bool = False
    sources: tuple[str, ...] = (BUILT_IN,)
    command: str = ""

    def interleaved(self) -> BenchPlan:
        """The plan with many short rounds, so that a disturbance rarely affects only one round of a pair."""
        return replace(self, rounds=16, round_s=0.02, cold_rounds=1)

    def chosen(self, devices: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
        """The selected devices among those of a library."""
        return [device for device in devices if not self.devices or device["kind"] in self.devices]

    def sized(self, devices: Iterable[dict[str, Any]]) -> BenchPlan:
        """The plan with a size that fits these devices, if none was requested."""
        accelerated = any(device["kind"] not in NO_ACCELERATORS for device in self.chosen(devices))
        return self if self.sizes != (AUTO,) else replace(self, sizes=(LARGE if accelerated else DEFAULT,))

    def cells(self) -> list[tuple[Workload, str, int]]:
        """Every workload with its dtypes and sizes; those of this part of the run."""
        found = [
            (workload, dtype, n)
            for workload in self.workloads
            for dtype in workload.selected_dtypes(self.dtypes)
            for n in sorted({n for size in self.sizes for n in workload.ladder(size)})
        ]
        first, step = self.part
        return found[first - 1 :: step]


class Step(NamedTuple):
    """The progress of a run: the current phase, rounds and cells done, and the seconds left in the budget.

    Cells of missing libraries do not count.
    """

    phase: str
    rounds_done: int
    rounds: int
    cells_done: int
    cells: int
    seconds_left: float


class Observer(Protocol):
    """Receives the progress and the results of a run."""

    def step(self, step: Step) -> None:
        """A phase begins."""

    def results(self, results: list[Results]) -> None:
        """The results so far, for each environment."""
