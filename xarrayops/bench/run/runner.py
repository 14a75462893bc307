"""In what order cells are measured within the budget, in one environment or in two by turns."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from time import monotonic
from typing import Any

from xarrayops._cli.doctor import own_settings
from xarrayops._system import gpus, machine
from xarrayops.bench.compare.noise_floor import resolution
from xarrayops.bench.results import Results, Row
from xarrayops.bench.run.budget import Budget
from xarrayops.bench.run.cpu_contention import Others
from xarrayops.bench.run.environment import Identity
from xarrayops.bench.run.environment_run import Side
from xarrayops.bench.run.journal import Journal
from xarrayops.bench.run.plan import Observer, Plan, Step
from xarrayops.bench.run.record import Record
from xarrayops.bench.run.rooflines import Probed

Cell = tuple[Side, Record]
_CALLS_TO_WEIGH = 6
_WEIGHING_S = 0.1


def run(plan: Plan, observer: Observer, journal: Journal) -> Results:
    """Measure the plan's cells. Every cell gets one checked round before any gets a second.

    Each backend is measured in several processes, one after the other, so that what one process alone makes of a cell
    is seen. At a KeyboardInterrupt the observer is told the results as they stand, before it is raised further.
    """
    return in_turns(plan, observer, [(Identity.here(plan.workloads), journal)])[0]


def in_turns(plan: Plan, observer: Observer, environments: Sequence[tuple[Identity, Journal]]) -> list[Results]:
    """The same in several environments, this one first; results in the order given.

    A round of a cell in one is followed by its round in the others, so that whatever disturbs the machine for longer
    disturbs all of them.
    """
    bench = Run(plan, observer, environments)
    try:
        for process in range(plan.processes):
            bench.stage(process)
        bench.weigh()
    except KeyboardInterrupt:
        bench.interrupt()
        raise
    finally:
        bench.close()
    return bench.results()


class Run:
    """The state of one run: its sides, and the time that is left."""

    def __init__(self, plan: Plan, observer: Observer, environments: Sequence[tuple[Identity, Journal]]) -> None:
        self.plan, self.observer, self.asked_size = plan, observer, plan.size
        self.date, self.budget, self.others, probed = datetime.now(UTC), Budget(plan.budget_s), Others(), Probed()
        self.machine = machine.facts()
        self.gpu_states: list[dict[str, Any]] = []
        self.look_at_gpus("before the run")
        self.sides = [
            Side(plan, identity, journal, self.budget, probed, f" with {identity.command[0]}" if i else "")
            for i, (identity, journal) in enumerate(environments)
        ]
        for side in self.sides:
            side.sides = self.sides

    @property
    def weighing_s(self) -> float:
        """What `weigh` will take, as far as can be foreseen."""
        cells = [record for side in self.sides for record in side.unweighed()]
        return sum(_WEIGHING_S + _CALLS_TO_WEIGH * max(map(max, r.medians.values())) for r in cells)

    def close(self) -> None:
        """End all processes."""
        for side in self.sides:
            side.close()

    def stage(self, process: int) -> None:
        """Measure every cell in one process per backend, until its share of the budget is spent."""
        pending = [record for side in self.sides for record in side.pending()]
        missing = any(record.rounds(process) < self.plan.rounds for record in pending)
        if any(side.records for side in self.sides) and not missing:
            return
        later = self.plan.processes - process - 1
        self.close()
        began = monotonic()
        self.greet()
        greeted = monotonic()
        for side in self.sides:
            side.prove(self.tell)
        proven = monotonic()
        self.cover(process)
        again = greeted - began + monotonic() - proven  # what later processes must do, too, before they refine
        for side in self.sides:
            side.probe_roofs(self.tell)
        left_s = self.budget.seconds_left - self.weighing_s - later * again
        self.refine(process, monotonic() + left_s / (later + 1))
        self.look_at_gpus(f"after process {process + 1} of {self.plan.processes}")

    def look_at_gpus(self, when: str) -> None:
        """Write down how warm the GPUs are, and how fast they run."""
        self.gpu_states += [{"when": when, **gpu} for gpu in gpus.state()]

    def greet(self) -> None:
        """Start the libraries side by side and hear what they are."""
        self.tell("importing the libraries")
        for side in self.sides:
            side.start()
        for side in self.sides:
            side.greet()
        self.plan = self.plan.sized([device for side in self.sides for device in side.devices()])
        for side in self.sides:
            side.plan = self.plan
            if not side.records:
                side.lay_out()
        self.look_whether_gpus_can_be_shared()

    def look_whether_gpus_can_be_shared(self) -> None:
        """Measure nothing on CUDA devices where the processes of several libraries cannot live side by side."""
        libraries = [known["devices"] for side in self.sides for known in side.here().values()]
        users = sum(any(device["kind"] == "cuda" for device in self.plan.chosen(known)) for known in libraries)
        problem = gpus.sharing_problem(self.sides[0].gpus, users)
        if problem is not None:
            for side in self.sides:
                side.refuse("cuda", *problem)

    def cover(self, process: int) -> None:
        """One round of every cell, workload by workload, so that no backend waits for another to be finished."""
        order = random.Random(f"cover {process}")
        for work in self.work():
            for side, record in (cell for cells in _mixed(work, order) for cell in cells):
                if record.pending and not record.rounds(process) and self.budget.seconds_left > 0:
                    self.tell(f"{record.row.workload} on {record.row.place}{side.label}")
                    side.measure(record, process)
        self.observe()

    def refine(self, process: int, until: float) -> None:
        """More rounds until this moment; which work comes first is drawn anew for each."""
        order = random.Random(process)
        for number in range(2, self.plan.rounds + 1):
            every = self.work()
            order.shuffle(every)
            for cells in (cells for work in every for cells in _mixed(work, order)):
                wanted = [(side, r) for side, r in cells if r.pending and r.row.measured and r.rounds(process) < number]
                if len(wanted) == len(cells) and monotonic() + sum(r.cost_s for _, r in wanted) < until:
                    self.tell(f"process {process + 1} of {self.plan.processes}, round {number} of {self.plan.rounds}")
                    for side, record in wanted:
                        side.measure(record, process)
            self.observe()

    def weigh(self) -> None:
        """The peak of memory of each cell; last, because it slows the workers down."""
        for side in self.sides:
            for record in side.unweighed():
                if record.row.backend in side.workers and self.budget.seconds_left > 0:
                    self.tell(f"peak memory of {record.row.workload} on {record.row.place}{side.label}")
                    side.weigh(record)
        self.observe()

    def work(self) -> list[list[Cell]]:
        """The cells that do the same work, together."""
        found: dict[tuple[str, str, int], list[Cell]] = {}
        for side in self.sides:
            for record in side.records:
                row = record.row
                found.setdefault((row.workload, row.dtype, row.size), []).append((side, record))
        return list(found.values())

    def interrupt(self) -> None:
        """Say why the cells whose turn never came are empty, and tell the observer; nothing before there are cells."""
        reason, fix = "the run was interrupted before its turn", "The same command with --resume, left to its end."
        records = [record for side in self.sides for record in side.records]
        for record in records:
            if record.pending and record.row.status == "over-budget" and self.budget.seconds_left > 0:
                record.fail({"status": "interrupted", "reason": reason, "fix": fix})
        if records:
            self.observer.results(
                [replace(found, environment=found.environment | {"interrupted": True}) for found in self.results()]
            )

    def tell(self, phase: str) -> None:
        """Tell the observer what begins."""
        here = [record for side in self.sides for record in side.records if record.device]
        rounds = self.plan.rounds * self.plan.processes
        done = sum(rounds if not r.pending else sum(map(len, r.medians.values())) for r in here)
        covered = sum(bool(r.medians) or not r.pending for r in here)
        left = max(0.0, self.budget.seconds_left)
        self.observer.step(Step(phase, done, rounds * len(here), covered, len(here), left))

    def observe(self) -> None:
        """Tell the observer what was found until now."""
        self.observer.results(self.results())

    def results(self) -> list[Results]:
        """For each side the rows and what they have in common, as they stand."""
        return [Results(rows := list(side.rows()), self.environment(side, rows)) for side in self.sides]

    def environment(self, side: Side, rows: list[Row]) -> dict[str, Any]:
        """What the rows have in common, as `Results` says."""
        here = side.here()
        code, digests = side.identity.code, side.identity.digests
        workers = [worker for each in self.sides for worker in each.workers.values()]
        return {
            "command": self.plan.command,
            "date": self.date.isoformat(timespec="seconds"),
            "seconds": round(self.budget.seconds, 1),
            "turns": self.turns(side),
            "python": side.identity.python,
            "xarrayops": side.identity.xarrayops,
            "machine": self.machine,
            "gpus": side.gpus,
            "gpu_states": self.gpu_states,
            "size": self.plan.size,
            "size_asked": self.asked_size,
            "load": side.load,
            "others": self.others.part(worker.process.pid for worker in workers if worker.alive),
            "settings": own_settings() | {k: v for each in here.values() for k, v in each.get("settings", {}).items()},
            "switches": {name: greeting["switches"] for name, greeting in here.items() if greeting.get("switches")},
            "versions": {name: greeting["versions"] for name, greeting in here.items()},
            "devices": {name: greeting["devices"] for name, greeting in here.items()},
            "pools": {name: greeting.get("pools", []) for name, greeting in here.items()},
            "roofs": side.probed.described(device for greeting in here.values() for device in greeting["devices"]),
            "launch_s": {f"{backend} {device}": s for (backend, device), s in side.launches.items()},
            "resolution": resolution(rows),
            "workloads": {
                w.name: {"timed": w.timed, "code": code[w.name], "digest": digests[w.name]}
                for w in self.plan.workloads
                if w.name in digests
            },
        }

    def turns(self, side: Side) -> dict[str, Any] | None:
        """Which of several sides it is; and of each, what starts its Python and where its xarrayops is."""
        if len(self.sides) == 1:
            return None
        known = [each.identity for each in self.sides]
        packages = [each.package for each in known]
        return {"side": self.sides.index(side), "pythons": [each.command[0] for each in known], "packages": packages}


def _mixed(work: list[Cell], order: random.Random) -> Iterator[list[Cell]]:
    """The same work in the places that do it, in random order, each with its sides, in random order too."""
    places: dict[str, list[Cell]] = {}
    for side, record in work:
        places.setdefault(record.row.place, []).append((side, record))
    for place in order.sample(list(places), len(places)):
        yield order.sample(places[place], len(places[place]))
