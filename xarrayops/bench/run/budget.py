"""The time of a run: its limit, and the share of the CPUs that other programs use meanwhile."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from time import monotonic
from typing import Any

from xarrayops._system import machine
from xarrayops._system.process import failure


class Budget:
    """A number of seconds that starts when the object is created."""

    def __init__(self, seconds: float) -> None:
        self._total, self._start = seconds, monotonic()

    @property
    def seconds(self) -> float:
        """The seconds spent so far."""
        return monotonic() - self._start

    @property
    def seconds_left(self) -> float:
        """The seconds left; negative once the budget is exceeded."""
        return self._total - self.seconds

    def limited(self, ask: Callable[[float], dict[str, Any]], seconds: float) -> dict[str, Any]:
        """An answer within the given seconds and within the budget."""
        answer = ask(min(seconds, self.seconds_left))
        return self.exceeded() if answer["status"] == "timeout" and self.seconds_left <= 0 else answer

    def exceeded(self) -> dict[str, Any]:
        """The answer for a cell that the budget does not reach."""
        reason = f"the budget of {self._total:.0f} s was spent before this cell"
        return failure("over-budget", reason, "Use a longer --budget, or continue with --resume.")


class CpuContention:
    """The CPU time of all programs except this process and its workers, since the object was created."""

    def __init__(self) -> None:
        self._start, self._foreign_s = monotonic(), _foreign_seconds(())

    def share(self, workers: Iterable[int]) -> float | None:
        """The share of the time of the usable CPUs that other programs used; None where the system does not say.

        ``workers`` are the ids of the live worker processes. Other virtual machines on the host count as others.
        """
        foreign_s = _foreign_seconds(workers)
        if foreign_s is None or self._foreign_s is None:
            return None
        total_s = (monotonic() - self._start) * len(machine.usable_cpus())
        return min(1.0, max(0.0, foreign_s - self._foreign_s) / total_s)


def _foreign_seconds(workers: Iterable[int]) -> float | None:
    busy_s, (user, system, ended_user, ended_system, _) = machine.busy_seconds(), os.times()
    if busy_s is None:
        return None
    return busy_s - sum((user, system, ended_user, ended_system, *map(machine.process_seconds, workers)))
