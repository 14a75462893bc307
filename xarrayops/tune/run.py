"""A run of ``tune``: the calls are measured in one process, and the promising candidates in two others.

A kernel that is faster alone may be slower in a program. The threads of its library wait while those of another one
spin: between products by NumPy an addition by PyTorch may take 50 times as long on two CPUs. And arrays of some
megabytes take other times in a program whose heap keeps freed memory than in one that takes memory from the system for
each array, by up to a factor of 3. So the second process is a check: calls follow products by the library of the
arrays, the heap keeps memory, and a candidate must not be slower. The third process has to confirm the gain.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from time import monotonic
from typing import Any

from xarrayops._cli.terminal import Console, Progress
from xarrayops._ops.choices import machine
from xarrayops._ops.choices.calls import Description, key_of, shown
from xarrayops._system.process import Worker
from xarrayops._system.texts import counted

START_S, CALL_S = 120.0, 60.0
"""The time limits of the start of a worker, which imports all libraries, and of one request."""
READINGS_S = 0.2
"""What the readings of a candidate in a later process take, which are longer than those in the first one."""
KEPT_MEMORY = {"MALLOC_MMAP_MAX_": "0", "MALLOC_TRIM_THRESHOLD_": str(1 << 40)}
"""The environment with which the C library of Linux keeps the memory of freed arrays; others ignore it."""
Request = dict[str, Any]
"""For a worker: a call, the names of the candidates if not all are measured, whether it is a check; or what to list."""


class Process:
    """A worker process, which starts with the first request and is replaced if it dies."""

    def __init__(self, environment: Mapping[str, str] | None = None) -> None:
        self._environment = environment
        self._worker: Worker | None = None
        self.start_s = 0.0
        """The seconds of the last start."""

    def ask(self, request: Request) -> dict[str, Any]:
        """The answer to a request."""
        if self._worker is None or not self._worker.alive:
            start = monotonic()
            self._worker = Worker("xarrayops.tune.worker", environment=self._environment)
            self._worker.answer(START_S)
            self.start_s = monotonic() - start
        return self._worker.ask(request, CALL_S)

    def close(self) -> None:
        """End the process."""
        if self._worker is not None and self._worker.alive:
            self._worker.close()


class Run:
    """The calls of a run and what became of them. The records go to the store at once."""

    def __init__(self, limit: float, out: Console) -> None:
        self._start, self._limit = monotonic(), limit
        self._progress = Progress(console=out, transient=True)
        self._task = self._progress.add_task("", total=limit)
        self.calls: list[Description] = []
        self._failures: dict[str, str] = {}
        self._asked, self._measured, self._passed = [0, 0, 0], [0, 0, 0], [0, 0, 0]
        """Of each process: the candidates that it was asked for (of the first one, the calls), measured and passed."""

    def measure(self, calls: list[Description] | None, lists: list[Request]) -> None:
        """Measure some calls, by default those that a worker lists.

        A process ends when the later ones need the rest of the time.
        """
        processes = Process(), Process(KEPT_MEMORY), Process()
        self._progress.start()
        try:
            self.calls = self._listed(processes[0], lists) if calls is None else calls
            requests: list[Request] = [{"description": call} for call in self.calls]
            for number, process in enumerate(processes):
                requests = self._passing(process, requests, number)
                process.close()
        finally:
            self._progress.stop()
            for process in processes:
                process.close()

    def notes(self) -> Iterator[str]:
        """What was not measured or not proved."""
        left = len(self.calls) - self._asked[0]
        if left:
            yield f"{counted(left, 'call')} not measured: the time ended. Use a longer --seconds."
        again = self._passed[0] - self._asked[1] + self._passed[1] - self._asked[2]
        if again:
            yield f"{counted(again, 'kernel')} not measured in all three processes: the time ended."
        if slower := self._measured[1] - self._passed[1]:
            yield f"{counted(slower, 'kernel')} slower between matrix products, or with the memory of freed arrays."
        if lost := self._measured[2] - self._passed[2]:
            yield f"{counted(lost, 'kernel')} faster in one process, but not in another."
        for call, reason in self._failures.items():
            yield f"{call}: {reason}"

    def _listed(self, process: Process, lists: list[Request]) -> list[Description]:
        found: dict[Any, Description] = {}
        for request in lists:
            if monotonic() - self._start > self._limit:
                break
            name = request.get("workload", "the list of calls")
            self._show(name)
            answer = process.ask(request)
            if answer["status"] != "ok":
                self._failures[name] = answer["reason"]
            found |= {key_of(call): call for call in answer.get("calls", ())}
        return list(found.values())

    def _passing(self, process: Process, requests: Sequence[Request], number: int) -> list[Request]:
        """The requests for the next process: candidates that reach what this one requires, while there is time."""
        found: list[Request] = []
        reserved, later, is_check = 0.0, len(self._passed) - 1 - number, number == 1
        for request in requests:
            if monotonic() - self._start + later * (reserved + (process.start_s if found else 0.0)) > self._limit:
                break
            asked, call = monotonic(), request["description"]
            answer = process.ask({**request, "is_check": is_check})
            records = answer.get("records", ())
            if answer["status"] != "ok":
                self._failures[shown(call)] = answer["reason"]
            for record in records:
                machine.store().append(record)
            self._show(shown(call))
            names = answer["reaching"] if answer["status"] == "ok" else []
            self._asked[number] += len(request.get("only", [call]))
            self._measured[number] += len(records)
            self._passed[number] += len(names)
            if names:
                found.append({"description": call, "only": names})
                reserved += monotonic() - asked + READINGS_S * len(names)
        return found

    def _show(self, text: str) -> None:
        self._progress.update(self._task, completed=monotonic() - self._start, description=text)
