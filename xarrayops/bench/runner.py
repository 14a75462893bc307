"""The parent: which cells there are, and in what order their rounds are run within the budget."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from time import monotonic
from typing import Any, NamedTuple, Protocol

from xarrayops import _machine
from xarrayops.bench.process import Worker
from xarrayops.bench.results import Row
from xarrayops.bench.timing import median_of_rounds
from xarrayops.bench.workloads import WORKLOADS, Workload
from xarrayops.errors import what_there_is

ROUNDS = 9
"""Rounds of a cell that is measured in full; from six on, the interval has 95 % confidence."""
ROUND_S = 0.15
"""How long a round of one cell lasts, in seconds; at least one call."""
BUDGET_S = 90.0
TIMEOUT_S = 30.0
IMPORT_S = 60.0
"""How long the libraries, which start side by side, may take."""
ROOFS = ("memory", "compute")
_CALLS_TO_WEIGH = 5
_WEIGHING_S = 0.1


@dataclass(frozen=True)
class Plan:
    """What to measure, and how long that may take: ``budget_s`` in all, ``timeout_s`` for one answer of a worker.

    ``module`` is where the workers find the workloads, as ``module.WORKLOADS``.
    """

    backends: tuple[str, ...]
    workloads: tuple[Workload, ...] = WORKLOADS
    dtypes: tuple[str, ...] = ("float32",)
    size: str = "default"
    budget_s: float = BUDGET_S
    timeout_s: float = TIMEOUT_S
    rounds: int = ROUNDS
    round_s: float = ROUND_S
    module: str = "xarrayops.bench.workloads"


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

    def rows(self, rows: list[Row]) -> None:
        """The rows as they stand."""


@dataclass
class _Cell:
    row: Row
    workload: Workload
    size: str
    device: dict[str, Any] = field(default_factory=dict)
    first: dict[str, Any] = field(default_factory=dict)
    rounds: list[list[float]] = field(default_factory=list)
    cost_s: float = 0.0

    @property
    def place(self) -> tuple[str, int, str]:
        """What a roof belongs to: a kind of device, its number, and a dtype."""
        return self.device["kind"], self.device["index"], self.row.dtype


def run(plan: Plan, observer: Observer) -> list[Row]:
    """Measure the plan's cells. Every cell gets one checked round before any gets a second.

    At a KeyboardInterrupt the observer is told the rows as they stand, before it is raised further.
    """
    bench = _Run(plan, observer)
    try:
        bench.greet()
        bench.cover()
        bench.probe_roofs()
        bench.refine()
        bench.probe_roofs()
        bench.weigh()
    except KeyboardInterrupt:
        bench.interrupt()
        raise
    finally:
        bench.close()
    return bench.rows()


class _Run:
    """The state of one run: the workers, the cells, and the time that is left."""

    def __init__(self, plan: Plan, observer: Observer) -> None:
        self.plan, self.observer, self.load = plan, observer, _machine.load()
        self.deadline = monotonic() + plan.budget_s
        self.cells: list[_Cell] = []
        self.roofs: dict[tuple[str, int, str], dict[str, float]] = {}
        self.rounds_done = self.cells_done = 0
        self.probing_s = 0.0
        self.workers = {name: self.worker(name) for name in plan.backends}

    @property
    def seconds_left(self) -> float:
        return self.deadline - monotonic()

    def worker(self, backend: str) -> Worker:
        return Worker("xarrayops.bench.worker", backend, self.plan.module)

    def close(self) -> None:
        for worker in self.workers.values():
            worker.dismiss()
        for worker in self.workers.values():
            worker.close(grace_s=1.0)

    def greet(self) -> None:
        """Wait for the libraries, which start side by side, and lay out the cells, workload by workload."""
        self.tell("importing the libraries")
        greetings = {name: self.greeting(name) for name in self.plan.backends}
        for name, greeting in greetings.items():
            if greeting["status"] != "ok":
                self.workers[name].close()
        machine = _machine.summary()
        for workload in self.plan.workloads:
            for dtype in self.plan.dtypes:
                for name, greeting in greetings.items():
                    for device in greeting.get("devices") or [{}]:
                        self.cells.append(self.lay_out(workload, dtype, name, device, greeting, machine))

    def lay_out(
        self,
        workload: Workload,
        dtype: str,
        backend: str,
        device: dict[str, Any],
        greeting: dict[str, Any],
        machine: str,
    ) -> _Cell:
        size = self.plan.size
        row = Row(
            workload=workload.name,
            backend=backend,
            device=device.get("name", ""),
            dtype=dtype,
            shape=[list(shape) for shape in workload.shapes(size)],
            throughput_unit=workload.unit,
            import_s=greeting.get("import_s"),
            versions=greeting.get("versions", {}),
            device_kind=device.get("kind", ""),
            device_label=device.get("label", ""),
            machine=machine,
            load=self.load,
            **self.budget_spent(),
        )
        cell = _Cell(row, workload, size, device)
        if greeting["status"] != "ok":
            self.fail(cell, greeting)
        return cell

    def budget_spent(self) -> dict[str, Any]:
        reason = f"the budget of {self.plan.budget_s:.0f} s was spent before its turn"
        return {"status": "over-budget", "reason": reason, "fix": "A longer --budget."}

    def greeting(self, name: str) -> dict[str, Any]:
        return self.within_budget(self.workers[name].answer, IMPORT_S)

    def within_budget(self, ask: Callable[[float], dict[str, Any]], seconds: float) -> dict[str, Any]:
        """An answer in so many seconds and in what the budget leaves."""
        answer = ask(min(seconds, self.seconds_left))
        return self.budget_spent() if answer["status"] == "timeout" and self.seconds_left <= 0 else answer

    def cover(self) -> None:
        """One round of every cell, workload by workload, so that no backend waits for another to be finished."""
        for cell in self.runnable():
            if self.seconds_left > 0:
                self.tell(f"{cell.row.workload} on {cell.row.backend} {cell.row.device}")
                self.measure(cell)
            self.rounds_done += 1 if cell.row.measured else self.plan.rounds
            self.cells_done += 1
        self.observer.rows(self.rows())

    def probe_roofs(self) -> None:
        """The best rates that any of the libraries reaches on each device; twice, lest one bad moment decide."""
        asked, start = set(), monotonic()
        for cell in self.measured():
            key = (cell.row.backend, *cell.place)
            if key in asked or self.seconds_left <= 0:
                continue
            asked.add(key)
            self.tell(f"roofs of {cell.row.device} by {cell.row.backend}")
            command = {"do": "roofs", "device": cell.row.device, "kind": cell.row.device_kind, "dtype": cell.row.dtype}
            rates = self.ask(cell.row.backend, command)
            if rates["status"] == "ok":
                known = self.roofs.setdefault(cell.place, {})
                known.update({roof: max(known.get(roof, 0.0), rates[roof]) for roof in ROOFS if roof in rates})
        self.probing_s = monotonic() - start

    def refine(self) -> None:
        """More rounds, in an order drawn anew for each, while they fit into the budget."""
        order = random.Random(0)
        for number in range(2, self.plan.rounds + 1):
            cells = self.measured()
            order.shuffle(cells)
            for cell in cells:
                if cell.cost_s + self.probing_s + self.weighing_s < self.seconds_left:
                    self.tell(f"round {number} of {self.plan.rounds}")
                    self.measure(cell)
                    self.rounds_done += 1
            self.observer.rows(self.rows())

    @property
    def weighing_s(self) -> float:
        """What `weigh` will take, as far as can be foreseen."""
        return sum(_WEIGHING_S + _CALLS_TO_WEIGH * max(cell.rounds[-1]) for cell in self.measured())

    def interrupt(self) -> None:
        """Say why the cells whose turn never came are empty, and tell the observer; nothing before there are cells."""
        reason, fix = "the run was interrupted before its turn", "The same command, left to its end."
        for cell in self.runnable():
            if cell.row.status == "over-budget" and self.seconds_left > 0:
                self.fail(cell, {"status": "interrupted", "reason": reason, "fix": fix})
        if self.cells:
            self.observer.rows(self.rows())

    def weigh(self) -> None:
        """The peak of host memory of each cell; last, because it slows the workers down."""
        for cell in self.measured():
            if cell.row.device_kind == "cpu" and self.seconds_left > 0:
                self.tell("memory")
                answer = self.ask(cell.row.backend, {"do": "memory", **self.address(cell)})
                cell.row.peak_bytes = answer.get("peak_bytes")
        self.observer.rows(self.rows())

    def address(self, cell: _Cell) -> dict[str, str]:
        row = cell.row
        return {"workload": row.workload, "device": row.device, "dtype": row.dtype, "size": cell.size}

    def measure(self, cell: _Cell) -> None:
        """One round of a cell; what a worker tells of its preparation counts the first time only."""
        row, start = cell.row, monotonic()
        answer = self.ask(row.backend, {"do": "measure", "seconds": self.plan.round_s, **self.address(cell)})
        if answer["status"] == "ok":
            cell.first = cell.first or answer["first"]
            cell.rounds.append(answer["samples"])
            cell.cost_s = monotonic() - start
            row.error = max(row.error or 0.0, answer["error"])
            row.status, row.reason, row.fix = "ok", "", ""
        elif answer["status"] != "over-budget" or not cell.rounds:
            self.fail(cell, answer)

    def ask(self, backend: str, command: dict[str, Any]) -> dict[str, Any]:
        """The worker's answer; a worker that died over an earlier cell is started again."""
        if not self.workers[backend].alive:
            self.workers[backend].close()
            self.workers[backend] = self.worker(backend)
            greeting = self.greeting(backend)
            if greeting["status"] != "ok":
                return greeting
        worker = self.workers[backend]
        return self.within_budget(lambda seconds: worker.ask(command, seconds), self.plan.timeout_s)

    def fail(self, cell: _Cell, answer: dict[str, Any]) -> None:
        """A cell without an answer shows no time, not even one from before."""
        cell.rounds.clear()
        cell.row.status, cell.row.reason, cell.row.fix = answer["status"], answer["reason"], answer["fix"]
        cell.row.error = None

    def runnable(self) -> list[_Cell]:
        """The cells of libraries that are here."""
        return [cell for cell in self.cells if cell.device]

    def measured(self) -> list[_Cell]:
        return [cell for cell in self.cells if cell.row.measured]

    def tell(self, phase: str) -> None:
        cells = len(self.runnable())
        rounds = cells * self.plan.rounds
        self.observer.step(Step(phase, self.rounds_done, rounds, self.cells_done, cells, max(0.0, self.seconds_left)))

    def rows(self) -> list[Row]:
        return [_filled(cell, self.roofs.get(cell.place)) if cell.row.measured else cell.row for cell in self.cells]


def _filled(cell: _Cell, rates: dict[str, float] | None) -> Row:
    """The row of a measured cell with what its rounds and the roofs allow to say."""
    first = cell.first
    median, low, high, confidence = median_of_rounds(cell.rounds)
    amount = first["operations"] if cell.workload.unit == "FLOP/s" else first["nbytes"]
    row = replace(
        cell.row,
        median_s=median,
        low_s=low,
        high_s=high,
        confidence=confidence,
        throughput=amount / median,
        rounds=len(cell.rounds),
        calls=sum(map(len, cell.rounds)),
        **{name: first[name] for name in ("first_call_s", "transfer_s", "tolerance")},
    )
    if rates is None or any(roof not in rates for roof in ROOFS):
        return row  # which of them binds cannot be told
    bounds = {"memory": first["nbytes"] / rates["memory"], "compute": first["operations"] / rates["compute"]}
    roof = max(bounds, key=lambda name: bounds[name])
    return replace(row, roof=roof, roof_throughput=amount / bounds[roof], roof_fraction=bounds[roof] / median)


def select(known: Iterable[str], wanted: Sequence[str], what: str) -> list[str]:
    """The wanted names in the order they are known, all of them if none is wanted.

    Raises
    ------
    ValueError
        A name is not known; the message lists those that are, and the one that was perhaps meant.
    """
    known = list(known)
    unknown = [name for name in wanted if name not in known]
    if unknown:
        raise ValueError("; ".join(f"no {what} {name!r}: {what_there_is(name.lower(), known)}" for name in unknown))
    return [name for name in known if not wanted or name in wanted]
