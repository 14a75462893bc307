"""The order in which cells are measured within the budget, in one environment or interleaved in two."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from time import monotonic
from typing import Any

from xarrayops._cli.doctor import own_settings
from xarrayops._ops.choices.block import ENVIRONMENT as MEASURED, choices
from xarrayops._system import gpus, machine
from xarrayops._system.process import failure
from xarrayops.bench.compare.ranking import resolution
from xarrayops.bench.environment import InterleavedRun, RunEnvironment
from xarrayops.bench.measure.roofline import MeasuredRooflines
from xarrayops.bench.results import Results, Row
from xarrayops.bench.run.budget import Budget, CpuContention
from xarrayops.bench.run.environment import Identity
from xarrayops.bench.run.environment_run import EnvironmentRun
from xarrayops.bench.run.journal import Journal
from xarrayops.bench.run.plan import BenchPlan, Observer, Step
from xarrayops.bench.run.record import Record

Cell = tuple[EnvironmentRun, Record]
_MEMORY_CALLS = 6
"""How many calls a memory measurement takes."""
_MEMORY_OVERHEAD_S = 0.1


def run(plan: BenchPlan, observer: Observer, journal: Journal) -> Results:
    """Measure the cells of the plan. Every cell gets one checked round before any cell gets a second one.

    Several processes measure each backend, one after the other, to expose differences between processes. After a
    KeyboardInterrupt, the observer receives the results so far, and the exception is raised again.
    """
    return run_interleaved(plan, observer, [(Identity.here(plan.workloads), journal)])[0]


def run_interleaved(
    plan: BenchPlan, observer: Observer, environments: Sequence[tuple[Identity, Journal]]
) -> list[Results]:
    """Measure the cells of the plan in several environments, this one first. Results are in the given order.

    A round of a cell in one environment is followed by its round in the others, so that a longer disturbance of the
    machine affects all of them.
    """
    bench = BenchRun(plan, observer, environments)
    try:
        for process in range(plan.processes):
            bench.measure_times(process)
        bench.measure_memory()
    except KeyboardInterrupt:
        bench.interrupt()
        raise
    finally:
        bench.close()
    return bench.results()


class BenchRun:
    """The state of one run: its environments, and the time left."""

    def __init__(self, plan: BenchPlan, observer: Observer, environments: Sequence[tuple[Identity, Journal]]) -> None:
        self.plan, self.observer, self.requested_sizes = plan, observer, plan.sizes
        self.date, self.budget, self.contention = datetime.now(UTC), Budget(plan.budget_s), CpuContention()
        self.machine = machine.facts()
        self.gpu_states: list[dict[str, Any]] = []
        self.record_gpu_state("before the run")
        rooflines = MeasuredRooflines()
        self.environments = [
            EnvironmentRun(plan, identity, journal, self.budget, rooflines, f" with {identity.command[0]}" if i else "")
            for i, (identity, journal) in enumerate(environments)
        ]
        for environment in self.environments:
            environment.all_environments = self.environments

    @property
    def memory_phase_s(self) -> float:
        """The estimated duration of `measure_memory`."""
        cells = [record for environment in self.environments for record in environment.without_memory()]
        return sum(_MEMORY_OVERHEAD_S + _MEMORY_CALLS * max(map(max, r.medians.values())) for r in cells)

    def close(self) -> None:
        """End all processes."""
        for environment in self.environments:
            environment.close()

    def measure_times(self, process: int) -> None:
        """Measure every cell in one process per backend, until the share of the budget for this process is spent."""
        records = self.records()
        if records and not any(record.pending and record.rounds(process) < self.plan.rounds for record in records):
            return
        later = self.plan.processes - process - 1
        self.close()
        start = monotonic()
        self.handshake()
        started = monotonic()
        for environment in self.environments:
            environment.check_synchronisation(self.report)
        checked = monotonic()
        self.first_round(process)
        preparation_s = started - start + monotonic() - checked  # later processes need it too
        for environment in self.environments:
            environment.measure_rooflines(self.report)
            if self.plan.operations:
                environment.measure_operations(self.report)
        left_s = self.budget.seconds_left - self.memory_phase_s - later * preparation_s
        self.more_rounds(process, monotonic() + left_s / (later + 1))
        self.record_gpu_state(f"after process {process + 1} of {self.plan.processes}")

    def record_gpu_state(self, when: str) -> None:
        """Record the clocks, power and temperature of the GPUs."""
        self.gpu_states += [{"when": when, **gpu} for gpu in gpus.state()]

    def handshake(self) -> None:
        """Start the workers in parallel and read their handshakes."""
        self.report("importing the libraries")
        for environment in self.environments:
            environment.start()
        for environment in self.environments:
            environment.handshake()
        self.plan = self.plan.sized([device for environment in self.environments for device in environment.devices()])
        for environment in self.environments:
            environment.plan = self.plan
            if not environment.records:
                environment.create_records()
        self.exclude_unshareable_gpus()

    def exclude_unshareable_gpus(self) -> None:
        """Exclude CUDA devices that the processes of several libraries cannot share."""
        libraries = [
            known["devices"] for environment in self.environments for known in environment.available().values()
        ]
        users = sum(any(device["kind"] == "cuda" for device in self.plan.chosen(known)) for known in libraries)
        problem = gpus.sharing_problem(self.environments[0].gpus, users)
        if problem is not None:
            for record in self.records():
                if record.pending and record.row.device_kind == "cuda" and not record.row.measured:
                    record.fail(failure("no-device", *problem))

    def first_round(self, process: int) -> None:
        """Measure one round of every cell, workload by workload over all backends."""
        order = random.Random(f"first round {process}")
        for work in self.work():
            for environment, record in (cell for cells in _mixed(work, order) for cell in cells):
                if record.pending and not record.rounds(process) and self.budget.seconds_left > 0:
                    self.report(f"{record.row.workload} on {record.row.place}{environment.label}")
                    environment.measure(record, process)
        self.publish()

    def more_rounds(self, process: int, until: float) -> None:
        """Measure more rounds until this time, each over all work in a new random order."""
        order = random.Random(process)
        for number in range(2, self.plan.rounds + 1):
            every = self.work()
            order.shuffle(every)
            for cells in (cells for work in every for cells in _mixed(work, order)):
                wanted = [(e, r) for e, r in cells if r.pending and r.row.measured and r.rounds(process) < number]
                if len(wanted) == len(cells) and monotonic() + sum(r.cost_s for _, r in wanted) < until:
                    self.report(f"process {process + 1} of {self.plan.processes}, round {number} of {self.plan.rounds}")
                    for environment, record in wanted:
                        environment.measure(record, process)
            self.publish()

    def measure_memory(self) -> None:
        """Measure the peak memory of each cell. This comes last, because it slows the workers down."""
        for environment in self.environments:
            for record in environment.without_memory():
                if record.row.backend in environment.workers and self.budget.seconds_left > 0:
                    self.report(f"peak memory of {record.row.workload} on {record.row.place}{environment.label}")
                    environment.measure_memory(record)
        self.publish()

    def records(self) -> list[Record]:
        """The records of all environments."""
        return [record for environment in self.environments for record in environment.records]

    def work(self) -> list[list[Cell]]:
        """The cells, grouped by workload, dtype and size."""
        found: dict[tuple[str, str, int], list[Cell]] = {}
        for environment in self.environments:
            for record in environment.records:
                row = record.row
                found.setdefault((row.workload, row.dtype, row.size), []).append((environment, record))
        return list(found.values())

    def interrupt(self) -> None:
        """Mark the cells that were not measured as interrupted, and publish the results if there are any cells."""
        cut = failure("interrupted", "the run was interrupted before this cell", "Run the same command with --resume.")
        for record in self.records():
            if record.pending and record.row.status == "over-budget" and self.budget.seconds_left > 0:
                record.fail(cut)
        if self.records():
            found = self.results()
            for results in found:
                results.environment["interrupted"] = True
            self.observer.results(found)

    def report(self, phase: str) -> None:
        """Report the progress and the phase that begins."""
        records = [record for record in self.records() if record.device]
        rounds = self.plan.rounds * self.plan.processes
        rounds_done = sum(rounds if not r.pending else sum(map(len, r.medians.values())) for r in records)
        cells_done = sum(bool(r.medians) or not r.pending for r in records)
        left = max(0.0, self.budget.seconds_left)
        self.observer.step(Step(phase, rounds_done, rounds * len(records), cells_done, len(records), left))

    def publish(self) -> None:
        """Send the results so far to the observer."""
        self.observer.results(self.results())

    def results(self) -> list[Results]:
        """The results so far of each environment."""
        rows = [(each, [each.row(record) for record in each.records]) for each in self.environments]
        return [Results(found, self.facts(environment, found)) for environment, found in rows]

    def facts(self, environment: EnvironmentRun, rows: list[Row]) -> RunEnvironment:
        """What the rows have in common."""
        here = environment.available()
        code, digests = environment.identity.code, environment.identity.digests
        workers = [worker for each in self.environments for worker in each.workers.values()]
        devices = [device for handshake in here.values() for device in handshake["devices"]]
        settings = {name: value for each in here.values() for name, value in each.get("settings", {}).items()}
        return {
            "command": self.plan.command,
            "date": self.date.isoformat(timespec="seconds"),
            "seconds": round(self.budget.seconds, 1),
            "interleaved": self.interleaved(environment),
            "python": environment.identity.python,
            "xarrayops": environment.identity.xarrayops,
            "machine": self.machine,
            "gpus": environment.gpus,
            "gpu_states": self.gpu_states,
            "size": ",".join(self.plan.sizes),
            "size_asked": ",".join(self.requested_sizes),
            "load": environment.load,
            "others": self.contention.share(worker.process.pid for worker in workers if worker.alive),
            "settings": own_settings() | settings,
            "choices": choices().digest if MEASURED else "",
            "switches": {name: each["switches"] for name, each in here.items() if each.get("switches")},
            "versions": {name: each["versions"] for name, each in here.items()},
            "devices": {name: each["devices"] for name, each in here.items()},
            "pools": {name: each.get("pools", []) for name, each in here.items()},
            "roofs": environment.rooflines.described(devices),
            "launch_s": {f"{backend} {device}": s for (backend, device), s in environment.launches.items()},
            "operations": [
                {"backend": backend, "device": device, **rates}
                for (backend, device), rates in environment.operations.items()
            ],
            "resolution": resolution(rows),
            "workloads": {
                w.name: {"timed": w.timed, "code": code[w.name], "digest": digests[w.name]}
                for w in self.plan.workloads
                if w.name in digests
            },
        }

    def interleaved(self, environment: EnvironmentRun) -> InterleavedRun | None:
        """Which of several environments it is; None in a run with one environment."""
        if len(self.environments) == 1:
            return None
        known = [each.identity for each in self.environments]
        return {
            "index": self.environments.index(environment),
            "pythons": [each.command[0] for each in known],
            "packages": [each.package for each in known],
        }


def _mixed(work: list[Cell], order: random.Random) -> Iterator[list[Cell]]:
    """The cells of the same work by backend and device, in random order; the environments are in random order too."""
    places: dict[str, list[Cell]] = {}
    for environment, record in work:
        places.setdefault(record.row.place, []).append((environment, record))
    for place in order.sample(list(places), len(places)):
        yield order.sample(places[place], len(places[place]))
