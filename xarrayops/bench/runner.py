"""The parent: in what order cells are measured within the budget, and what becomes of those that fail."""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from itertools import groupby
from time import monotonic
from typing import Any

from xarrayops import __version__, _machine
from xarrayops._doctor import SETTINGS
from xarrayops._process import Worker
from xarrayops.bench.journal import Journal
from xarrayops.bench.others import Others
from xarrayops.bench.plan import Observer, Plan, Step
from xarrayops.bench.probed import Probed
from xarrayops.bench.record import Record, key
from xarrayops.bench.resolution import resolution
from xarrayops.bench.results import Results, Row
from xarrayops.bench.roofs import Roofs
from xarrayops.bench.source import code_of, digest
from xarrayops.bench.workloads._contract import FLOATS

_CODE = ("code", "versions")
IMPORT_S = 60.0
"""How long the libraries, which start side by side, may take."""
_WORTH_ANOTHER_TRY = ("timeout", "out-of-memory", "crashed", "interrupted")
"""What a run that is resumed tries again: more time or memory, or another version of anything, may have mended it."""
_CALLS_TO_WEIGH = 6
_WEIGHING_S = 0.1


def run(plan: Plan, observer: Observer, journal: Journal) -> Results:
    """Measure the plan's cells. Every cell gets one checked round before any gets a second.

    Each backend is measured in several processes, one after the other, so that what one process alone makes of a cell
    is seen. At a KeyboardInterrupt the observer is told the results as they stand, before it is raised further.
    """
    bench = Run(plan, observer, journal)
    try:
        for process in range(plan.processes):
            bench.turn(process)
        bench.weigh()
    except KeyboardInterrupt:
        bench.interrupt()
        raise
    finally:
        bench.close()
    return bench.results()


class Run:
    """The state of one run: the workers, the cells, and the time that is left."""

    def __init__(self, plan: Plan, observer: Observer, journal: Journal) -> None:
        self.plan, self.observer, self.journal, self.load = plan, observer, journal, _machine.load()
        self.date, self.start = datetime.now(UTC), monotonic()
        self.greetings: dict[str, dict[str, Any]] = {}
        self.records: list[Record] = []
        self.probed = Probed()
        self.launches: dict[tuple[str, str], float] = {}
        self.others = Others()
        self.machine, self.code = _machine.facts(), {w.name: code_of(w) for w in plan.workloads}
        self.workers: dict[str, Worker] = {}

    @property
    def seconds_left(self) -> float:
        """Of the whole budget."""
        return self.start + self.plan.budget_s - monotonic()

    @property
    def weighing_s(self) -> float:
        """What `weigh` will take, as far as can be foreseen."""
        return sum(_WEIGHING_S + _CALLS_TO_WEIGH * max(map(max, r.medians.values())) for r in self.unweighed())

    def budget_spent(self) -> dict[str, Any]:
        """What an answer that never came is called."""
        reason = f"the budget of {self.plan.budget_s:.0f} s was spent before its turn"
        return {"status": "over-budget", "reason": reason, "fix": "A longer --budget, or the same again with --resume."}

    def worker(self, backend: str) -> Worker:
        """A new process."""
        return Worker("xarrayops.bench.worker", backend, *self.plan.sources)

    def greeting(self, name: str) -> dict[str, Any]:
        """What a new process says first; an answer without status "ok" if it runs other code than one before it did."""
        found, first = self.within_budget(self.workers[name].answer, IMPORT_S), self.greetings.get(name, {})
        if first.get("status") == found["status"] == "ok" and any(first[what] != found[what] for what in _CODE):
            reason, fix = "its code or version changed while it was measured", "The same command again."
            return {"status": "interrupted", "reason": reason, "fix": fix}
        return found

    def close(self) -> None:
        """End all processes."""
        for worker in self.workers.values():
            worker.dismiss()
        for worker in self.workers.values():
            worker.close(grace_s=1.0)
        self.workers = {}

    def ask(self, backend: str, command: dict[str, Any]) -> dict[str, Any]:
        """The worker's answer; a worker that died over an earlier cell is started again."""
        if not self.workers[backend].alive:
            self.workers[backend].close()
            self.workers[backend] = self.worker(backend)
            greeting = self.greeting(backend)
            if greeting["status"] != "ok":
                self.workers[backend].close()
                return greeting
        worker = self.workers[backend]
        answer = self.within_budget(lambda seconds: worker.ask(command, seconds), self.plan.timeout_s)
        worker.freeze()
        return answer

    def within_budget(self, ask: Callable[[float], dict[str, Any]], seconds: float) -> dict[str, Any]:
        """An answer in so many seconds and in what the budget leaves."""
        answer = ask(min(seconds, self.seconds_left))
        return self.budget_spent() if answer["status"] == "timeout" and self.seconds_left <= 0 else answer

    def lay_out(self) -> None:
        """The cells, workload by workload, with what an earlier run knew of them."""
        machine = _machine.summary(self.machine)
        for workload, dtype, n in self.plan.cells():
            code = digest(workload)
            for name, greeting in self.greetings.items():
                for device in greeting.get("devices") or [{}]:
                    row = Row(
                        workload=workload.name,
                        group=workload.group,
                        backend=name,
                        device=device.get("name", ""),
                        dtype=dtype,
                        size=n,
                        throughput_unit=workload.unit,
                        import_s=greeting.get("import_s"),
                        versions=greeting.get("versions", {}),
                        device_kind=device.get("kind", ""),
                        device_label=device.get("label", ""),
                        machine=machine,
                        load=self.load,
                        **self.budget_spent(),
                    )
                    row.key = key(
                        [*self.conditions(name), workload.name, code, row.device, dtype, n, self.plan.round_s]
                    )
                    record = Record(row, device)
                    if greeting["status"] != "ok":
                        record.fail(greeting)
                    self.records.append(record)
        known = {record.row.key: record for record in self.records if record.device}
        for event in self.journal.earlier:
            if event.get("cell") in known and event["status"] not in _WORTH_ANOTHER_TRY:
                known[event["cell"]].apply(event)

    def conditions(self, backend: str) -> list[Any]:
        """What must be as it was for a time of a backend to stand: code, versions, machine and settings."""
        greeting = self.greetings[backend]
        machine = _machine.summary(self.machine)
        return [backend, greeting.get("code"), greeting.get("versions"), machine, __version__, _settings()]

    def pending(self) -> list[Record]:
        """The cells of libraries that are here and have not failed."""
        return [record for record in self.records if record.pending]

    def measured(self) -> list[Record]:
        """The cells that have a time."""
        return [record for record in self.records if record.row.measured]

    def unweighed(self) -> list[Record]:
        """The cells on the host whose memory is not known yet."""
        return [r for r in self.measured() if r.row.device_kind == "cpu" and r.row.peak_bytes is None]

    def measure(self, record: Record, process: int) -> None:
        """One round of a cell; what a worker tells of its preparation counts the first time only."""
        start = monotonic()
        command = {"do": "measure", "seconds": self.plan.round_s, **record.address()}
        answer = self.ask(record.row.backend, command)
        record.cost_s = monotonic() - start
        if answer["status"] != "over-budget":
            self.note(record, {**answer, "process": process})

    def probe(self, backend: str, command: dict[str, Any]) -> dict[str, Any]:
        """What a worker tells of its device; what one told an earlier run is not asked again."""
        name = key([*self.conditions(backend), command])
        known = next((event for event in self.journal.earlier if event.get("probe") == name), None)
        if known is not None:
            return known
        answer = self.ask(backend, command)
        if answer["status"] == "ok":
            self.journal.append({"probe": name, **answer})
        return answer

    def note(self, record: Record, answer: dict[str, Any]) -> None:
        """What was found is on disk before it is used."""
        self.journal.append({"cell": record.row.key, **answer})
        record.apply(answer)

    def turn(self, process: int) -> None:
        """Measure every cell in one process per backend, until its share of the budget is spent."""
        missing = self.plan.rounds * len(self.pending()) - sum(r.rounds(process) for r in self.pending())
        if self.records and not missing:
            return
        later = self.plan.processes - process - 1
        self.close()
        began = monotonic()
        self.greet()
        if not self.records:
            self.lay_out()
        greeted = monotonic()
        self.prove()
        proven = monotonic()
        self.cover(process)
        again = greeted - began + monotonic() - proven  # what later processes must do, too, before they refine
        self.probe_roofs()
        self.refine(process, monotonic() + (self.seconds_left - self.weighing_s - later * again) / (later + 1))

    def greet(self) -> None:
        """Start the libraries side by side and hear what they are; the missing ones are not asked again."""
        self.tell("importing the libraries")
        names = [name for name in self.plan.backends if self.greetings.get(name, {"status": "ok"})["status"] == "ok"]
        self.workers = {name: self.worker(name) for name in names}
        found = {name: self.greeting(name) for name in names}
        self.greetings = found | self.greetings
        self.greetings = {name: self.greetings[name] for name in self.plan.backends}
        for name, greeting in found.items():
            if greeting["status"] == "ok":
                self.workers[name].freeze()
            else:
                self.workers[name].close()

    def prove(self) -> None:
        """Find out once whether the clock waits for each library, and how long its smallest call takes."""
        for place in dict.fromkeys((r.row.backend, r.row.device, r.row.device_kind) for r in self.pending()):
            backend, device, kind = place
            if (backend, device) in self.launches or self.seconds_left <= 0:
                continue
            self.tell(f"does the clock wait for {backend} {device}?")
            answer = self.probe(backend, {"do": "prove", "device": device, "kind": kind})
            if answer["status"] == "ok":
                self.launches[backend, device] = answer["launch_s"]
            elif answer["status"] != "over-budget":  # no time is shown of a library that is not proven to be waited for
                for record in self.pending():
                    if (record.row.backend, record.row.device) == (backend, device):
                        record.fail(answer)

    def cover(self, process: int) -> None:
        """One round of every cell, workload by workload, so that no backend waits for another to be finished.

        Which backend comes first is drawn for each workload.
        """
        order = random.Random(f"cover {process}")
        for _, group in groupby(
            self.pending(), key=lambda record: (record.row.workload, record.row.dtype, record.row.size)
        ):
            records = list(group)
            order.shuffle(records)
            for record in records:
                if not record.rounds(process) and self.seconds_left > 0:
                    self.tell(f"{record.row.workload} on {record.row.place}")
                    self.measure(record, process)
        self.observer.results(self.results())

    def probe_roofs(self) -> None:
        """The best rates that any of the libraries reaches on each device, once."""
        for record in self.measured():
            row = record.row
            known = self.probed.knows(record.roof_place, row.backend)
            if row.dtype in FLOATS and not known and self.seconds_left > 0:
                self.tell(f"roofs of {row.device} by {row.backend}")
                place = {"device": row.device, "kind": row.device_kind}
                rates = self.probe(row.backend, {"do": "roofs", "dtype": row.dtype, **place})
                self.probed.add(record.roof_place, row.backend, rates)

    def refine(self, process: int, until: float) -> None:
        """More rounds, in an order drawn anew for each, until this moment."""
        order = random.Random(process)
        for number in range(2, self.plan.rounds + 1):
            records = [r for r in self.measured() if r.pending and r.rounds(process) < number]
            order.shuffle(records)
            for record in records:
                if monotonic() + record.cost_s < until:
                    self.tell(f"process {process + 1} of {self.plan.processes}, round {number} of {self.plan.rounds}")
                    self.measure(record, process)
            self.observer.results(self.results())

    def weigh(self) -> None:
        """The peak of host memory of each cell; last, because it slows the workers down."""
        for record in self.unweighed():
            if record.row.backend in self.workers and self.seconds_left > 0:
                self.tell(f"peak memory of {record.row.workload} on {record.row.place}")
                answer = self.ask(record.row.backend, {"do": "memory", **record.address()})
                if answer["status"] == "ok":
                    self.note(record, answer)
        self.observer.results(self.results())

    def interrupt(self) -> None:
        """Say why the cells whose turn never came are empty, and tell the observer; nothing before there are cells."""
        reason, fix = "the run was interrupted before its turn", "The same command with --resume, left to its end."
        for record in self.pending():
            if record.row.status == "over-budget" and self.seconds_left > 0:
                record.fail({"status": "interrupted", "reason": reason, "fix": fix})
        if self.records:
            found = self.results()
            self.observer.results(replace(found, environment=found.environment | {"interrupted": True}))

    def tell(self, phase: str) -> None:
        """Tell the observer what begins."""
        here = [record for record in self.records if record.device]
        rounds = self.plan.rounds * self.plan.processes
        done = sum(rounds if not r.pending else sum(map(len, r.medians.values())) for r in here)
        covered = sum(bool(r.medians) or not r.pending for r in here)
        left = max(0.0, self.seconds_left)
        self.observer.step(Step(phase, done, rounds * len(here), covered, len(here), left))

    def roofs(self, record: Record) -> Roofs | None:
        """The best of every library on the cell's device."""
        return self.probed.best(record.roof_place) if record.device else None

    def results(self) -> Results:
        """The rows and what they have in common, as they stand."""
        rows = [
            record.filled(self.roofs(record), self.launches.get((record.row.backend, record.row.device)))
            for record in self.records
        ]
        return Results(rows, self.environment(rows))

    def environment(self, rows: list[Row]) -> dict[str, Any]:
        """What the rows have in common, as `Results` says."""
        here = {name: greeting for name, greeting in self.greetings.items() if greeting["status"] == "ok"}
        return {
            "command": self.plan.command,
            "date": self.date.isoformat(timespec="seconds"),
            "seconds": round(monotonic() - self.start, 1),
            "xarrayops": __version__,
            "machine": self.machine,
            "load": self.load,
            "others": self.others.part(worker.process.pid for worker in self.workers.values() if worker.alive),
            "settings": _settings(),
            "versions": {name: greeting["versions"] for name, greeting in here.items()},
            "devices": {name: greeting["devices"] for name, greeting in here.items()},
            "pools": {name: greeting.get("pools", []) for name, greeting in here.items()},
            "roofs": self.probed.described(device for greeting in here.values() for device in greeting["devices"]),
            "launch_s": {f"{backend} {device}": s for (backend, device), s in self.launches.items()},
            "resolution": resolution(rows),
            "workloads": {w.name: {"timed": w.timed, "code": self.code[w.name]} for w in self.plan.workloads},
        }


def _settings() -> dict[str, str]:
    """The environment variables that decide on devices, threads and kernels."""
    return {name: os.environ[name] for name in SETTINGS if name in os.environ}
