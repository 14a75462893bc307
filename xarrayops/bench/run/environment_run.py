"""What is measured with one Python: the workers of its libraries, the cells, and what was told of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from time import monotonic
from typing import Any

from xarrayops._cli.doctor import own_settings
from xarrayops._system import gpus, machine
from xarrayops._system.process import Worker
from xarrayops.bench.results import Row
from xarrayops.bench.run.budget import Budget
from xarrayops.bench.run.environment import Identity
from xarrayops.bench.run.journal import Journal
from xarrayops.bench.run.plan import Plan
from xarrayops.bench.run.record import Record, key
from xarrayops.bench.run.rooflines import Probed, RoofPlace
from xarrayops.bench.workload import FLOATS

Tell = Callable[[str], None]
"""Who wants to know what begins."""
IMPORT_S = 300.0
"""How long the libraries, which start side by side, may take: the first contact with a GPU loads its kernels, too."""
FIRST_S = 120.0
"""How much longer than others the first answer of a process may take: it compiles what all later ones share."""
_CODE = ("code", "versions")
_WORTH_ANOTHER_TRY = ("timeout", "out-of-memory", "crashed", "interrupted")
"""What a run that is resumed tries again: more time or memory, or another version of anything, may have mended it."""


class Side:
    """The libraries of one environment, and a record for each of their cells.

    ``greetings`` has what each library's first process said; ``launches`` the seconds of its smallest call, by backend
    and device. Budget and roofs are shared with the other ``sides``; ``label`` tells this one from them.
    """

    def __init__(
        self, plan: Plan, identity: Identity, journal: Journal, budget: Budget, probed: Probed, label: str = ""
    ) -> None:
        self.plan, self.identity, self.journal, self.budget = plan, identity, journal, budget
        self.probed, self.label = probed, label
        self.machine, self.load = machine.summary(machine.facts()), machine.load()
        self.gpus = gpus.facts()
        self.greetings: dict[str, dict[str, Any]] = {}
        self.records: list[Record] = []
        self.launches: dict[tuple[str, str], float] = {}
        self.workers: dict[str, Worker] = {}
        self.warm: set[Worker] = set()
        self.sides = [self]

    # --- its processes ------------------------------------------------------------------------------------------------

    def start(self) -> None:
        """A new process for each library; those that are missing are not tried again."""
        names = [name for name in self.plan.backends if self.greetings.get(name, {"status": "ok"})["status"] == "ok"]
        self.workers = {name: self.worker(name) for name in names}

    def greet(self) -> None:
        """Hear what the libraries are."""
        found = {name: self.greeting(name) for name in self.workers}
        self.greetings = found | self.greetings
        self.greetings = {name: self.greetings[name] for name in self.plan.backends}
        for name, greeting in found.items():
            if greeting["status"] == "ok":
                self.workers[name].freeze()
            else:
                self.workers[name].close()

    def worker(self, backend: str) -> Worker:
        """A new process."""
        return Worker("xarrayops.bench.measure.worker", backend, *self.plan.sources, python=self.identity.command)

    def greeting(self, name: str) -> dict[str, Any]:
        """What a new process says first; an answer without status "ok" if it runs other code than one before it did."""
        found, first = self.budget.within(self.workers[name].answer, IMPORT_S), self.greetings.get(name, {})
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
        self.workers, self.warm = {}, set()

    def ask(self, backend: str, command: dict[str, Any]) -> dict[str, Any]:
        """The worker's answer; a worker that ended over an earlier cell is started again.

        A worker whose device failed is ended: on an accelerator most errors are sticky, and the process cannot use the
        device again, whatever it is asked.
        """
        if not self.workers[backend].alive:
            self.workers[backend].close()
            self.workers[backend] = self.worker(backend)
            greeting = self.greeting(backend)
            if greeting["status"] != "ok":
                self.workers[backend].close()
                return greeting
        worker = self.workers[backend]
        limit = self.plan.timeout_s + (0.0 if worker in self.warm else FIRST_S)
        answer = self.budget.within(lambda seconds: worker.ask(command, seconds), limit)
        self.warm.add(worker)
        crashed = answer["status"] == "crashed" and command["kind"] != "cpu"
        if crashed or not answer.pop("device_works", True):
            worker.close()
        else:
            worker.freeze()
        return answer

    # --- its cells ----------------------------------------------------------------------------------------------------

    def lay_out(self) -> None:
        """The cells, workload by workload, with what an earlier run knew of them."""
        for workload, dtype, n in self.plan.cells():
            code = self.identity.digests.get(workload.name)
            for name, greeting in self.greetings.items():
                for device in self.plan.chosen(greeting.get("devices", ())) or [{}]:
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
                        machine=self.machine,
                        load=self.load,
                        **self.budget.spent(),
                    )
                    row.key = key(
                        [*self.conditions(name), workload.name, code, row.device, dtype, n, self.plan.round_s]
                    )
                    record = Record(row, device)
                    if greeting["status"] != "ok":
                        record.fail(greeting)
                    elif not device:
                        reason = f"no device of the kind {' or '.join(self.plan.devices)}"
                        record.fail({"status": "no-device", "reason": reason, "fix": "Other --devices."})
                    elif code is None:
                        reason = f"the xarrayops of {self.identity.prefix} has no such workload"
                        record.fail({"status": "not-installed", "reason": reason, "fix": "Leave it out."})
                    self.records.append(record)
        known = {record.row.key: record for record in self.records if record.device}
        for event in self.journal.earlier:
            if event.get("cell") in known and event["status"] not in _WORTH_ANOTHER_TRY:
                known[event["cell"]].apply(event)

    def conditions(self, backend: str) -> list[Any]:
        """What must be as it was for a time of a backend to stand: code, versions, machine and settings."""
        greeting = self.greetings[backend]
        code = (greeting.get("code"), greeting.get("versions"), self.identity.xarrayops, self.identity.python)
        accelerated = any(device["kind"] != "cpu" for device in greeting.get("devices", ()))
        set_up = (greeting.get("settings"), greeting.get("switches"), self.gpus if accelerated else [])
        return [backend, *code, self.machine, own_settings(), *set_up]

    def here(self) -> dict[str, dict[str, Any]]:
        """What the libraries said that can be used."""
        return {name: greeting for name, greeting in self.greetings.items() if greeting["status"] == "ok"}

    def devices(self) -> list[dict[str, Any]]:
        """The devices of all libraries, as far as they count."""
        return [each for known in self.greetings.values() for each in self.plan.chosen(known.get("devices", ()))]

    def refuse(self, kind: str, reason: str, fix: str) -> None:
        """Measure nothing on devices of a kind that was not measured before."""
        for record in self.pending():
            if record.row.device_kind == kind and not record.row.measured:
                record.fail({"status": "no-device", "reason": reason, "fix": fix})

    def pending(self) -> list[Record]:
        """The cells of libraries that are here and have not failed."""
        return [record for record in self.records if record.pending]

    def measured(self) -> list[Record]:
        """The cells that have a time."""
        return [record for record in self.records if record.row.measured]

    def unweighed(self) -> list[Record]:
        """The cells whose memory is not known yet."""
        return [record for record in self.measured() if record.row.peak_bytes is None]

    def rows(self) -> Iterator[Row]:
        """The cells as they stand."""
        return map(self.row, self.records)

    def row(self, record: Record) -> Row:
        """A cell as it stands."""
        roofs = self.probed.best(record.roof_place) if record.device else None
        return record.filled(roofs, self.launches.get((record.row.backend, record.row.device)))

    # --- what they are asked ------------------------------------------------------------------------------------------

    def measure(self, record: Record, process: int) -> None:
        """One round of a cell; what a worker tells of its preparation counts the first time only."""
        start = monotonic()
        cold = record.rounds(process) < self.plan.cold_rounds
        command = {"do": "measure", "seconds": self.plan.round_s, "cold": cold, **record.address()}
        answer = self.ask(record.row.backend, command)
        if answer["status"] == "out-of-memory" and self.clear(record):
            answer = self.ask(record.row.backend, command)
            if answer["status"] == "ok":
                answer["first"]["first_call_s"] = None  # part of it may be left from the first attempt
        record.cost_s = monotonic() - start
        if answer["status"] != "over-budget":
            self.note(record, {**answer, "process": process})

    def clear(self, record: Record) -> bool:
        """End the other processes that hold memory of the cell's accelerator; False where there are none.

        Frozen, they keep what their libraries never give back, as XLA its pool. They are started again when asked.
        """
        if record.row.device_kind == "cpu":
            return False
        holders = [
            worker
            for side in self.sides
            for name, worker in side.workers.items()
            if worker.alive and (side is not self or name != record.row.backend) and side.uses(name, record.roof_place)
        ]
        for worker in holders:
            worker.close()
        return bool(holders)

    def uses(self, backend: str, place: RoofPlace) -> bool:
        """Whether a library works on that device."""
        devices = self.plan.chosen(self.greetings[backend].get("devices", ()))
        return any((device["kind"], device["index"]) == place[:2] for device in devices)

    def weigh(self, record: Record) -> None:
        """The peak of memory of a cell."""
        answer = self.ask(record.row.backend, {"do": "memory", **record.address()})
        if answer["status"] == "ok":
            self.note(record, answer)

    def note(self, record: Record, answer: dict[str, Any]) -> None:
        """What was found is on disk before it is used."""
        self.journal.append({"cell": record.row.key, **answer})
        record.apply(answer)

    def probe(self, backend: str, command: dict[str, Any], *, anew: bool = False) -> list[dict[str, Any]]:
        """What a worker tells of its device; what one told an earlier run is not asked again but anew."""
        name = key([*self.conditions(backend), command])
        known = [event for event in self.journal.earlier if event.get("probe") == name]
        if known and not anew:
            return known
        answer = self.ask(backend, command)
        if answer["status"] == "ok":
            self.journal.append({"probe": name, **answer})
        return [answer]

    def prove(self, tell: Tell) -> None:
        """Find out once whether the clock waits for each library, and how long its smallest call takes."""
        for place in dict.fromkeys((r.row.backend, r.row.device, r.row.device_kind) for r in self.pending()):
            backend, device, kind = place
            if (backend, device) in self.launches or self.budget.seconds_left <= 0:
                continue
            tell(f"does the clock wait for {backend} {device}{self.label}?")
            answer = self.probe(backend, {"do": "prove", "device": device, "kind": kind})[-1]
            if answer["status"] == "ok":
                self.launches[backend, device] = answer["launch_s"]
            elif answer["status"] != "over-budget":  # no time is shown of a library that is not proven to be waited for
                for record in self.pending():
                    if (record.row.backend, record.row.device) == (backend, device):
                        record.fail(answer)

    def probe_roofs(self, tell: Tell) -> None:
        """The best rates that any of the libraries reaches on each device; again where a cell is beyond them."""
        self._probe_where(lambda place, library: not self.probed.knows(place, library), tell, anew=False)
        beyond = {record.roof_place for record in self.measured() if self.row(record).roof_doubt}
        self._probe_where(lambda place, library: place in beyond, tell, anew=True)

    def _probe_where(self, wanted: Callable[[RoofPlace, str], bool], tell: Tell, *, anew: bool) -> None:
        for (place, backend), record in {(r.roof_place, r.row.backend): r for r in self.measured()}.items():
            row, library = record.row, backend + self.label
            if row.dtype in FLOATS and wanted(place, library) and self.budget.seconds_left > 0:
                tell(f"roofs of {row.device} by {library}")
                command = {"do": "roofs", "dtype": row.dtype, "device": row.device, "kind": row.device_kind}
                for rates in self.probe(backend, command, anew=anew):
                    self.probed.add(place, library, rates)
