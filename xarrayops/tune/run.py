"""A run of ``tune``: the calls are measured in one process, and the promising candidates in a second one.

Arrays of some megabytes take other times in a program whose heap keeps freed memory than in one that takes memory from
the system for each array: by up to a factor of 3, and not the same for each library. A program may do either, so the
second process keeps its memory, and a candidate has to be faster in both.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from time import monotonic
from typing import Any

from xarrayops._cli.terminal import Console, Progress
from xarrayops._ops.choices import machine
from xarrayops._ops.choices.calls import Description, key_of, shown
from xarrayops._ops.choices.verdicts import is_promising
from xarrayops._system.process import Worker
from xarrayops._system.texts import counted

START_S, CALL_S = 120.0, 60.0
"""The time limits of the start of a worker, which imports all libraries, and of one request."""
KEPT_MEMORY = {"MALLOC_MMAP_MAX_": "0", "MALLOC_TRIM_THRESHOLD_": str(1 << 40)}
"""The environment with which the C library of Linux keeps the memory of freed arrays; others ignore it."""
Request = dict[str, Any]
"""For a worker: the description of a call, and the names of the candidates if not all are measured; or what to list."""


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
        self._asked = self._found = self._repeated = self._confirmed = 0

    def measure(self, calls: list[Description] | None, lists: list[Request]) -> None:
        """Measure some calls, by default those that a worker lists.

        The first process ends when the second one needs the rest of the time.
        """
        first, second = Process(), Process(KEPT_MEMORY)
        self._progress.start()
        try:
            self.calls = self._listed(first, lists) if calls is None else calls
            requests: list[Request] = []
            reserved: list[float] = []
            for request, seconds in self._promising(first, [{"description": call} for call in self.calls], reserved):
                requests.append(request)
                reserved.append(seconds)
                self._found += len(request["only"])
            for request, _ in self._promising(second, requests, []):
                self._confirmed += len(request["only"])
        finally:
            self._progress.stop()
            first.close()
            second.close()

    def notes(self) -> Iterator[str]:
        """What was not measured or not proved."""
        left = len(self.calls) - self._asked
        if left:
            yield f"{counted(left, 'call')} not measured: the time ended. Use a longer --seconds."
        if self._found > self._repeated:
            yield f"{counted(self._found - self._repeated, 'kernel')} not measured in a second process: time ended."
        if self._repeated > self._confirmed:
            yield f"{counted(self._repeated - self._confirmed, 'kernel')} faster in one process, but not in the other."
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

    def _promising(
        self, process: Process, requests: list[Request], reserved: list[float]
    ) -> Iterator[tuple[Request, float]]:
        """The requests with the candidates that look faster, and the seconds that these took, while there is time."""
        for request in requests:
            if monotonic() - self._start + sum(reserved) + (process.start_s if reserved else 0.0) > self._limit:
                return
            asked, call = monotonic(), request["description"]
            answer = process.ask(request)
            self._asked += "only" not in request
            self._repeated += len(request.get("only", ()))
            if answer["status"] != "ok":
                self._failures[shown(call)] = answer["reason"]
            for record in answer.get("records", ()):
                machine.store().append(record)
            self._show(shown(call))
            names = [record["candidate"] for record in answer.get("records", ()) if is_promising(record["ratios"])]
            if names:
                yield {"description": call, "only": names}, monotonic() - asked

    def _show(self, text: str) -> None:
        self._progress.update(self._task, completed=monotonic() - self._start, description=text)
