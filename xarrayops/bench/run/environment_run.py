"""The part of a run in one environment: the worker processes of its libraries, and the records of their cells."""

from __future__ import annotations

import platform
from collections.abc import Callable, Collection, Iterable, Iterator
from time import monotonic
from typing import Any

from xarrayops._cli.doctor import own_settings
from xarrayops._system import gpus, machine
from xarrayops._system.process import Worker, failure
from xarrayops.bench.measure.roofline import MeasuredRooflines, RooflineKey
from xarrayops.bench.results import Row
from xarrayops.bench.run.budget import Budget
from xarrayops.bench.run.environment import Identity
from xarrayops.bench.run.journal import Journal
from xarrayops.bench.run.plan import BenchPlan
from xarrayops.bench.run.record import Record, resume, short_digest
from xarrayops.bench.workload import FLOATS

Report = Callable[[str], None]
"""Receives the name of each phase that begins."""
IMPORT_S = 300.0
"""The time limit for importing the libraries in parallel. The first use of a GPU also loads its kernels."""
FIRST_S = 120.0
"""The additional time limit for the first answer of a process, which includes shared compilation."""
_CODE = ("code", "versions")


class EnvironmentRun:
    """The libraries of one environment, and a record for each of their cells.

    ``handshakes`` holds the first answer of each library; ``launches`` holds the seconds of its smallest call, and
    ``operations`` its times of the kinds of operations, by backend and device. The budget and the rooflines are shared
    by ``all_environments`` of the run. ``label`` distinguishes the environments in progress messages.
    """

    def __init__(
        self,
        plan: BenchPlan,
        identity: Identity,
        journal: Journal,
        budget: Budget,
        rooflines: MeasuredRooflines,
        label: str = "",
    ) -> None:
        self.plan, self.identity, self.journal, self.budget = plan, identity, journal, budget
        self.rooflines, self.label = rooflines, label
        self.host = platform.node()
        self.machine, self.load = machine.summary(machine.facts()), machine.load()
        self.gpus = gpus.facts()
        self.handshakes: dict[str, dict[str, Any]] = {}
        self.records: list[Record] = []
        self.launches: dict[tuple[str, str], float] = {}
        self.operations: dict[tuple[str, str], dict[str, Any]] = {}
        self.workers: dict[str, Worker] = {}
        self.warm: set[Worker] = set()
        self.all_environments = [self]

    # --- processes ----------------------------------------------------------------------------------------------------

    def start(self) -> None:
        """Start a new process for each library, except for those that are known to be unavailable."""
        names = [name for name in self.plan.backends if self.handshakes.get(name, {"status": "ok"})["status"] == "ok"]
        self.workers = {name: self.worker(name) for name in names}

    def handshake(self) -> None:
        """Read the first answer of each process."""
        found = {name: self.first_answer(name) for name in self.workers}
        self.handshakes = found | self.handshakes
        self.handshakes = {name: self.handshakes[name] for name in self.plan.backends}
        for name, handshake in found.items():
            if handshake["status"] == "ok":
                self.workers[name].freeze()
            else:
                self.workers[name].close()

    def worker(self, backend: str) -> Worker:
        """A new process."""
        return Worker("xarrayops.bench.measure.worker", backend, *self.plan.sources, python=self.identity.command)

    def first_answer(self, name: str) -> dict[str, Any]:
        """The first answer of a new process. Its status is "interrupted" if the code changed during the run."""
        found, first = self.budget.limited(self.workers[name].answer, IMPORT_S), self.handshakes.get(name, {})
        if first.get("status") == found["status"] == "ok" and any(first[what] != found[what] for what in _CODE):
            return failure("interrupted", "its code or version changed during the run", "Run the same command again.")
        return found

    def close(self) -> None:
        """End all processes."""
        for worker in self.workers.values():
            worker.dismiss()
        for worker in self.workers.values():
            worker.close(grace_s=1.0)
        self.workers, self.warm = {}, set()

    def ask(self, backend: str, command: dict[str, Any]) -> dict[str, Any]:
        """The worker's answer to a command. A worker that ended during an earlier cell is started again.

        A worker whose device failed is ended: most errors of accelerators are permanent for the process.
        """
        if not self.workers[backend].alive:
            self.workers[backend].close()
            self.workers[backend] = self.worker(backend)
            handshake = self.first_answer(backend)
            if handshake["status"] != "ok":
                self.workers[backend].close()
                return handshake
        worker = self.workers[backend]
        limit = self.plan.timeout_s + (0.0 if worker in self.warm else FIRST_S)
        answer = self.budget.limited(lambda seconds: worker.ask(command, seconds), limit)
        self.warm.add(worker)
        crashed = answer["status"] == "crashed" and command["kind"] != "cpu"
        if crashed or not answer.pop("device_works", True):
            worker.close()
        else:
            worker.freeze()
        return answer

    # --- cells --------------------------------------------------------------------------------------------------------

    def create_records(self) -> None:
        """Create a record for each cell, and apply the events of a resumed run."""
        fingerprints = {name: short_digest(self.conditions(name)) for name in self.handshakes}
        for workload, dtype, n in self.plan.cells():
            code = self.identity.digests.get(workload.name)
            for name, handshake in self.handshakes.items():
                for device in self.plan.chosen(handshake.get("devices", ())) or [{}]:
                    row = Row(
                        workload=workload.name,
                        group=workload.group,
                        backend=name,
                        device=device.get("name", ""),
                        dtype=dtype,
                        size=n,
                        throughput_unit=workload.unit,
                        import_s=handshake.get("import_s"),
                        versions=handshake.get("versions", {}),
                        device_kind=device.get("kind", ""),
                        device_label=device.get("label", ""),
                        host=self.host,
                        machine=self.machine,
                        load=self.load,
                        fingerprint=fingerprints[name],
                        **self.budget.exceeded(),
                    )
                    cell = (workload.name, code, row.device, dtype, n, self.plan.round_s)
                    row.key = short_digest([row.fingerprint, *cell])
                    record = Record(row, device)
                    if handshake["status"] != "ok":
                        record.fail(handshake)
                    elif not device:
                        kinds = " or ".join(self.plan.devices)
                        record.fail(failure("no-device", f"no device of kind {kinds}", "Use other --devices."))
                    elif code is None:
                        reason = f"the xarrayops of {self.identity.prefix} has no such workload"
                        record.fail(failure("not-installed", reason, "Leave out the workload."))
                    self.records.append(record)
        resume(self.records, self.journal.earlier)

    def conditions(self, backend: str) -> list[Any]:
        """The conditions under which a time of a backend stays valid: code, versions, machine and settings."""
        handshake = self.handshakes[backend]
        code = (handshake.get("code"), handshake.get("versions"), self.identity.xarrayops, self.identity.python)
        accelerated = any(device["kind"] != "cpu" for device in handshake.get("devices", ()))
        settings = (handshake.get("settings"), handshake.get("switches"), self.gpus if accelerated else [])
        return [backend, *code, self.machine, own_settings(), *settings]

    def available(self) -> dict[str, dict[str, Any]]:
        """The handshakes of the libraries that can be used."""
        return {name: handshake for name, handshake in self.handshakes.items() if handshake["status"] == "ok"}

    def devices(self) -> list[dict[str, Any]]:
        """The selected devices of all libraries."""
        return [each for known in self.handshakes.values() for each in self.plan.chosen(known.get("devices", ()))]

    def pending(self) -> list[Record]:
        """The cells that can still be measured."""
        return [record for record in self.records if record.pending]

    def measured(self) -> list[Record]:
        """The cells that have a time."""
        return [record for record in self.records if record.row.measured]

    def without_memory(self) -> list[Record]:
        """The measured cells whose peak memory is not known yet."""
        return [record for record in self.measured() if record.row.peak_bytes is None]

    def row(self, record: Record) -> Row:
        """The row of a cell so far."""
        roofline = self.rooflines.best(record.roofline_key) if record.device else None
        return record.filled(roofline, self.launches.get((record.row.backend, record.row.device)))

    # --- measurements -------------------------------------------------------------------------------------------------

    def measure(self, record: Record, process: int) -> None:
        """Measure one round of a cell. Only the first preparation of the cell is recorded."""
        start = monotonic()
        cold = record.rounds(process) < self.plan.cold_rounds
        command = {"do": "measure", "seconds": self.plan.round_s, "cold": cold, **record.address()}
        answer = self.ask(record.row.backend, command)
        if answer["status"] == "out-of-memory" and self.free_accelerator(record):
            answer = self.ask(record.row.backend, command)
            if answer["status"] == "ok":
                answer["first"]["first_call_s"] = None  # the first attempt may have compiled already
        record.cost_s = monotonic() - start
        if answer["status"] != "over-budget":
            self.save(record, {**answer, "process": process})

    def free_accelerator(self, record: Record) -> bool:
        """End the other processes that use the accelerator of the cell; False if there are none.

        A frozen process keeps memory that its library never returns, such as the pool of XLA. It is started again for
        its next cell.
        """
        if record.row.device_kind == "cpu":
            return False
        holders = [
            worker
            for environment in self.all_environments
            for name, worker in environment.workers.items()
            if worker.alive
            and (environment is not self or name != record.row.backend)
            and environment.uses(name, record.roofline_key)
        ]
        for worker in holders:
            worker.close()
        return bool(holders)

    def uses(self, backend: str, key: RooflineKey) -> bool:
        """Whether a library uses this device."""
        devices = self.plan.chosen(self.handshakes[backend].get("devices", ()))
        return any((device["kind"], device["index"]) == key[:2] for device in devices)

    def measure_memory(self, record: Record) -> None:
        """Measure the peak memory of a cell."""
        answer = self.ask(record.row.backend, {"do": "memory", **record.address()})
        if answer["status"] == "ok":
            self.save(record, answer)

    def save(self, record: Record, answer: dict[str, Any]) -> None:
        """Write an answer to the journal, then apply it to the record."""
        self.journal.append({"cell": record.row.key, **answer})
        record.apply(answer)

    def recorded(self, backend: str, command: dict[str, Any], *, again: bool = False) -> list[dict[str, Any]]:
        """The answers to a command about a device: those of a resumed run, unless asked again, or else a new one."""
        name = short_digest([*self.conditions(backend), command])
        known = [event for event in self.journal.earlier if event.get("probe") == name]
        if known and not again:
            return known
        answer = self.ask(backend, command)
        if answer["status"] == "ok":
            self.journal.append({"probe": name, **answer})
        return [answer]

    def probed(
        self, do: str, phase: str, records: Iterable[Record], known: Collection[tuple[str, str]], report: Report
    ) -> Iterator[tuple[tuple[str, str], dict[str, Any]]]:
        """The answers to a command about each backend and device of some cells that is not known yet."""
        places = dict.fromkeys((record.row.backend, record.row.device, record.row.device_kind) for record in records)
        for backend, device, kind in places:
            if (backend, device) not in known and self.budget.seconds_left > 0:
                report(f"{phase} {backend} {device}{self.label}")
                yield (backend, device), self.recorded(backend, {"do": do, "device": device, "kind": kind})[-1]

    def check_synchronisation(self, report: Report) -> None:
        """Check once that timing waits for each library, and measure its smallest call."""
        phase = "checking that timing waits for"
        for place, answer in self.probed("check-sync", phase, self.pending(), self.launches, report):
            if answer["status"] == "ok":
                self.launches[place] = answer["launch_s"]
            elif answer["status"] != "over-budget":  # no times without a successful check
                for record in self.pending():
                    if (record.row.backend, record.row.device) == place:
                        record.fail(answer)

    def measure_operations(self, report: Report) -> None:
        """Measure the kinds of operations once on each device of each library, within the budget."""
        from xarrayops.port.trace.operations import RATES  # only here: it imports the analysis of programs

        phase = "kinds of operations on"
        for place, answer in self.probed("operations", phase, self.measured(), self.operations, report):
            if answer["status"] == "ok":
                self.operations[place] = {name: answer[name] for name in RATES}

    def measure_rooflines(self, report: Report) -> None:
        """Measure the best rates of each library on each device, and again where a cell exceeds the roofline."""
        self._measure_rooflines(lambda key, library: not self.rooflines.knows(key, library), report, again=False)
        exceeded = {record.roofline_key for record in self.measured() if self.row(record).roof_doubt}
        self._measure_rooflines(lambda key, library: key in exceeded, report, again=True)

    def _measure_rooflines(self, wanted: Callable[[RooflineKey, str], bool], report: Report, *, again: bool) -> None:
        for (key, backend), record in {(r.roofline_key, r.row.backend): r for r in self.measured()}.items():
            row, library = record.row, backend + self.label
            if row.dtype in FLOATS and wanted(key, library) and self.budget.seconds_left > 0:
                report(f"roofline of {row.device} with {library}")
                command = {"do": "roofline", "dtype": row.dtype, "device": row.device, "kind": row.device_kind}
                for rates in self.recorded(backend, command, again=again):
                    self.rooflines.add(key, library, rates)
